"""The unrelated question whose prevalence is not known: two groups that were asked it with different chances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.estimators import estimate_unknown_prevalence
from server.privacy.estimators.prevalence import solve_prevalence
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    count_answers,
    read_answer_column,
    read_group_column,
    read_truths,
)
from server.reports.elsewhere.models.model_parts import (
    ModelFinding,
    ModelKind,
    list_estimates,
    list_moments,
)

_LABELS = (("share", N_("Yes to the sensitive question")), ("prevalence", N_("Yes to the harmless question")))


@dataclass(frozen=True)
class UnknownPrevalence:
    """`truths` are each group's chance of being asked the sensitive question."""

    columns: Mapping[str, ModelColumn]
    truths: tuple[float, ...]

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """Both shares, unbiased."""
        if drawn is not None:
            shares = drawn.measure_groups(rows["group"], rows["report"]).combine(
                solve_prevalence(*self.truths)
            )
            estimates = list_moments(_LABELS, shares, confidence)
            return ModelFinding(estimates, freedom=shares.degrees_of_freedom)
        found = estimate_unknown_prevalence(count_answers(rows, 2), self.truths, confidence)
        values = found.share, found.prevalence
        return ModelFinding(list_estimates(_LABELS, values, found.standard_errors, found.intervals))


def _read(document: Mapping[str, Any], field: str) -> UnknownPrevalence:
    group = read_group_column(document, field)
    report = read_answer_column(document["report"], ("no", "yes"), f"{field}.report")
    return UnknownPrevalence({"group": group, "report": report}, read_truths(document, field))


UNKNOWN_PREVALENCE = ModelKind(
    "unknown_prevalence",
    N_("Unrelated question of unknown prevalence, two groups"),
    N_(
        "It assumes that chance put people into the groups, and that everybody answers truthfully whichever of the two "
        "questions chance asks."
    ),
    "Greenberg et al. (1969)",
    _read,
)
