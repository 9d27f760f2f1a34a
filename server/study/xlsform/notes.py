"""What of a form was not taken, or was changed: where it stands, what it says, and why."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby

from server.inputs.problems import Problem, shorten_value


@dataclass(frozen=True)
class SkippedCells:
    """Cells that say the same, in a column of a sheet, and why they were not taken as they are."""

    sheet: str
    rows: tuple[int, ...]
    column: str
    value: str
    template: str
    values: Mapping[str, object]

    @property
    def message(self) -> str:
        return self.template % self.values

    @property
    def places(self) -> str:
        """The rows as people write them: 2, 5-9."""
        runs = [list(run) for _, run in groupby(enumerate(self.rows), lambda pair: pair[1] - pair[0])]
        return ", ".join(
            str(run[0][1]) if len(run) == 1 else f"{run[0][1]}\N{EN DASH}{run[-1][1]}" for run in runs
        )

    def as_json(self) -> dict[str, object]:
        return {
            "sheet": self.sheet,
            "rows": list(self.rows),
            "column": self.column,
            "said": self.value,
            "why": self.message,
        }

    def as_problem(self) -> Problem:
        """The same with its place for a name, as on the command line."""
        return Problem(
            " ".join(filter(None, (self.sheet, self.places, self.column))), self.template, self.values
        )


@dataclass
class Notes:
    """Collects them while a form is read, equal cells of a column together."""

    _found: dict[tuple[object, ...], SkippedCells] = field(default_factory=dict)

    def add(
        self, sheet: str, row: int | None, column: str, text: str, template: str, **values: object
    ) -> None:
        """Note one cell; a row of None means the whole sheet or column."""
        rows = () if row is None else (row,)
        note = SkippedCells(
            shorten_value(sheet), rows, shorten_value(column), shorten_value(text), template, values
        )
        key = (sheet, note.column, text, template, tuple(values.items()))
        known = self._found.get(key)
        self._found[key] = note if known is None else replace(known, rows=(*known.rows, *rows))

    def list_all(self) -> tuple[SkippedCells, ...]:
        """All of them: what concerns a whole sheet first, then by sheet and row."""
        order = {"": 0, "settings": 1, "survey": 2, "choices": 3}
        return tuple(
            sorted(self._found.values(), key=lambda note: (order.get(note.sheet, 0), note.rows[:1] or (0,)))
        )
