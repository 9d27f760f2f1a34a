"""The stochastic lie detector: two groups, and an unknown share of those with the trait who lie."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.estimators import detect_lies
from server.privacy.estimators.lie_detection import LieDetection
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    count_answers,
    read_answer_column,
    read_group_column,
    read_truths,
)
from server.reports.elsewhere.models.model_parts import (
    UNLIKELY,
    ModelEstimate,
    ModelFinding,
    ModelKind,
    ModelTest,
    list_few,
)

_LIES = N_("Chance alone hardly explains how the groups differ: some with the trait may lie.")
_CONTRARY = N_(
    "Chance alone hardly explains how the groups differ, nor do lies: look for another reason, such as groups that "
    "chance did not make."
)
_TRUE = N_("Nothing here shows that anybody lies. With few rows many may, and are not seen.")
_NOBODY = N_(
    "These rows do not show that anybody has the trait, so nothing is told of how many of them say so."
)
_BOUNDARY = N_(
    "These rows are beyond what the model can be: the likeliest of what is possible is on its boundary, and has no "
    "standard error."
)
_NO_LIMITS = (-math.inf, math.inf)


@dataclass(frozen=True)
class LieDetector:
    """`truths` are each group's chance that who does not have the trait says so."""

    columns: Mapping[str, ModelColumn]
    truths: tuple[float, ...]

    def estimate(
        self, rows: Mapping[str, NDArray[np.float64]], field: str, confidence: float
    ) -> ModelFinding:
        """Share and honesty, the likeliest of what is possible where these are not, and the test that nobody lies."""
        counts = count_answers(rows, 2)
        found = detect_lies(counts, self.truths, confidence)
        verdict = _TRUE
        if found.p_value < UNLIKELY:
            verdict = _LIES if found.honesty is not None and found.honesty < 1 else _CONTRARY
        g_squared = found.truthful_g_squared
        test = ModelTest("no_lies", N_("Test that nobody lies"), "G²", g_squared, 1, found.p_value, verdict)
        remarks = [*list_few(counts), *[_NOBODY] * (found.honesty is None), *[_BOUNDARY] * found.impossible]
        return ModelFinding(tuple(_list_estimates(found)), (test,), tuple(remarks))


def _list_estimates(found: LieDetection) -> list[ModelEstimate]:
    error, honesty_error = found.standard_errors
    listed = [ModelEstimate("share", N_("Who has the trait"), found.share, error, found.share_interval)]
    if found.honesty is not None and honesty_error is not None:
        label = N_("Of them, who says so")
        listed.append(ModelEstimate("honesty", label, found.honesty, honesty_error, found.honesty_interval))
    if found.impossible:
        label = N_("Who has the trait: the likeliest of what is possible")
        listed.append(ModelEstimate("likeliest_share", label, found.likeliest_share, math.inf, _NO_LIMITS))
        if found.likeliest_honesty is not None:
            label = N_("Of them, who says so: the likeliest of what is possible")
            listed.append(
                ModelEstimate("likeliest_honesty", label, found.likeliest_honesty, math.inf, _NO_LIMITS)
            )
    return listed


def _read(stated: Mapping[str, Any], field: str) -> LieDetector:
    group = read_group_column(stated, field)
    report = read_answer_column(stated["report"], ("no", "yes"), f"{field}.report")
    return LieDetector({"group": group, "report": report}, read_truths(stated, field))


LIE_DETECTOR = ModelKind(
    "stochastic_lie_detector",
    N_("Stochastic lie detector, two groups"),
    N_(
        "It assumes that chance put people into the groups, that everybody without the trait does as the device asks, "
        "and that of those with it the same share lies in each group."
    ),
    "Moshagen et al. (2012)",
    _read,
)
