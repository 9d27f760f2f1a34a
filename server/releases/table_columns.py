"""What the columns of a table that is not a survey can hold: untrusted JSON -> `Columns`.

Everything is declared before any row is read: a category that is seen only in the data would
give away who is in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from server.inputs.problems import N_, InputError, refuse, shorten_value
from server.inputs.schema import violations
from server.study.definitions import Grid

STEPS_LIMIT = 1_000_000
"""Most numbers that a column can hold, but one."""
BINS_LIMIT = 1_000
"""Most parts of a histogram."""
EMPTY = "(empty)"
DECLARING = ("neighbours", "separator", "person", "columns")
"""What a plan for a table says beside what every plan says."""

_FORMS = ("categories", "low", "path")


@dataclass(frozen=True)
class Categories:
    """A column of texts; an empty one stands for empty cells."""

    texts: tuple[str, ...]

    @property
    def answers(self) -> tuple[str, ...]:
        """The texts, with a name for the empty one."""
        return tuple(text or EMPTY for text in self.texts)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers on a grid, whose `cuts` start the bins of a histogram; without it, there are too many.

    `clamp`: whether another number is taken for the nearest one of the grid, in place of being refused.
    """

    grid: Grid
    clamp: bool = False


@dataclass(frozen=True)
class Places:
    """Columns that say together where a row belongs in a tree; `leaves` are its smallest places."""

    path: tuple[str, ...]
    leaves: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class RowOwner:
    """The column that says whose a row is, and how many rows of one person are counted: the first ones."""

    column: str
    rows: int


@dataclass(frozen=True)
class Columns:
    """The columns of a table.

    Attributes
    ----------
    neighbours : str
        "unbounded": whether a row is there is private; "bounded": what it says is.
    separator : str or None
        Between two cells, where it was declared.
    columns : mapping
        By name, those that questions can be asked about.
    places : Places or None
        What takes the part of a survey's strata.
    person : RowOwner or None
        Where one person may have several rows.
    """

    neighbours: str
    separator: str | None
    columns: Mapping[str, Categories | Numbers]
    places: Places | None
    person: RowOwner | None = None

    @property
    def headers(self) -> tuple[str, ...]:
        """Every name that the first row of the table must have."""
        places, person = self.places.path if self.places else (), (self.person.column,) if self.person else ()
        return tuple(dict.fromkeys((*self.columns, *places, *person)))


def parse_columns(document: Mapping[str, Any]) -> Columns:
    """Check what a plan for a table declares of it.

    Raises
    ------
    InputError
        Naming the column, what it may say, and what it says.
    """
    problems = violations(document, "table")
    if problems:
        raise InputError(422, problems)
    columns: dict[str, Categories | Numbers] = {}
    places: Places | None = None
    if not document["columns"]:
        raise refuse(422, "columns", N_("must not be empty"))
    for name, declared in document["columns"].items():
        field = f"columns.{shorten_value(name)}"
        if not name.strip() or name.strip() != name:
            raise refuse(422, field, N_("must not be empty, nor begin or end with a space"))
        forms = [form for form in _FORMS if form in declared]
        if len(forms) != 1:
            template = N_("must have exactly one of %(limit)s; it has %(value)s")
            raise refuse(422, field, template, limit="categories, low, path", value=", ".join(forms) or "-")
        _check_fits(declared, forms[0], field)
        if "categories" in declared:
            texts = Categories(_unique(declared["categories"], f"{field}.categories"))
            _unique(texts.answers, f"{field}.categories")
            columns[name] = texts
        elif "low" in declared:
            columns[name] = Numbers(_grid(declared, field), declared.get("clamp", False))
        elif places is not None:
            raise refuse(422, field, N_("must be the only column with a path; there is another one"))
        else:
            places = _places(declared, field)
    neighbours = document.get("neighbours", "unbounded")
    person = None
    if "person" in document:
        person = RowOwner(document["person"]["column"].strip(), document["person"]["rows"])
        if neighbours != "unbounded":
            template = N_("must be %(limit)s where one person may have several rows; it is %(value)s")
            raise refuse(422, "neighbours", template, limit="unbounded", value=neighbours)
    return Columns(neighbours, document.get("separator"), columns, places, person)


_TOGETHER = {"categories": (), "low": ("high", "step", "bins", "clamp"), "path": ("leaves",)}
_NEEDED = {"categories": (), "low": ("high",), "path": ("leaves",)}


def _check_fits(declared: Mapping[str, Any], form: str, field: str) -> None:
    """Refuse what does not go with this form of a column, and what it lacks."""
    for name in declared:
        if name != form and name not in _TOGETHER[form]:
            template = N_("must not be given together with %(limit)s")
            raise refuse(422, f"{field}.{name}", template, limit=form)
    for name in _NEEDED[form]:
        if name not in declared:
            raise refuse(422, f"{field}.{name}", N_("is required"))


def _unique(texts: Sequence[str], field: str) -> tuple[str, ...]:
    stripped = tuple(text.strip() for text in texts)
    for place, text in enumerate(stripped):
        if text in stripped[:place]:
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, f"{field}[{place}]", template, value=shorten_value(text))
    return stripped


def _grid(declared: Mapping[str, Any], field: str) -> Grid:
    low, high, step = (Fraction(repr(declared.get(name, 1))) for name in ("low", "high", "step"))
    if not low < high:
        template = N_("must be more than %(limit)s; it is %(value)s")
        raise refuse(422, f"{field}.high", template, limit=declared["low"], value=declared["high"])
    steps = (high - low) / step
    if steps.denominator != 1 or steps > STEPS_LIMIT:
        template = N_(
            "must divide the range from %(low)s to %(high)s into 1 to %(limit)d steps; it is %(value)s"
        )
        raise refuse(
            422,
            f"{field}.step",
            template,
            low=declared["low"],
            high=declared["high"],
            limit=STEPS_LIMIT,
            value=declared.get("step", 1),
        )
    grid = Grid(declared["low"], declared["high"], declared.get("step", 1))
    numbers = int(steps) + 1
    bins = declared.get("bins", numbers if numbers <= BINS_LIMIT else 1)
    if bins > numbers:
        template = N_("must be from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, f"{field}.bins", template, low=2, high=numbers, value=bins)
    # The first number of the grid in each part; the highest number belongs to the last one.
    first = [-(-int(steps) * place // int(bins)) for place in range(1, int(bins))]
    return Grid(grid.low, grid.high, grid.step, tuple(grid.number(number) for number in first))


def _places(declared: Mapping[str, Any], field: str) -> Places:
    path = _unique(declared["path"], f"{field}.path")
    leaves = tuple(tuple(name.strip() for name in leaf) for leaf in declared["leaves"])
    inner = {leaf[:depth] for leaf in leaves for depth in range(1, len(leaf))}
    for place, leaf in enumerate(leaves):
        at, said = f"{field}.leaves[{place}]", shorten_value(" > ".join(leaf))
        if len(leaf) > len(path):
            template = N_("must have at most %(limit)s entries; it has %(length)d")
            raise refuse(422, at, template, limit=len(path), length=len(leaf))
        if not all(leaf):
            raise refuse(422, at, N_("must not be empty"))
        if leaf in leaves[:place]:
            raise refuse(422, at, N_("must be unique; %(value)s stands twice"), value=said)
        if leaf in inner:
            template = N_("must be one of the smallest places; others lie inside %(value)s")
            raise refuse(422, at, template, value=said)
    return Places(path, leaves)
