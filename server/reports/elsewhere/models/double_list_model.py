"""Double lists: everybody counts two lists, and has the sensitive item in one of them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.estimators import estimate_double_list
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.list_columns import check_lengths, check_list_counts
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
    state_moment,
    state_wald_test,
)

_APART = N_(
    "Chance hardly explains how the lists differ: in one of them, at least, some do not count truly or count the "
    "others differently, or chance did not make the groups."
)
_ALIKE = N_("Nothing here shows that the lists disagree. What both get wrong in the same way is not seen.")
_APPLIES, _AGREEMENT = N_("To whom the sensitive item applies"), N_("Test that both lists agree")
_ROLES = (("report", "items"), ("second", "second_items"))


@dataclass(frozen=True)
class DoubleList:
    """`lengths` are of the first and the second list, of each group."""

    columns: Mapping[str, ModelColumn]
    lengths: tuple[tuple[int, ...], tuple[int, ...]]

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The share by both lists, by each, and the test that these agree."""
        width, height = (max(lengths) + 1 for lengths in self.lengths)
        cells = rows["report"] * height + rows["second"]
        counts = count_answers({**rows, "report": cells}, width * height)
        tables, names = counts.reshape(2, width, height), self.columns["group"].group_names
        check_list_counts(tables.sum(axis=2), self.lengths[0], names, f"{field}.groups")
        check_list_counts(tables.sum(axis=1), self.lengths[1], names, f"{field}.groups", "second_items")
        early = int(np.argmax(self.lengths[0]))  # the group whose first list has the item
        if drawn is not None:
            half = (rows["report"] - rows["second"]) / 2, (rows["report"] + rows["second"])
            groups = [rows["group"] == place for place in (early, 1 - early)]
            means = drawn.measure([half[0], half[0], half[1], half[1]], [*groups, *groups])
            apart = means.combine([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, 1.0, -1.0]])
            own = state_moment("share", _APPLIES, apart.measure(0, confidence))
            agree = apart.combine([[0.0, 1.0]]).test_zero()
            tests = state_wald_test("agreement", _AGREEMENT, agree, _APART, _ALIKE)
            return ModelFinding((own,), tuple(tests), freedom=apart.degrees_of_freedom)
        first, second = (
            tables[place, : self.lengths[0][place] + 1, : self.lengths[1][place] + 1]
            for place in (early, 1 - early)
        )
        found = estimate_double_list(first, second, confidence)
        estimate = ModelEstimate(
            "share",
            _APPLIES,
            found.share,
            found.standard_error,
            found.interval,
        )
        p_value = 1.0 if found.p_value is None else found.p_value
        verdict = _APART if p_value < UNLIKELY else _ALIKE
        squared = math.nan
        if 0 < found.difference_error < math.inf:
            squared = float(np.subtract(*found.list_shares) / found.difference_error) ** 2
        test = ModelTest("agreement", _AGREEMENT, "z²", squared, 1, p_value, verdict)
        return ModelFinding((estimate,), (test,))


def _read(document: Mapping[str, Any], field: str) -> DoubleList:
    columns = {"group": read_group_column(document, field)}
    lengths = []
    for role, member in _ROLES:
        own = tuple(int(entry[member]) for entry in document["groups"])
        check_lengths(own, f"{field}.groups[1].{member}")
        answers = tuple(str(number) for number in range(max(own) + 1))
        columns[role] = read_answer_column(document[role], answers, f"{field}.{role}")
        lengths.append(own)
    first, second = lengths
    if (first[0] > first[1]) == (second[0] > second[1]):
        template = N_(
            "must be longer in the group whose first list is shorter, as each has the sensitive item once"
        )
        raise refuse(422, f"{field}.groups[1].second_items", template)
    return DoubleList(columns, (first, second))


DOUBLE_LIST = ModelKind(
    "double_list",
    N_("List experiment, two lists and two groups"),
    N_(
        "It assumes that chance put people into the groups, that everybody counts both lists truly, and that nobody "
        "counts the other items differently because of the sensitive one."
    ),
    "Droitcour et al. (1991)",
    _read,
)
