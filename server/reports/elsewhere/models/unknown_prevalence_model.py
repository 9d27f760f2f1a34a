"""The unrelated question whose prevalence is not known: two groups that were asked it with different chances."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators import estimate_unknown_prevalence
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    count_answers,
    read_answer_column,
    read_group_column,
)
from server.reports.elsewhere.models.model_parts import ModelEstimate, ModelFinding, ModelKind

_LABELS = (("share", N_("Yes to the sensitive question")), ("prevalence", N_("Yes to the harmless question")))


@dataclass(frozen=True)
class UnknownPrevalence:
    """`truths` are each group's chance of being asked the sensitive question."""

    columns: Mapping[str, ModelColumn]
    names: tuple[str, ...]
    truths: tuple[float, ...]

    def estimate(
        self, rows: Mapping[str, NDArray[np.float64]], field: str, confidence: float
    ) -> ModelFinding:
        """Both shares, unbiased."""
        found = estimate_unknown_prevalence(
            count_answers(rows, self.names, 2, field), self.truths, confidence
        )
        estimates = tuple(
            ModelEstimate(name, label, value, float(error), (float(limits[0]), float(limits[1])))
            for (name, label), value, error, limits in zip(
                _LABELS, (found.share, found.prevalence), found.standard_errors, found.intervals, strict=True
            )
        )
        return ModelFinding(estimates, groups=tuple(zip(self.names, found.n, strict=True)))


def _read(stated: Mapping[str, Any], field: str) -> UnknownPrevalence:
    group, names = read_group_column(stated, field)
    report = read_answer_column(stated["report"], ("no", "yes"), f"{field}.report")
    truths = tuple(float(entry["truth"]) for entry in stated["groups"])
    if truths[0] == truths[1]:
        template = N_("must differ from that of the other group; both are %(value)s")
        raise refuse(422, f"{field}.groups[1].truth", template, value=stated["groups"][1]["truth"])
    return UnknownPrevalence({"group": group, "report": report}, names, truths)


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
