"""A crosswise question with an anchor question, which says how many people do not attend."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.designs import crosswise
from server.privacy.estimators import AttentiveShare, correct_inattention
from server.privacy.estimators.inattention import compute_full_attendance
from server.privacy.estimators.sampled_moments import MomentEstimate, Moments
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import ModelColumn, read_answer_column
from server.reports.elsewhere.models.model_parts import (
    UNLIKELY,
    ModelEstimate,
    ModelFinding,
    ModelKind,
    ModelTest,
    state_moment,
)

CROSSWISE_ANSWERS = ("different", "same")
_UNATTENDED = N_(
    "If all attended, chance alone would hardly give these reports to the anchor question: read the corrected share."
)
_ATTENDED = N_(
    "The reports to the anchor question fit that all attend. With few rows many may not, and are not seen."
)
_UNTOLD = N_(
    "The anchor question does not show that anybody attends, so the interval of the corrected share has no end."
)
_APPROXIMATE = N_(
    "Intervals are approximate: those that should hold in 95 of 100 samples held in 93 to 94 of 100 made-up ones "
    "of up to 300 rows where nearly all attend, or nobody has the trait."
)
_FEW = 300
"""Rows up to which it is said; `tests/benchmarks/coverage_models.py` prints what was found."""

_AS_ONE = N_("The same if all attended")


@dataclass(frozen=True)
class InattentiveCrosswise:
    """Of one group: `anchor_share` is the known share of Yes to the anchor question."""

    columns: Mapping[str, ModelColumn]
    prevalence: float
    anchor_prevalence: float
    anchor_share: float

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The share with and without the correction, and who attends."""
        if drawn is not None:
            return self._weigh(rows, drawn, confidence)
        attentive_share = correct_inattention(
            count_pairs(rows["report"], rows["anchor"]),
            self.prevalence,
            self.anchor_prevalence,
            self.anchor_share,
            confidence,
        )
        uncorrected = ModelEstimate(
            "uncorrected",
            _AS_ONE,
            attentive_share.uncorrected,
            attentive_share.uncorrected_error,
            attentive_share.uncorrected_interval,
        )
        corrected, attentive, test, remarks = describe_attention(attentive_share)
        return ModelFinding((corrected, uncorrected, attentive), (test,), remarks=remarks)

    def _weigh(
        self, rows: Mapping[str, NDArray[np.float64]], drawn: DrawnRows, confidence: float
    ) -> ModelFinding:
        """Of rows that count as they were drawn."""
        everybody = np.ones(len(rows["report"]), np.bool_)
        least = [vary_coin(self.prevalence), vary_coin(self.anchor_prevalence)]
        means = drawn.measure([rows["report"], rows["anchor"]], [everybody, everybody], least)
        design = crosswise(self.prevalence).matrix
        slope = float(design[1, 1] - design[0, 1])
        as_one = means.combine([[1 / slope, 0.0]], -design[0, 1] / slope)
        uncorrected = state_moment("uncorrected", _AS_ONE, as_one.measure(0, confidence))
        prevalences = self.prevalence, self.anchor_prevalence
        corrected, attentive, test, remarks = weigh_attention(
            means, *prevalences, self.anchor_share, confidence
        )
        freedom = means.degrees_of_freedom
        return ModelFinding((corrected, uncorrected, attentive), (test,), remarks, freedom)


def count_pairs(report: NDArray[np.float64], anchor: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows by both reports, shape (2, 2)."""
    return np.bincount((report * 2 + anchor).astype(np.int64), minlength=4).reshape(2, 2).astype(np.int64)


def weigh_attention(
    means: Moments, prevalence: float, anchor_prevalence: float, anchor_share: float, confidence: float
) -> tuple[ModelEstimate, ModelEstimate, ModelTest, tuple[str, ...]]:
    """As `describe_attention`, of the weighted shares of "same" of both questions (Atsusaka and Stevenson 2023)."""
    design = crosswise(prevalence).matrix
    slope = float(design[1, 1] - design[0, 1])
    full = compute_full_attendance(anchor_prevalence, anchor_share)
    apart = means.combine([[full / slope, 0.0], [0.0, 1.0]], [-full / slope / 2, -0.5])
    quotient = apart.divide(0, 1, confidence)
    low, high = quotient.interval
    moved = MomentEstimate(0.5 + quotient.value, quotient.standard_error, (0.5 + low, 0.5 + high))
    attends = apart.combine([[0.0, 1 / full]])
    p_value = attends.combine([[1.0]], -1.0).find_below(0)
    return _list_attention(moved, attends.measure(0, confidence), p_value)


def describe_attention(
    attentive_share: AttentiveShare,
) -> tuple[ModelEstimate, ModelEstimate, ModelTest, tuple[str, ...]]:
    """The corrected share, the share that attends, the test that all do, and what must be known."""
    corrected, attentive, test, remarks = _list_attention(
        MomentEstimate(attentive_share.share, attentive_share.standard_error, attentive_share.interval),
        MomentEstimate(
            attentive_share.attentive, attentive_share.attentive_error, attentive_share.attentive_interval
        ),
        attentive_share.inattention_p_value,
    )
    return corrected, attentive, test, (*remarks, _APPROXIMATE) if attentive_share.n <= _FEW else remarks


def _list_attention(
    share: MomentEstimate, attends: MomentEstimate, p_value: float
) -> tuple[ModelEstimate, ModelEstimate, ModelTest, tuple[str, ...]]:
    corrected = state_moment("share", N_("Yes to the sensitive question, corrected for inattention"), share)
    attentive = state_moment("attentive", N_("Who attends"), attends)
    verdict = _UNATTENDED if p_value < UNLIKELY else _ATTENDED
    label = N_("Test that all attend, by the anchor question")
    test = ModelTest("all_attend", label, "", math.nan, 0, p_value, verdict)
    return corrected, attentive, test, () if math.isfinite(share.interval[0]) else (_UNTOLD,)


def vary_coin(prevalence: float) -> float:
    """The variance of a crosswise report, whatever is true; who does not attend has a larger one."""
    return prevalence * (1 - prevalence)


def read_prevalence(share: float, at: str) -> float:
    """A prevalence by which reports tell something."""
    if abs(share - 0.5) < 0.001:
        template = N_("must not be %(limit)s, as reports then tell nothing; it is %(value)s")
        raise refuse(422, at, template, limit=0.5, value=share)
    return float(share)


def _read(document: Mapping[str, Any], field: str) -> InattentiveCrosswise:
    columns = {
        role: read_answer_column(document[role], CROSSWISE_ANSWERS, f"{field}.{role}")
        for role in ("report", "anchor")
    }
    return InattentiveCrosswise(
        columns,
        read_prevalence(document["prevalence"], f"{field}.prevalence"),
        read_prevalence(document["anchor_prevalence"], f"{field}.anchor_prevalence"),
        read_prevalence(document.get("anchor_share", 0), f"{field}.anchor_share"),
    )


INATTENTIVE_CROSSWISE = ModelKind(
    "inattentive_crosswise",
    N_("Crosswise with an anchor question"),
    N_(
        "It assumes that the harmless items have nothing to do with the trait, and that who does not attend answers as "
        "a coin would, as many to both questions, with the trait as without."
    ),
    "Atsusaka & Stevenson (2023)",
    _read,
)
