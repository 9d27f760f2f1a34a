"""What the editor's buttons do to several entries at once, and where one goes that was dragged."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from server.study.definitions import Strength
from server.study.editing.budget_shares import equal_division, own_strength
from server.study.editing.entry_shapes import strength_name
from server.study.editing.export_names import free_name
from server.study.editing.settling import divided_by_hand
from server.study.editing.steps import Step

LEAST_STRENGTH, MOST_STRENGTH = 0.01, 6.9
"""Of a question, in nats: within what every design can have, so that no question reveals more than was asked for."""


def move_entry(document: Mapping[str, Any], place: int, target: int) -> Step:
    """Put an entry where another one stands."""
    entries = list(document["questions"])
    if place == target or not 0 <= target < len(entries):
        return Step(dict(document), at=place)
    entries.insert(target, entries.pop(place))
    return Step({**document, "questions": entries}, at=target, message="moved")


def change_selected(
    document: Mapping[str, Any], name: str, selected: Sequence[int], strength: object
) -> Step:
    """Carry out a button on the selected entries; without any, or one that is none of these, nothing."""
    places = tuple(sorted({place for place in selected if 0 <= place < len(document["questions"])}))
    if not places or name not in SELECTED_ACTIONS:
        return Step(dict(document), selected=places)
    return SELECTED_ACTIONS[name](document, places, strength)


def _shift(document: Mapping[str, Any], places: tuple[int, ...], by: int) -> Step:
    """One place further, all of them; those at the end stay, and those behind them with them."""
    entries, kept = list(document["questions"]), []
    for place in places if by < 0 else reversed(places):
        target = place + by
        if 0 <= target < len(entries) and target not in kept:
            entries[place], entries[target] = entries[target], entries[place]
            kept.append(target)
        else:
            kept.append(place)
    message = "moved_several" if set(kept) != set(places) else ""
    return Step({**document, "questions": entries}, message=message, selected=tuple(sorted(kept)))


def _up(document: Mapping[str, Any], places: tuple[int, ...], _strength: object) -> Step:
    return _shift(document, places, -1)


def _down(document: Mapping[str, Any], places: tuple[int, ...], _strength: object) -> Step:
    return _shift(document, places, 1)


def _delete(document: Mapping[str, Any], places: tuple[int, ...], _strength: object) -> Step:
    entries = [entry for place, entry in enumerate(document["questions"]) if place not in places]
    return Step({**document, "questions": entries}, message="deleted")


def _duplicate(document: Mapping[str, Any], places: tuple[int, ...], _strength: object) -> Step:
    """Copies of them all, together, behind the last."""
    entries = list(document["questions"])
    taken = {entry.get("name", "") for entry in entries}
    copies = []
    for place in places:
        copy = {**entries[place], "name": free_name(entries[place].get("name") or "q1", taken)}
        taken.add(copy["name"])
        copies.append(copy)
    first = places[-1] + 1
    entries[first:first] = copies
    placed = tuple(range(first, first + len(copies)))
    return Step({**document, "questions": entries}, message="copied_several", selected=placed)


def _strengthen(document: Mapping[str, Any], places: tuple[int, ...], strength: object) -> Step:
    """The same strength of its own for each; those whose device fixes it stay as they are."""
    known = isinstance(strength, int | float) and LEAST_STRENGTH <= strength <= MOST_STRENGTH
    if not known:
        return Step(dict(document), message="strength_refused", selected=places)
    wanted = Strength("epsilon", float(strength))  # type: ignore[arg-type]
    changed = divided_by_hand(document) if equal_division(document) else dict(document)
    entries = list(changed["questions"])
    for place in places:
        entry = entries[place]
        if strength_name(entry):
            design = {"mechanism": entry["design"]["mechanism"], **own_strength(entry, wanted)}
            entries[place] = {**entry, "design": design}
    return Step({**changed, "questions": entries}, message="strengthened", selected=places)


SELECTED_ACTIONS: Mapping[str, Callable[[Mapping[str, Any], tuple[int, ...], object], Step]] = {
    "selected_up": _up,
    "selected_down": _down,
    "selected_delete": _delete,
    "selected_duplicate": _duplicate,
    "selected_strength": _strengthen,
}
