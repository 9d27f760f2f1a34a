"""Several baseline items: groups that were asked one sensitive question with different harmless ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.designs import Design, crosswise
from server.privacy.estimators import estimate_several_baselines
from server.privacy.estimators.shared_share import fit_shared_share
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.inattention_model import CROSSWISE_ANSWERS, read_prevalence
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    count_answers,
    read_answer_column,
    read_group_column,
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

_APART = N_(
    "Chance alone hardly explains how the groups differ: some may not answer truly, a harmless item "
    "may be more or less common than stated, or chance did not make the groups."
)
_ALIKE = N_("Nothing here shows that the groups disagree. What is wrong in all of them alike is not seen.")

_SHARE, _ONE_SHARE = N_("Yes to the sensitive question"), N_("Test that one share explains all groups")


@dataclass(frozen=True)
class BaselineItems:
    """`designs` are of each group."""

    columns: Mapping[str, ModelColumn]
    designs: tuple[Design, ...]

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The share, and the test that it explains all groups."""
        counts = count_answers(rows, 2)
        if drawn is not None:
            return self._weigh(rows, drawn, confidence, list_few(counts))
        found = estimate_several_baselines(counts, self.designs, confidence)
        estimate = ModelEstimate("share", _SHARE, found.share, found.standard_error, found.interval)
        test = ModelTest(
            "one_share",
            _ONE_SHARE,
            "G²",
            found.g_squared,
            found.degrees_of_freedom,
            found.p_value,
            _APART if found.p_value < UNLIKELY else _ALIKE,
        )
        return ModelFinding((estimate,), (test,), tuple(list_few(counts)))

    def _weigh(
        self, rows: Mapping[str, NDArray[np.float64]], drawn: DrawnRows, confidence: float, few: list[str]
    ) -> ModelFinding:
        """Of rows that count as they were drawn: the share that makes the pseudo-likelihood largest (Binder 1983)."""
        group, report, weights = rows["group"].astype(np.int64), rows["report"], drawn.weights
        base = np.array([design.matrix[0, 1] for design in self.designs])
        slope = np.array([design.matrix[1, 1] for design in self.designs]) - base
        n, yes = np.bincount(group, weights), np.bincount(group, weights * report)
        share, _ = fit_shared_share(base, slope, yes, n)
        chance = (base + slope * share)[group]
        spread = chance * (1 - chance)
        score = np.divide(
            slope[group] * (report - chance), spread, out=np.zeros(len(spread)), where=spread > 0
        )
        bread = float(weights @ score**2 / weights.sum())  # of a yes or a no, the slope of the score
        coins = np.array([design.matrix[1, 1] * design.matrix[1, 0] for design in self.designs])
        least = np.divide(
            slope[group] ** 2 * coins[group], spread**2, out=np.zeros(len(spread)), where=spread > 0
        )
        pull = drawn.measure([score], [np.ones(len(score), np.bool_)], [least])
        own = pull.combine([[1 / bread]] if bread > 0 else [[math.inf]])
        estimate = replace(own, values=np.array([share])).measure(0, confidence)
        apart = drawn.measure_groups(rows["group"], report, coins.tolist()).combine(
            np.diag(1 / slope), -base / slope
        )
        contrast = np.eye(len(slope))[1:] - np.eye(len(slope))[:1]
        tests = state_wald_test("one_share", _ONE_SHARE, apart.combine(contrast).test_zero(), _APART, _ALIKE)
        listed = (state_moment("share", _SHARE, estimate),)
        return ModelFinding(listed, tuple(tests), tuple(few), own.degrees_of_freedom)


def _read(document: Mapping[str, Any], field: str) -> BaselineItems:
    group = read_group_column(document, field)
    report = read_answer_column(document["report"], CROSSWISE_ANSWERS, f"{field}.report")
    designs = tuple(
        crosswise(read_prevalence(entry["prevalence"], f"{field}.groups[{number}].prevalence"))
        for number, entry in enumerate(document["groups"])
    )
    return BaselineItems({"group": group, "report": report}, designs)


SEVERAL_BASELINES = ModelKind(
    "several_baselines",
    N_("Several baseline items, a group each"),
    N_(
        "It assumes that chance put people into the groups, that everybody answers truly, and that each "
        "harmless item is exactly as common as stated."
    ),
    "Heck et al. (2018), Gregori et al. (2025)",
    _read,
)
