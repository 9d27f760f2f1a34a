"""(the models of a study file, a table from elsewhere) -> what each model found in the rows that it can use."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators.sample_designs import SampleDesign
from server.reports.elsewhere.foreign_table import ForeignTable
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import count_groups
from server.reports.elsewhere.models.model_parts import FittedModel, ModelSpecification


def estimate_models(
    specifications: Sequence[ModelSpecification],
    table: ForeignTable,
    sample: SampleDesign | None,
    confidence: float,
    counted: NDArray[np.bool_] | None = None,
) -> tuple[FittedModel, ...]:
    """Each model, of the rows that have a value in all of its columns, which count as the sample says, if there is one.

    A sample is of the rows in which nothing is missing that anything reads, so that of others nobody knows what they
    count: they are in no model then. With strata that count by their populations only rows of these are `counted`, and
    `sample` is of those alone.

    Raises
    ------
    InputError
        Naming the model, if no row has, or these rows cannot be of it.
    """
    found = []
    among = np.arange(table.rows) if counted is None else np.cumsum(counted) - 1
    for place, (model, every) in enumerate(zip(specifications, table.models, strict=True)):
        values = every if sample is None else {role: column[table.whole] for role, column in every.items()}
        there = np.all([np.isfinite(column) for column in values.values()], axis=0)
        if counted is not None:
            there &= counted
        used = int(there.sum())
        if not used:
            template = N_("must have rows with a cell in each of its columns; no row has all of %(limit)s")
            headers = ", ".join(column.header for column in model.model.columns.values())
            raise refuse(422, f"models[{place}]", template, limit=headers)
        rows = {role: column[there] for role, column in values.items()}
        group = model.model.columns.get("group")
        groups = () if group is None else count_groups(group, rows["group"], f"models[{place}]")
        drawn = None if sample is None else DrawnRows(among[there], sample, f"models[{place}]")
        finding = model.model.estimate(rows, f"models[{place}]", confidence, drawn)
        found.append(FittedModel(model, used, table.rows + table.left_out - used, groups, finding))
    return tuple(found)
