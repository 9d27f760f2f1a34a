"""The few shapes of XLSForm expressions that are taken: bounds of a number, and simple conditions."""

import re
from dataclasses import dataclass
from decimal import Decimal

_NUMBER = r"(-?\d{1,15}(?:\.\d{1,9})?)"
_SIGN = r"(>=|<=|>|<|=)"
_BOUND = re.compile(rf"\.\s*{_SIGN}\s*{_NUMBER}")
_TURNED_BOUND = re.compile(rf"{_NUMBER}\s*{_SIGN}\s*\.(?!\d)")
_TURNED = {">=": "<=", "<=": ">=", ">": "<", "<": ">", "=": "="}
_NAME = r"\$\{\s*([^\s{}]{1,200})\s*\}"
_VALUE = r"(?:'([^']*)'|\"([^\"]*)\"|(-?\d{1,15}(?:\.\d{1,9})?))"
_COMPARED = re.compile(rf"{_NAME}\s*(!=|>=|<=|>|<|=)\s*{_VALUE}")
_SELECTED = re.compile(rf"selected\s*\(\s*{_NAME}\s*,\s*{_VALUE}\s*\)", re.IGNORECASE)
_NOT = re.compile(r"not\s*\((.*)\)", re.IGNORECASE | re.DOTALL)
_PARAMETER = re.compile(r"(\w+)\s*=\s*([^\s;,=]+)")


@dataclass(frozen=True)
class Atom:
    """One comparison of an answer: `sign` is a comparison, or "selected" or "unselected"."""

    question: str
    sign: str
    value: str


@dataclass(frozen=True)
class Expression:
    """Comparisons, all of which ("and") or one of which ("or") must hold."""

    joined_by: str
    atoms: tuple[Atom, ...]


@dataclass(frozen=True)
class Bound:
    """One side of a range."""

    sign: str
    value: Decimal


def bounds(constraint: str) -> tuple[Bound, ...] | None:
    """`. >= 0 and . <= 100` -> its bounds; None for anything else."""
    found = []
    for part in _parts(constraint, "and"):
        match = _BOUND.fullmatch(part)
        turned = _TURNED_BOUND.fullmatch(part)
        if match:
            found.append(Bound(match[1], Decimal(match[2])))
        elif turned:
            found.append(Bound(_TURNED[turned[2]], Decimal(turned[1])))
        else:
            return None
    return tuple(found)


def expression(relevant: str) -> Expression | None:
    """`${q} = 'x' or ${q} = 'y'`, `selected(${q}, 'x')`, `${q} > 3` -> its parts; None for anything else."""
    for joined_by in ("and", "or"):
        atoms = [_atom(part) for part in _parts(relevant, joined_by)]
        found = tuple(atom for atom in atoms if atom is not None)
        if len(found) == len(atoms):
            return Expression(joined_by, found)
    return None


def parameters(text: str) -> dict[str, str]:
    """`start=0 end=10 step=1` -> its names and values."""
    return {match[1].casefold(): match[2] for match in _PARAMETER.finditer(text)}


def number(text: str) -> Decimal | None:
    """A plain number, or None."""
    return Decimal(text) if re.fullmatch(_NUMBER, text) else None


def _parts(text: str, word: str) -> list[str]:
    text = text.replace("≥", ">=").replace("≤", "<=")
    pieces = re.split(rf"(?:\s+|(?<=\))){word}(?:\s+|(?=\())", _bare(text), flags=re.IGNORECASE)
    return [_bare(part) for part in pieces]


def _bare(text: str) -> str:
    """Without the brackets around all of it."""
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and "(" not in text[1:-1].replace("selected(", ""):
        inner = text[1:-1]
        if inner.count("(") != inner.count(")") or ")" in inner.split("(")[0]:
            break
        text = inner.strip()
    return text


def _atom(part: str) -> Atom | None:
    compared = _COMPARED.fullmatch(part)
    if compared:
        return Atom(compared[1], compared[2], _value(compared, 3))
    selected = _SELECTED.fullmatch(part)
    if selected:
        return Atom(selected[1], "selected", _value(selected, 2))
    negated = _NOT.fullmatch(part)
    inner = _atom(_bare(negated[1])) if negated else None
    opposite = {"selected": "unselected", "=": "!="}
    return (
        Atom(inner.question, opposite[inner.sign], inner.value) if inner and inner.sign in opposite else None
    )


def _value(match: re.Match[str], group: int) -> str:
    return next(value for value in match.groups()[group - 1 :] if value is not None)
