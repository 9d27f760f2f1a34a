"""Invented respondents, one more or another one: what releases are drawn from when they are on trial."""

import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy import designs
from server.privacy.designs import Design
from server.releases import Shape, Source, divide
from server.releases.plans.plan_reader import parse_plan
from server.releases.survey_shapes import Coins, CountedRows, Crowd, Leaf, Variable, VariableVersion
from server.releases.table_columns import parse_columns
from server.releases.table_files import read_table
from server.releases.table_releases import release_table, table_source

Report = Mapping[str, Sequence[int]]
"""Of one person: the report of each column of each variable."""
Person = tuple[int, Report]
"""The place of the leaf that somebody belongs to, and what arrived from them."""

COLUMNS: Mapping[str, Any] = {
    "smokes": {"categories": ["no", "yes"]},
    "drink": {"categories": ["tea", "coffee", "water"]},
    "hours": {"low": 0, "high": 12, "bins": 3},
    "place": {"path": ["region"], "leaves": [["north"], ["south"]]},
}


def from_table(
    items: Sequence[Mapping[str, Any]], neighbours: str, epsilon: str, **declared: Any
) -> Callable[[str], Any]:
    """What the command line releases of a table, one row for each person, such as "yes,tea,3,north".

    What else is declared may name a column that says whose a row is: it stands last.
    """
    columns = parse_columns({"columns": dict(COLUMNS), "neighbours": neighbours, **declared})
    plan = parse_plan({"format": 1, "items": [dict(item) for item in items], "epsilon": epsilon})

    def release_rows(rows: str) -> Any:
        file = io.BytesIO(f"{','.join(columns.headers)}\n{rows}\n".encode())
        return figures_of(plan, table_source(read_table(file, columns)))

    return release_rows


def figures_of(plan: Any, source: Source) -> Any:
    """What is released, without the moment at which it was."""
    made = release_table(divide(plan, source.shape), source)
    return [(each.mechanism, each.figures, dict(each.notes)) for each in made]


@dataclass(frozen=True, eq=False)
class InventedSurvey:
    """A survey whose answers were flipped: its variables and its neighbours. Each person answers version 1."""

    variables: tuple[Variable, ...]
    neighbours: str = "unbounded"
    strata: bool = False
    local_epsilon: float = 1.0

    def source(self, people: Sequence[Person]) -> Source:
        """The reports that arrived."""
        leaves: tuple[Leaf, ...] = (Leaf((), ()),)
        if self.strata:
            leaves += (Leaf(("north",), (1,), 300), Leaf(("south",), (2,), 100))
        bounded = self.neighbours == "bounded"
        shape = Shape(
            neighbours=self.neighbours,
            versions=(1,),
            variables=self.variables,
            leaves=leaves,
            sampled=True,
            respondents=len(people) if bounded else None,
            crowd=Crowd(len(people), self.local_epsilon) if bounded and people else None,
        )

        def codes(name: str) -> list[NDArray[np.integer]]:
            columns = len(next(each for each in self.variables if each.name == name).versions[0].coins)
            reports = np.array([report[name] for _, report in people], dtype=np.int64)
            return list(reports.reshape(len(people), columns).T)

        places = np.array([place for place, _ in people], dtype=np.int64)
        return Source(shape, (CountedRows(1, places, np.ones(len(people), dtype=np.int64), codes),))

    def releasing(self, items: Sequence[Mapping[str, Any]], epsilon: str) -> Callable[[Any], Any]:
        """What a page releases of it, for reports that arrived."""
        plan = parse_plan({"format": 1, "items": [dict(item) for item in items], "epsilon": epsilon})
        return lambda people: figures_of(plan, self.source(people))


def question(
    name: str,
    answers: Sequence[str],
    made: Sequence[Design],
    values: Sequence[float] | None = None,
    first: int = 0,
) -> Variable:
    """A question; with several designs, a coin for each answer."""
    split = len(made) > 1
    return Variable(
        name=name,
        identity=json.dumps([name, list(answers)]),
        answers=tuple(answers),
        boxes=split,
        split=split,
        first=first,
        values=None if values is None else tuple(values),
        steps=None,
        versions=(VariableVersion(1, tuple(Coins(len(design.weights), design) for design in made)),),
    )


def coin() -> Design:
    """Two fair coins."""
    return designs.coin_flip(0.25)


def name_case(kind: str, noise: str, neighbours: str) -> str:
    """What of the registry of kinds a case is."""
    return f"{kind} with {noise} noise, {neighbours}"


def make_neighbours(
    survey: InventedSurvey,
    name: str,
    others: Sequence[Sequence[int]],
    first: Sequence[int],
    second: Sequence[int],
) -> tuple[list[Person], list[Person]]:
    """Two sets of responses that differ in one."""
    rest: list[Person] = [(0, {name: report}) for report in others]
    without = rest if survey.neighbours == "unbounded" else [*rest, (0, {name: first})]
    return without, [*rest, (0, {name: second})]
