"""The stochastic lie detector: two groups, and an unknown share of those with the trait who lie."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.estimators import detect_lies
from server.privacy.estimators.lie_detection import LieDetection, find_likeliest, solve_lies
from server.reports.elsewhere.models.drawn_rows import DrawnRows
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
    state_moment,
    state_wald_test,
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
_TRAIT, _HONESTY = N_("Who has the trait"), N_("Of them, who says so")
_NEAR = 1e-9
_NO_LIES = N_("Test that nobody lies")
_NO_LIMITS = (-math.inf, math.inf)


@dataclass(frozen=True)
class LieDetector:
    """`truths` are each group's chance that who does not have the trait says so."""

    columns: Mapping[str, ModelColumn]
    truths: tuple[float, ...]

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """Share and honesty, the likeliest of what is possible where these are not, and the test that nobody lies."""
        counts = count_answers(rows, 2)
        if drawn is not None:
            return self._weigh(rows, drawn, confidence, list_few(counts))
        detection = detect_lies(counts, self.truths, confidence)
        verdict = _TRUE
        if detection.p_value < UNLIKELY:
            verdict = _LIES if detection.honesty is not None and detection.honesty < 1 else _CONTRARY
        g_squared = detection.truthful_g_squared
        test = ModelTest("no_lies", _NO_LIES, "G²", g_squared, 1, detection.p_value, verdict)
        remarks = [
            *list_few(counts),
            *[_NOBODY] * (detection.honesty is None),
            *[_BOUNDARY] * detection.impossible,
        ]
        return ModelFinding(tuple(_list_estimates(detection)), (test,), tuple(remarks))

    def _weigh(
        self, rows: Mapping[str, NDArray[np.float64]], drawn: DrawnRows, confidence: float, few: list[str]
    ) -> ModelFinding:
        """Of rows that count as they were drawn: s and s t from the weighted shares of Yes."""
        chances, group, weights = np.array(self.truths), rows["group"].astype(np.int64), drawn.weights
        moments = drawn.measure_groups(rows["group"], rows["report"]).combine(solve_lies(chances), [1.0, 0.0])
        (share, admitted), of_all = moments.values.tolist(), moments.measure(0, confidence)
        estimates = [state_moment("share", _TRAIT, of_all)]
        if share > 0:
            honest = moments.divide(1, 0, confidence)
            ends = (0.0, 1.0) if of_all.interval[0] <= 0 else honest.interval
            estimates.append(ModelEstimate("honesty", _HONESTY, honest.value, honest.standard_error, ends))
        possible = -_NEAR <= share <= 1 + _NEAR and -_NEAR <= admitted <= share + _NEAR
        if not possible:
            n = np.bincount(group, weights)
            yes = np.bincount(group, weights * rows["report"])
            (of_them, said), _ = find_likeliest(chances, yes, n)
            estimates += _list_likeliest(of_them, min(1.0, max(0.0, said / of_them)) if of_them > 0 else None)
        lying = share > 0 and admitted < share
        test = moments.combine([[-1.0, 1.0]]).test_zero()
        tests = state_wald_test("no_lies", _NO_LIES, test, _LIES if lying else _CONTRARY, _TRUE)
        remarks = [*few, *[_NOBODY] * (share <= 0), *[_BOUNDARY] * (not possible)]
        return ModelFinding(tuple(estimates), tuple(tests), tuple(remarks), moments.degrees_of_freedom)


def _list_estimates(detection: LieDetection) -> list[ModelEstimate]:
    error, honesty_error = detection.standard_errors
    listed = [ModelEstimate("share", _TRAIT, detection.share, error, detection.share_interval)]
    if detection.honesty is not None and honesty_error is not None:
        listed.append(
            ModelEstimate("honesty", _HONESTY, detection.honesty, honesty_error, detection.honesty_interval)
        )
    if detection.impossible:
        listed += _list_likeliest(detection.likeliest_share, detection.likeliest_honesty)
    return listed


def _list_likeliest(share: float, honesty: float | None) -> Iterator[ModelEstimate]:
    """Of what is possible, on its boundary."""
    label = N_("Who has the trait: the likeliest of what is possible")
    yield ModelEstimate("likeliest_share", label, share, math.inf, _NO_LIMITS)
    if honesty is not None:
        label = N_("Of them, who says so: the likeliest of what is possible")
        yield ModelEstimate("likeliest_honesty", label, honesty, math.inf, _NO_LIMITS)


def _read(document: Mapping[str, Any], field: str) -> LieDetector:
    group = read_group_column(document, field)
    report = read_answer_column(document["report"], ("no", "yes"), f"{field}.report")
    return LieDetector({"group": group, "report": report}, read_truths(document, field))


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
