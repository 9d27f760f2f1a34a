"""A crosswise question with an anchor question, which says how many people do not attend."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators import AttentiveShare, correct_inattention
from server.reports.elsewhere.models.model_columns import ModelColumn, read_answer_column
from server.reports.elsewhere.models.model_parts import (
    UNLIKELY,
    ModelEstimate,
    ModelFinding,
    ModelKind,
    ModelTest,
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


@dataclass(frozen=True)
class InattentiveCrosswise:
    """Of one group: `anchor_share` is the known share of Yes to the anchor question."""

    columns: Mapping[str, ModelColumn]
    prevalence: float
    anchor_prevalence: float
    anchor_share: float

    def estimate(
        self, rows: Mapping[str, NDArray[np.float64]], field: str, confidence: float
    ) -> ModelFinding:
        """The share with and without the correction, and who attends."""
        found = correct_inattention(
            count_pairs(rows["report"], rows["anchor"]),
            self.prevalence,
            self.anchor_prevalence,
            self.anchor_share,
            confidence,
        )
        uncorrected = ModelEstimate(
            "uncorrected",
            N_("The same if all attended"),
            found.uncorrected,
            found.uncorrected_error,
            found.uncorrected_interval,
        )
        corrected, attentive, test, remarks = describe_attention(found)
        return ModelFinding((corrected, uncorrected, attentive), (test,), remarks=remarks)


def count_pairs(report: NDArray[np.float64], anchor: NDArray[np.float64]) -> NDArray[np.int64]:
    """Rows by both reports, shape (2, 2)."""
    return np.bincount((report * 2 + anchor).astype(np.int64), minlength=4).reshape(2, 2).astype(np.int64)


def describe_attention(
    found: AttentiveShare,
) -> tuple[ModelEstimate, ModelEstimate, ModelTest, tuple[str, ...]]:
    """The corrected share, the share that attends, the test that all do, and what must be known."""
    corrected = ModelEstimate(
        "share",
        N_("Yes to the sensitive question, corrected for inattention"),
        found.share,
        found.standard_error,
        found.interval,
    )
    attentive = ModelEstimate(
        "attentive", N_("Who attends"), found.attentive, found.attentive_error, found.attentive_interval
    )
    verdict = _UNATTENDED if found.inattention_p_value < UNLIKELY else _ATTENDED
    label = N_("Test that all attend, by the anchor question")
    test = ModelTest("all_attend", label, "", math.nan, 0, found.inattention_p_value, verdict)
    return corrected, attentive, test, () if math.isfinite(found.interval[0]) else (_UNTOLD,)


def read_prevalence(stated: float, at: str) -> float:
    """A prevalence by which reports tell something."""
    if abs(stated - 0.5) < 0.001:
        template = N_("must not be %(limit)s, as reports then tell nothing; it is %(value)s")
        raise refuse(422, at, template, limit=0.5, value=stated)
    return float(stated)


def _read(stated: Mapping[str, Any], field: str) -> InattentiveCrosswise:
    columns = {
        role: read_answer_column(stated[role], CROSSWISE_ANSWERS, f"{field}.{role}")
        for role in ("report", "anchor")
    }
    return InattentiveCrosswise(
        columns,
        read_prevalence(stated["prevalence"], f"{field}.prevalence"),
        read_prevalence(stated["anchor_prevalence"], f"{field}.anchor_prevalence"),
        read_prevalence(stated.get("anchor_share", 0), f"{field}.anchor_share"),
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
