"""Several baseline items: groups that were asked one sensitive question with different harmless ones."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.designs import Design, crosswise
from server.privacy.estimators import estimate_several_baselines
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
)

_APART = N_(
    "Chance alone hardly explains how the groups differ: some may not answer truly, a harmless item "
    "may be more or less common than stated, or chance did not make the groups."
)
_ALIKE = N_("Nothing here shows that the groups disagree. What is wrong in all of them alike is not seen.")


@dataclass(frozen=True)
class BaselineItems:
    """`designs` are of each group."""

    columns: Mapping[str, ModelColumn]
    designs: tuple[Design, ...]

    def estimate(
        self, rows: Mapping[str, NDArray[np.float64]], field: str, confidence: float
    ) -> ModelFinding:
        """The share, and the test that it explains all groups."""
        counts = count_answers(rows, 2)
        found = estimate_several_baselines(counts, self.designs, confidence)
        label = N_("Yes to the sensitive question")
        estimate = ModelEstimate("share", label, found.share, found.standard_error, found.interval)
        test = ModelTest(
            "one_share",
            N_("Test that one share explains all groups"),
            "G²",
            found.g_squared,
            found.degrees_of_freedom,
            found.p_value,
            _APART if found.p_value < UNLIKELY else _ALIKE,
        )
        return ModelFinding((estimate,), (test,), tuple(list_few(counts)))


def _read(stated: Mapping[str, Any], field: str) -> BaselineItems:
    group = read_group_column(stated, field)
    report = read_answer_column(stated["report"], CROSSWISE_ANSWERS, f"{field}.report")
    designs = tuple(
        crosswise(read_prevalence(entry["prevalence"], f"{field}.groups[{number}].prevalence"))
        for number, entry in enumerate(stated["groups"])
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
