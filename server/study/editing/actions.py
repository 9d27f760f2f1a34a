"""What the editor's buttons do to a draft."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from server.privacy.planning import Headline
from server.study.editing.advising import take_advice
from server.study.editing.budget_shares import (
    DEFAULT_STRENGTH,
    equal_division,
    keep_share,
    own_strength,
    with_strength,
)
from server.study.editing.entry_shapes import KINDS, NOT_SENT, mechanisms, reshape_entry, strength_name
from server.study.editing.export_names import free_name, name_options, next_name
from server.study.editing.question_lists import ListedQuestion
from server.study.editing.ready_check import write_check
from server.study.editing.selected_actions import change_selected, move_entry
from server.study.editing.steps import Step
from server.study.kinds import FIRST_KIND
from server.study.kinds import KINDS as QUESTIONS
from server.study.kinds.designing import STRENGTHS

Entry = dict[str, Any]


def new_document(language: str) -> dict[str, Any]:
    """A draft with one empty question, and two fair coins for each."""
    document = {
        "language": language,
        "title": "",
        "introduction": "",
        "questions": [reshape_entry({"name": "q1", "kind": FIRST_KIND, "text": ""}, {})],
    }
    return with_strength(document, DEFAULT_STRENGTH)


def carry_out_action(
    document: Mapping[str, Any],
    action: str,
    kind: str = FIRST_KIND,
    selected: Sequence[int] = (),
    strength: object = None,
) -> Step:
    """Carry out a button: its name, and the numbers of the entry and the option that it is about.

    A button about something that is not there does nothing. `kind` is that of an entry to add; `selected` and
    `strength` are for the buttons about several entries.
    """
    name, *numbers = action.split("-")
    places = [
        int(number) for number in numbers if number.isdecimal() and number.isascii() and len(number) < 5
    ]
    step = Step(dict(document))
    if name == "add":
        step = _add(document, kind if kind in KINDS else FIRST_KIND)
    elif name in ADVICE_ACTIONS:
        advised = take_advice(document, name)
        step = step if advised is None else Step(advised, message="advised")
    elif name.startswith("selected_"):
        step = change_selected(document, name, selected, strength)
    elif len(places) == len(numbers) and places and places[0] < len(document["questions"]):
        if name in ENTRY_ACTIONS and len(places) == 1:
            step = ENTRY_ACTIONS[name](document, places[0])
        elif name in OPTION_ACTIONS and len(places) == 2:
            step = OPTION_ACTIONS[name](document, places[0], places[1])
        elif name == "move" and len(places) == 2:
            step = move_entry(document, *places)
    if not step.message and not name.startswith("selected_"):
        step = replace(step, selected=tuple(selected))  # where they were
    if not equal_division(document):
        return step
    return replace(step, document=keep_share(step.document, document))


def _add(document: Mapping[str, Any], kind: str) -> Step:
    entries = document["questions"]
    entry = reshape_entry(
        {"name": next_name({entry["name"] for entry in entries}), "kind": kind, "text": ""}, {}
    )
    if kind == "check":
        entry |= write_check(document["language"])
    if entries and not equal_division(document):
        entry = _with_strength(entry)
    return Step({**document, "questions": [*entries, entry]}, at=len(entries), message="added")


def insert_entries(document: Mapping[str, Any], entries: Sequence[Mapping[str, Any]], message: str) -> Step:
    """Add whole entries at the end, under names of their own; as strong as a new one where the survey decides that."""
    placed = list(document["questions"])
    equal = equal_division(document)
    for entry in entries:
        name = free_name(entry.get("name") or "q1", {other["name"] for other in placed})
        entry = {**entry, "name": name}
        if entry["kind"] not in NOT_SENT and strength_name(entry):
            design = entry["design"]
            if equal:
                entry["design"] = {"mechanism": design["mechanism"]}
            elif not design.keys() & set(STRENGTHS):
                entry = _with_strength(entry)
        placed.append(entry)
    at = len(document["questions"])
    step = Step({**document, "questions": placed}, at=at if entries else None, message=message)
    return replace(step, document=keep_share(step.document, document)) if equal else step


def insert_list(document: Mapping[str, Any], listed: Sequence[ListedQuestion]) -> Step:
    """Add the questions of a list at the end."""
    taken = {entry["name"] for entry in document["questions"]}
    entries: list[Entry] = []
    for question in listed:
        entry: Entry = {"name": next_name(taken), "kind": question.kind, "text": question.text}
        taken.add(entry["name"])
        if question.answers:
            entry["options"] = [{"name": "", "text": answer} for answer in question.answers]
        if question.refusal:
            entry["prefer_not_to_say"] = True
        entry = reshape_entry(entry, {})
        entries.append(name_options(entry, {}, follow=False) if question.answers else entry)
    return insert_entries(document, entries, "listed")


def _with_strength(entry: Entry) -> Entry:
    if entry["kind"] in NOT_SENT:
        return entry
    return {**entry, "design": {**entry["design"], **own_strength(entry, DEFAULT_STRENGTH)}}


def _delete(document: Mapping[str, Any], place: int) -> Step:
    entries = [entry for number, entry in enumerate(document["questions"]) if number != place]
    at = min(place, len(entries) - 1)
    return Step({**document, "questions": entries}, at=at if entries else None, message="deleted")


def _duplicate(document: Mapping[str, Any], place: int) -> Step:
    entries = list(document["questions"])
    taken = {entry.get("name", "") for entry in entries}
    copy = {**entries[place], "name": free_name(entries[place].get("name") or "q1", taken)}
    entries.insert(place + 1, copy)
    return Step({**document, "questions": entries}, at=place + 1, message="duplicated")


def _up(document: Mapping[str, Any], place: int) -> Step:
    return move_entry(document, place, place - 1)


def _down(document: Mapping[str, Any], place: int) -> Step:
    return move_entry(document, place, place + 1)


def _with_options(
    document: Mapping[str, Any], place: int, change: Callable[[list[Entry]], int | None]
) -> Step:
    entries = list(document["questions"])
    options = list(entries[place].get("options", []))
    option = change(options)
    if option is None:
        return Step(dict(document), at=place)
    entries[place] = {**entries[place], "options": options}
    return Step({**document, "questions": entries}, at=place, option=option)


def _add_option(document: Mapping[str, Any], place: int) -> Step:
    def change(options: list[Entry]) -> int:
        options.append({"name": "", "text": ""})
        return len(options) - 1

    return _with_options(document, place, change)


def _delete_option(document: Mapping[str, Any], place: int, option: int) -> Step:
    def change(options: list[Entry]) -> int | None:
        if not 0 <= option < len(options):
            return None
        del options[option]
        return max(0, min(option, len(options) - 1))

    return _with_options(document, place, change)


def _move_option(document: Mapping[str, Any], place: int, option: int, by: int) -> Step:
    def change(options: list[Entry]) -> int | None:
        if not (0 <= option < len(options) and 0 <= option + by < len(options)):
            return None
        options[option], options[option + by] = options[option + by], options[option]
        return option + by

    return _with_options(document, place, change)


def _option_up(document: Mapping[str, Any], place: int, option: int) -> Step:
    return _move_option(document, place, option, -1)


def _option_down(document: Mapping[str, Any], place: int, option: int) -> Step:
    return _move_option(document, place, option, 1)


def _stay(document: Mapping[str, Any], place: int) -> Step:
    """Only what `settle` has done: the fields of another kind or design."""
    return Step(dict(document), at=place)


def _serve(use: str) -> Callable[[Mapping[str, Any], int], Step]:
    """Give a question the design of the same strength that serves this use, where it may have it."""

    def change(document: Mapping[str, Any], place: int) -> Step:
        entries = list(document["questions"])
        entry = entries[place]
        kind = QUESTIONS.get(entry["kind"])
        mechanism = kind.design_of_use.get(use) if kind else None
        if mechanism in mechanisms(entry):
            entries[place] = {**entry, "design": {**entry.get("design", {}), "mechanism": mechanism}}
        return Step({**document, "questions": entries}, at=place)

    return change


ADVICE_ACTIONS = (
    "plan_enough",
    "accept_margin",
    "fit_plan",
    *(f"promise_{headline}" for headline in Headline),
)
"""Buttons of advice about all questions."""
ENTRY_ACTIONS: Mapping[str, Callable[[Mapping[str, Any], int], Step]] = {
    "delete": _delete,
    "duplicate": _duplicate,
    "up": _up,
    "down": _down,
    "renew": _stay,
    "add_option": _add_option,
    "for_shares": _serve("for_shares"),
    "for_average": _serve("for_average"),
}
OPTION_ACTIONS: Mapping[str, Callable[[Mapping[str, Any], int, int], Step]] = {
    "delete_option": _delete_option,
    "option_up": _option_up,
    "option_down": _option_down,
}
