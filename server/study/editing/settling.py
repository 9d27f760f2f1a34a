"""What follows from what was typed: kinds take their shape, names follow, questions keep their strengths."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from server.study.definitions import FORMAT, Strength
from server.study.editing.budget_shares import (
    DEFAULT_STRENGTH,
    epsilon_of,
    equal_division,
    keep_share,
    own_strength,
    place_slider,
    spending,
    strength_of,
    with_strength,
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
        _settle_condition(follow_names(entry, questions, options), was, questions, kinds)
        for entry, was in zip(settled, old, strict=True)
    ]
    whole = {"language": "", "title": "", "introduction": "", **document, "questions": settled}
    if "translations" in before:
        whole["translations"] = before["translations"]
    old_format = before.get("format") == 1 and "strength" not in document
    return _settle_strengths({**whole, "format": 1 if old_format else FORMAT}, before, equal, gamma)


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
    loss = epsilon_of(was, None)
    strength = Strength("epsilon", loss) if loss else DEFAULT_STRENGTH
    return {**entry, "design": {**design, **own_strength(entry, strength)}}


def _mechanism(entry: Entry) -> Any:
    return entry.get("design", {}).get("mechanism")


def _settle_condition(
    entry: Entry, was: Entry, questions: Mapping[str, str], kinds: Mapping[str, str]
) -> Entry:
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


def _settle_strengths(
    document: dict[str, Any], before: Mapping[str, Any], equal: bool, gamma: float | None
) -> dict[str, Any]:
    """The strengths as the form asks for them."""
    was_equal = equal_division(before)
    if equal and not was_equal:
        return divided_equally(document)
    if was_equal and not equal:
        return divided_by_hand(document)
    if not equal:
        return document
    if gamma is not None and gamma != place_slider(strength_of(before)) and 0.01 <= gamma <= 0.49:
        return with_strength(document, Strength("gamma", gamma))
    return keep_share(document, before)


def divided_equally(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with the mean of the strengths for all: stated as the gamma of a question, where one is as strong."""
    losses = zip(document["questions"], spending(document).entries, strict=True)
    known = [(entry["design"], loss) for entry, loss in losses if loss and strength_name(entry)]
    strength = DEFAULT_STRENGTH
    if known:
        mean = statistics.mean(design.get("epsilon", loss) for design, loss in known)
        gammas = [design["gamma"] for design, loss in known if "gamma" in design and loss == mean]
        strength = Strength("gamma", gammas[0]) if gammas else Strength("epsilon", mean)
    bare = [
        {**entry, "design": {"mechanism": entry["design"]["mechanism"]}} if strength_name(entry) else entry
        for entry in document["questions"]
    ]
    return with_strength({**document, "questions": bare}, strength)


def divided_by_hand(document: Mapping[str, Any]) -> dict[str, Any]:
    """The same, with every question's share as a strength of its own."""
    strength = strength_of(document) or DEFAULT_STRENGTH
    entries = [
        {**entry, "design": {**entry["design"], **own_strength(entry, strength)}}
        if strength_name(entry)
        else entry
        for entry in document["questions"]
    ]
    kept = {name: value for name, value in document.items() if name not in ("budget", "strength")}
    return {**kept, "questions": entries}
