"""Central releases from a table that is not a survey: the same items, without coins."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from server import __version__
from server.inputs import N_, refuse
from server.releases.disjoint_items import charge_items
from server.releases.kinds import draw_item, query_of
from server.releases.plans.plan_reader import ItemKind, ReleasePlan
from server.releases.survey_shapes import Coins, CountedRows, Leaf, Shape, Source, Variable, VariableVersion
from server.releases.table_columns import Categories, Columns, Numbers
from server.releases.table_files import Coded
from server.releases.values import Covers, Released
from server.study import surveys

_ONLY = 1
"""The number of a table's only version."""


def table_source(coded: Coded) -> Source:
    """A table as what releases are drawn from: people are the rows, who answered for themselves alone."""
    shape = table_shape(coded.columns, coded.rows)
    nowhere = np.zeros(coded.rows, dtype=np.int64)
    rows = CountedRows(
        version=_ONLY,
        places=nowhere if coded.places is None else coded.places.astype(np.int64),
        counts=np.ones(coded.rows, dtype=np.int64),
        codes=_codes(coded),
    )
    return Source(shape, (rows,))


def table_shape(columns: Columns, rows: int) -> Shape:
    """What may be asked about a table: what its columns declare; under bounded neighbours its number of rows, too."""
    leaves: tuple[Leaf, ...] = (Leaf((), ()),)
    if columns.places is not None:
        leaves = tuple(
            Leaf(path, (number,), identity=" > ".join(path))
            for number, path in enumerate(columns.places.leaves, 1)
        )
    return Shape(
        neighbours=columns.neighbours,
        versions=(_ONLY,),
        variables=tuple(_variable(name, column) for name, column in columns.columns.items()),
        leaves=leaves,
        sampled=False,
        respondents=rows if columns.neighbours == "bounded" else None,
        rows_each=1 if columns.person is None else columns.person.rows,
    )


def _variable(name: str, column: Categories | Numbers) -> Variable:
    values, steps = None, None
    if isinstance(column, Categories):
        answers = column.answers
    else:
        grid = column.grid
        values, steps = (float(grid.low), float(grid.high)), grid.of
        bins = grid.bins if grid.cuts else ()
        answers = tuple(f"{low}" if low == high else f"{low} to {high}" for low, high in bins)
    return Variable(
        name=name,
        identity=name,
        answers=answers,
        boxes=False,
        split=False,
        first=0,
        values=values,
        steps=steps,
        versions=(VariableVersion(_ONLY, (Coins(len(answers)),)),),
    )


def _codes(coded: Coded) -> Callable[[str], Sequence[NDArray[np.integer]]]:
    def codes(name: str) -> Sequence[NDArray[np.integer]]:
        column, own = coded.columns.columns[name], coded.codes[name]
        if isinstance(column, Categories) or not column.grid.cuts:
            return [own]
        return [np.searchsorted(column.grid.first_steps, own, side="right") - 1, own]

    return codes


def check_for_table(plan: ReleasePlan, columns: Columns) -> None:
    """Refuse what only a survey can release, and noise whose failures several rows of one person would multiply.

    Raises
    ------
    InputError
        On the item.
    """
    for place, item in enumerate(plan.items):
        if item.kind == ItemKind.SHUFFLED:
            template = N_("must be something else; the rows of this table were not randomised")
            raise refuse(422, f"items[{place}].kind", template)
        if item.noise == "gaussian" and columns.person is not None:
            template = N_("must be another one where a person may have several rows; it is %(value)s")
            raise refuse(422, f"items[{place}].noise", template, value=item.noise)


def release_table(plan: ReleasePlan, source: Source) -> tuple[Released, ...]:
    """Draw every item of a divided plan, in its order. Nobody remembers it: a second time costs again."""
    shape, now = source.shape, surveys.now()
    made = []
    for place, (item, charge) in enumerate(zip(plan.items, charge_items(plan.items, shape), strict=True)):
        query = query_of(item, shape, f"items[{place}]")
        found = draw_item(item, source, f"items[{place}]", plan.confidence)
        made.append(
            Released(
                entry=place + 1,
                release=1,
                item=item,
                mechanism=query.mechanism,
                epsilon=charge.epsilon,
                delta=charge.delta,
                neighbours=shape.neighbours,
                confidence=plan.confidence,
                made_at=now,
                made_by="",
                software=f"Moneda {__version__}",
                covers=Covers((), "table", now.date(), shape.respondents),
                strata=charge.strata,
                figures=found.figures,
                notes=found.notes,
            )
        )
    return tuple(made)
