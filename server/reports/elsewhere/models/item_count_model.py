"""List experiments: how many items apply, of a list that has the sensitive one in one of two groups."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_
from server.privacy.estimators import estimate_item_count
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
    list_moments,
    state_moment,
)

_CHANGED = N_(
    "Chance hardly explains these counts: the sensitive item seems to change how people count the others, or chance "
    "did not make the groups. The share may be off either way."
)
_UNCHANGED = N_(
    "Nothing here shows that the sensitive item changed other answers. Changes that make up for each other are "
    "not seen."
)
_HIDING = N_(
    "To whom the sensitive item and none, or all, of the others apply can hardly hide: where these are many, some may "
    "not count truly, and the share is too low."
)

_APPLIES = N_("To whom the sensitive item applies")
_FLOOR = N_("To whom it applies, and none of the others")
_CEILING = N_("To whom it applies, and all of the others")
_NO_CHANGE = N_("Test that the sensitive item changed no other answer")


@dataclass(frozen=True)
class ItemCount:
    """`lengths` are of each group's list: one has an item more, the sensitive one."""

    columns: Mapping[str, ModelColumn]
    lengths: tuple[int, ...]

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The share, floor and ceiling, and the test for a design effect."""
        counts = count_answers(rows, max(self.lengths) + 1)
        check_list_counts(counts, self.lengths, self.columns["group"].group_names, f"{field}.groups")
        order = np.argsort(self.lengths)
        if drawn is not None:
            return self._weigh(rows, drawn, confidence)
        control, treatment = (counts[place, : self.lengths[place] + 1] for place in order)
        found = estimate_item_count(control, treatment, confidence)
        estimates = [
            ModelEstimate(
                "share",
                _APPLIES,
                found.share,
                found.standard_error,
                found.interval,
            )
        ]
        for name, label, place in (
            ("floor", _FLOOR, 0),
            ("ceiling", _CEILING, -1),
        ):
            low, high = found.type_intervals[place, 1].tolist()
            value, error = float(found.types[place, 1]), float(found.type_errors[place, 1])
            estimates.append(ModelEstimate(name, label, value, error, (low, high)))
        verdict = _CHANGED if found.design_effect < UNLIKELY else _UNCHANGED
        test = ModelTest("design_effect", _NO_CHANGE, "", math.nan, 0, found.design_effect, verdict)
        return ModelFinding(tuple(estimates), (test,), (_HIDING,))

    def _weigh(
        self, rows: Mapping[str, NDArray[np.float64]], drawn: DrawnRows, confidence: float
    ) -> ModelFinding:
        """Of rows that count as they were drawn: means, and how many count at most so many, of each group."""
        others, count = min(self.lengths), rows["report"]
        short, long = (rows["group"] == place for place in np.argsort(self.lengths))
        most = [(short, number) for number in range(others)] + [
            (long, number) for number in range(others + 1)
        ]
        moments = drawn.measure(
            [count, count, *((count <= number).astype(np.float64) for _, number in most)],
            [short, long, *(inside for inside, _ in most)],
        )
        below, below_with = np.eye(len(most) + 2)[2 : 2 + others], np.eye(len(most) + 2)[2 + others :]
        told = moments.combine(
            np.array([[-1.0, 1.0] + [0.0] * len(most), below[0] - below_with[0], -below_with[-1]]), [0, 0, 1]
        )
        labels = (("share", _APPLIES), ("floor", _FLOOR))
        # What each type of people cannot be less than nobody by, as in `find_design_effect`.
        types = moments.combine(np.concatenate([below - below_with[:-1], below_with[1:] - below]))
        p_value = min(1.0, 2 * others * min(types.find_below(place) for place in range(2 * others)))
        verdict = _CHANGED if p_value < UNLIKELY else _UNCHANGED
        test = ModelTest("design_effect", _NO_CHANGE, "", math.nan, 0, p_value, verdict)
        ceiling = state_moment("ceiling", _CEILING, told.measure_share(2, confidence))
        estimates = (*list_moments(labels, told, confidence), ceiling)
        return ModelFinding(estimates, (test,), (_HIDING,), moments.degrees_of_freedom)


def _read(document: Mapping[str, Any], field: str) -> ItemCount:
    group = read_group_column(document, field)
    lengths = tuple(int(entry["items"]) for entry in document["groups"])
    check_lengths(lengths, f"{field}.groups[1].items")
    answers = tuple(str(number) for number in range(max(lengths) + 1))
    report = read_answer_column(document["report"], answers, f"{field}.report")
    return ItemCount({"group": group, "report": report}, lengths)


ITEM_COUNT = ModelKind(
    "item_count",
    N_("List experiment, two groups"),
    N_(
        "It assumes that chance put people into the groups, that everybody counts truly, and that nobody counts the "
        "other items differently because of the sensitive one."
    ),
    "Miller (1984)",
    _read,
)
