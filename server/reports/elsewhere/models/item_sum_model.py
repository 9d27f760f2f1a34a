"""Item sums: the total of some numbers, which has the sensitive one in it in one of two groups."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators import estimate_item_sum
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    read_group_column,
    read_number_column,
)
from server.reports.elsewhere.models.model_parts import ModelEstimate, ModelFinding, ModelKind, state_moment

_TAIL = N_("Where a few people have by far the largest totals, the interval holds less often than it says.")
_NO_SPREAD = N_(
    "All totals of each group are the same, or of a group there is only one: nothing is known of chance."
)


@dataclass(frozen=True)
class ItemSum:
    """`sensitive` is the place of the group whose totals have the sensitive number; `low` what no mean can be below."""

    columns: Mapping[str, ModelColumn]
    sensitive: int
    low: float

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The mean of the sensitive number."""
        totals, label = rows["report"], N_("Mean of the sensitive number")
        if drawn is not None:
            signs = [-1.0, 1.0] if self.sensitive else [1.0, -1.0]
            apart = drawn.measure_groups(rows["group"], totals).combine(signs)
            mean = apart.measure(0, confidence)
            own = state_moment("mean", label, mean, self.low, math.inf, share=False)
            return ModelFinding((own,), remarks=(_TAIL,), freedom=apart.degrees_of_freedom)
        control, treatment = (
            totals[rows["group"] == place] for place in (1 - self.sensitive, self.sensitive)
        )
        found = estimate_item_sum(control, treatment, confidence)
        estimate = ModelEstimate(
            "mean", label, found.mean, found.standard_error, found.interval, self.low, math.inf, share=False
        )
        return ModelFinding((estimate,), remarks=(_TAIL if found.degrees_of_freedom else _NO_SPREAD,))


def _read(document: Mapping[str, Any], field: str) -> ItemSum:
    group = read_group_column(document, field)
    low, high = float(document["low"]), float(document["high"])
    if not low < high:
        template = N_("must be above the lowest number, %(low)s; it is %(value)s")
        raise refuse(422, f"{field}.high", template, low=document["low"], value=document["high"])
    report = read_number_column(document["report"], low, high, f"{field}.report")
    sensitive = [entry["sensitive"] for entry in document["groups"]]
    if sensitive[0] == sensitive[1]:
        template = N_("must be true in one group, and false in the other")
        raise refuse(422, f"{field}.groups[1].sensitive", template)
    bottom = 0.0 if low >= 0 else -math.inf
    return ItemSum({"group": group, "report": report}, sensitive.index(True), bottom)


ITEM_SUM = ModelKind(
    "item_sum",
    N_("Item sum, two groups"),
    N_(
        "It assumes that chance put people into the groups, that everybody adds up truly, and that nobody states the "
        "other numbers differently because of the sensitive one."
    ),
    "Trappmann et al. (2014)",
    _read,
)
