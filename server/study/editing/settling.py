"""What follows from what was typed: kinds take their shape, names follow, the budget keeps its shares."""

from collections.abc import Mapping, Sequence
from typing import Any

from server.privacy.designs import coin_flip
from server.study.editing.budget_shares import (
    DEFAULT_SHARE,
    epsilon_of,
    equal_division,
    shape_of_budget,
    share_of,
    slider_gamma,
    strength,
    with_share,
)
from server.study.editing.entry_shapes import NOT_SENT, mechanisms, reshape_entry, strength_name
from server.study.editing.export_names import follow_names, name_options, next_name, renamed_options
from server.study.kinds import KINDS

Entry = dict[str, Any]


def settle_document(
    document: Mapping[str, Any],
    before: Mapping[str, Any],
    *,
    equal: bool,
    gamma: float | None = None,
    rename: bool = True,
) -> dict[str, Any]:
    """The document of a form, with what its changes bring about.

    Parameters
    ----------
    document, before
        What the form says now, and the document that it was made from.
    equal
        Whether the form asks for equal shares of a budget; otherwise each question has its own strength.
    gamma
        Where the form's slider stands.
    rename
        Whether options' names that were made from their texts follow these. Not once they are
        published: data are known by them.
    """
    blank = {"name": "", "kind": "", "text": ""}
    entries: Sequence[Entry] = [{**blank, **entry} for entry in document.get("questions", [])]
    old: Sequence[Entry] = before["questions"]
    if len(old) != len(entries):
        old = entries
    taken = {entry["name"] for entry in entries if entry["name"]}
    by_hand = not equal_division(before)
    settled = []
    for entry, was in zip(entries, old, strict=True):
        if not entry["name"]:
            entry = {**entry, "name": next_name(taken)}
            taken.add(entry["name"])
        entry = _in_shape(entry, was, by_hand)
        settled.append(name_options(entry, was, follow=rename) if "options" in entry else entry)
    questions = {was["name"]: now["name"] for now, was in zip(settled, old, strict=True)}
    options = {now["name"]: renamed_options(now, was) for now, was in zip(settled, old, strict=True)}
    kinds = {entry["name"]: entry["kind"] for entry in settled}
    settled = [
        _conditioned(follow_names(entry, questions, options), was, questions, kinds)
        for entry, was in zip(settled, old, strict=True)
    ]
    whole = {"language": "", "title": "", "introduction": "", **document, "questions": settled}
    return _divided(whole, before, equal, gamma)


def _in_shape(entry: Entry, was: Entry, by_hand: bool) -> Entry:
    """An entry as its kind and design have it. Ticking "prefer not to say" can mean another design, too."""
    sent = entry["kind"] not in NOT_SENT
    if sent and not mechanisms(entry):
        return entry  # of no kind that is known; said where the draft is checked
    unfit = sent and _mechanism(entry) not in mechanisms(entry)
    if not unfit and entry["kind"] == was["kind"] and _mechanism(entry) == _mechanism(was):
        return entry
    entry = reshape_entry(entry, was)
    return _with_strength(entry, was) if sent and by_hand else entry


def _with_strength(entry: Entry, was: Entry) -> Entry:
    """A question keeps a strength of its own under another design; one that shares the budget goes on sharing."""
    design, old = entry["design"], was.get("design", {})
    if "epsilon" in old and strength_name(entry) == "epsilon":
        return {**entry, "design": {**design, "epsilon": old["epsilon"]}}
    if strength_name(was) and not {"gamma", "epsilon"} & old.keys():
        return entry
    return {**entry, "design": {**design, **strength(entry, epsilon_of(was, None) or DEFAULT_SHARE)}}


def _mechanism(entry: Entry) -> Any:
    return entry.get("design", {}).get("mechanism")


def _conditioned(entry: Entry, was: Entry, questions: Mapping[str, str], kinds: Mapping[str, str]) -> Entry:
    """A condition in the terms of the question it asks for, and the truth of those who do not see the entry."""
    condition = entry.get("show_if", {})
    gate = condition.get("question", "")
    if not gate:
        return {name: value for name, value in entry.items() if name not in ("show_if", "otherwise")}
    old = was.get("show_if", {}).get("question", "")
    if gate != questions.get(old, old):
        condition = {"question": gate}
    number = gate in kinds and kinds[gate] in KINDS and KINDS[kinds[gate]].asks_number
    kept = {"from", "to"} if number else {"any_of"}
    condition = {name: value for name, value in condition.items() if name == "question" or name in kept}
    if not number and gate in kinds:
        condition.setdefault("any_of", [])
    entry = {**entry, "show_if": condition}
    if not old and "otherwise" not in entry:
        usual = KINDS[entry["kind"]].usual_otherwise if entry["kind"] in KINDS else None
        if usual is not None:
            entry["otherwise"] = usual if isinstance(usual, str) else list(usual)
    return entry


def _divided(
    document: dict[str, Any], before: Mapping[str, Any], equal: bool, gamma: float | None
) -> dict[str, Any]:
    """The budget and the strengths as the form asks for them."""
    was_equal = equal_division(before)
    if equal and not was_equal:
        return divided_equally(document)
    if was_equal and not equal:
        return divided_by_hand(document)
    if not equal:
        return document
    share = share_of(before)
    if gamma is not None and gamma != slider_gamma(share) and 0.01 <= gamma <= 0.49:
        return with_share(document, coin_flip(gamma).epsilon)
    budget_typed = document.get("budget") != before.get("budget")
    if share is None or budget_typed or shape_of_budget(document) == shape_of_budget(before):
        return document
    return with_share(document, share)


def divided_equally(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with the mean of the strengths as everybody's share."""
    own = [entry for entry in document["questions"] if strength_name(entry)]
    known = [epsilon for entry in own if (epsilon := epsilon_of(entry, share_of(document)))]
    share = sum(known) / len(known) if known else DEFAULT_SHARE
    entries = [
        {**entry, "design": {"mechanism": entry["design"]["mechanism"]}} if strength_name(entry) else entry
        for entry in document["questions"]
    ]
    return with_share({**document, "questions": entries}, share)


def divided_by_hand(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with every question's share as a strength of its own, and no budget."""
    share = share_of(document) or DEFAULT_SHARE
    entries = [
        {**entry, "design": {**entry["design"], **strength(entry, share)}} if strength_name(entry) else entry
        for entry in document["questions"]
    ]
    return {name: value for name, value in document.items() if name != "budget"} | {"questions": entries}
