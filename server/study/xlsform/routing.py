"""`relevant` -> `show_if`, in the few shapes that have one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from server.inputs.problems import N_
from server.study.definitions import Grid
from server.study.xlsform.expressions import Atom, expression, number

_COMPLEX = N_(
    "only comparisons of one earlier question are taken, such as ${q} = 'x', selected(${q}, 'x') or ${q} > 3"
)
_UNKNOWN = N_("it refers to a question that was not taken, or stands later, or has the name of another")
_NO_SUCH_ANSWER = N_("it refers to an answer that its question does not have")


@dataclass(frozen=True)
class RoutedQuestion:
    """A question that was taken, under the name that the form gives it; `names` leads from the
    form's names of answers to ours."""

    entry: Mapping[str, Any]
    names: Mapping[str, str]


@dataclass(frozen=True)
class Route:
    """A condition, or why there is none."""

    show_if: dict[str, Any] | None
    problem: str = ""


def route(relevant: str, sources: Mapping[str, RoutedQuestion | None]) -> Route:
    """The condition that a `relevant` stands for."""
    parsed = expression(relevant)
    if parsed is None or len({atom.question for atom in parsed.atoms}) > 1:
        return Route(None, _COMPLEX)
    source = sources.get(parsed.atoms[0].question)
    if source is None:
        return Route(None, _UNKNOWN)
    if "low" in source.entry:
        return _numbers(parsed.joined_by, parsed.atoms, source.entry)
    if parsed.joined_by == "and" and len(parsed.atoms) > 1:
        return Route(None, _COMPLEX)
    return _answers(parsed.atoms, source)


def _answers(atoms: Sequence[Atom], source: RoutedQuestion) -> Route:
    chosen: set[str] = set()
    several = source.entry["kind"] == "select_multiple"
    for atom in atoms:
        # What is equal to one name of several boxes has no other box ticked; that has no condition here.
        if atom.sign not in (("selected",) if several else ("=", "selected", "!=", "unselected")):
            return Route(None, _COMPLEX)
        if atom.value not in source.names:
            return Route(None, _NO_SUCH_ANSWER)
        answer = source.names[atom.value]
        opposite = atom.sign in ("!=", "unselected")
        chosen |= set(source.names.values()) - {answer} if opposite else {answer}
    # In the order of the answers, so that the same form always gives the same document.
    any_of = [name for name in dict.fromkeys(source.names.values()) if name in chosen]
    if not any_of:
        return Route(None, _NO_SUCH_ANSWER)
    return Route({"question": source.entry["name"], "any_of": any_of})


def _numbers(joined_by: str, atoms: Sequence[Atom], entry: Mapping[str, Any]) -> Route:
    if joined_by == "or" and len(atoms) > 1:
        return Route(None, _COMPLEX)
    grid = Grid.from_json(entry)
    first, last = 0, grid.of
    for atom in atoms:
        value = number(atom.value)
        if value is None or atom.sign not in ("=", ">", ">=", "<", "<="):
            return Route(None, _COMPLEX)
        steps = (Fraction(value) - Fraction(repr(entry["low"]))) / Fraction(repr(entry["step"]))
        whole = steps.denominator == 1
        below = steps.numerator // steps.denominator
        if atom.sign in (">=", "=", ">"):
            first = max(first, below if whole and atom.sign != ">" else below + 1)
        if atom.sign in ("<=", "=", "<"):
            last = min(last, below - 1 if whole and atom.sign == "<" else below)
    if first > last:
        return Route(None, _NO_SUCH_ANSWER)
    return Route({"question": entry["name"], "from": grid.number(first), "to": grid.number(last)})


def otherwise(entry: Mapping[str, Any], other: str | None) -> Any:
    """What people to whom a question is not shown truthfully answer: only an answer that says so will do."""
    if other is None:
        return None
    return [other] if entry["kind"] == "select_multiple" else other
