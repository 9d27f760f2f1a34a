"""The crosswise model in two groups, in the second of which the innocuous item is as common as rare in the first."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.designs import crosswise
from server.privacy.estimators import correct_inattention, estimate_extended_crosswise
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.inattention_model import (
    CROSSWISE_ANSWERS,
    count_pairs,
    describe_attention,
    read_prevalence,
    vary_coin,
    weigh_attention,
)
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

_NEAR = 1e-9
_BOTH = N_("Yes to the sensitive question, both groups")
_PREFERENCE = N_("Who says “same” whatever is true, less who says “different” so")
_ONE_SHARE = N_("Test that both groups have one share")
_DIFFER = N_(
    "Chance alone hardly explains how the groups differ: some may say “same”, or “different”, whatever is true. Do not "
    "trust the share. If all of these say the same one, read the share without them."
)
_CORRECTED = N_(
    "The corrected share assumes of those who do not attend that they answer as a coin would, as many to both "
    "questions, with the trait as without."
)
_AGREE = N_("The groups fit one share. Who answers as a coin would is not seen by this test.")


@dataclass(frozen=True)
class GroupedAnchor:
    """The anchor question: its item's prevalence in the first group, and whether the second has 1 less that."""

    prevalence: float
    turned: bool
    share: float


@dataclass(frozen=True)
class TwoGroupCrosswise:
    """`prevalence` is that of the first group."""

    columns: Mapping[str, ModelColumn]
    prevalence: float
    anchor: GroupedAnchor | None

    def estimate(
        self,
        rows: Mapping[str, NDArray[np.float64]],
        field: str,
        confidence: float,
        drawn: DrawnRows | None = None,
    ) -> ModelFinding:
        """The share of both groups and of each, the test that they agree; corrected, where there is an anchor."""
        counts = count_answers(rows, 2)
        if drawn is not None:
            return self._weigh(rows, drawn, confidence, list_few(counts))
        found = estimate_extended_crosswise(counts, self.prevalence, confidence)
        estimates = [
            ModelEstimate(
                "share",
                _BOTH,
                found.share,
                found.standard_error,
                found.interval,
            ),
            ModelEstimate(
                "preference",
                _PREFERENCE,
                found.preference,
                found.preference_error,
                found.preference_interval,
                low=-1.0,
            ),
            ModelEstimate(
                "followers_share",
                N_("Yes to the sensitive question, without who says one answer whatever is true"),
                found.followers_share,
                found.followers_error,
                found.followers_interval,
            ),
        ]
        verdict = _DIFFER if found.p_value < UNLIKELY else _AGREE
        tests = [ModelTest("one_share", _ONE_SHARE, "G²", found.g_squared, 1, found.p_value, verdict)]
        remarks = list_few(counts)
        if self.anchor is not None:
            attention = correct_inattention(
                count_pairs(*self._turn(rows)),
                self.prevalence,
                self.anchor.prevalence,
                self.anchor.share,
                confidence,
            )
            corrected, attentive, test, untold = describe_attention(attention)
            estimates += [replace(corrected, name="corrected"), attentive]
            tests.append(test)
            remarks += [_CORRECTED, *untold]
        return ModelFinding(tuple(estimates), tuple(tests), tuple(remarks))

    def _turn(self, rows: Mapping[str, NDArray[np.float64]]) -> list[NDArray[np.float64]]:
        """Reports, and those to the anchor question if there is one, as if all were of the first group."""
        second = rows["group"] == 1
        turned = [np.where(second, 1 - rows["report"], rows["report"])]
        if self.anchor is not None:
            turned.append(np.where(second & self.anchor.turned, 1 - rows["anchor"], rows["anchor"]))
        return turned

    def _weigh(
        self, rows: Mapping[str, NDArray[np.float64]], drawn: DrawnRows, confidence: float, few: list[str]
    ) -> ModelFinding:
        """Of rows that count as they were drawn: both groups are one crosswise model, the second turned round."""
        turned, first = self._turn(rows), rows["group"] == 0
        everybody = np.ones(len(first), np.bool_)
        coin = vary_coin(self.prevalence)
        least = [coin, coin, coin, *([] if self.anchor is None else [vary_coin(self.anchor.prevalence)])]
        means = drawn.measure(
            [turned[0], turned[0], *turned], [first, ~first, *(everybody for _ in turned)], least
        )
        design = crosswise(self.prevalence).matrix
        slope = float(design[1, 1] - design[0, 1])
        rest = [0.0] * (len(turned) - 1)
        moments = means.combine(
            [[0.0, 0.0, 1 / slope, *rest], [1.0, -1.0, 0.0, *rest]], [-design[0, 1] / slope, 0.0]
        )
        estimates = [
            state_moment("share", _BOTH, moments.measure(0, confidence)),
            state_moment("preference", _PREFERENCE, moments.measure(1, confidence), low=-1.0),
        ]
        agree = moments.combine([[0.0, 1.0]]).test_zero()
        tests, remarks = state_wald_test("one_share", _ONE_SHARE, agree, _DIFFER, _AGREE), few
        if self.anchor is not None:
            of_both = means.combine(np.eye(4)[2:])
            corrected, attentive, test, untold = weigh_attention(
                of_both, self.prevalence, self.anchor.prevalence, self.anchor.share, confidence
            )
            estimates += [replace(corrected, name="corrected"), attentive]
            tests.append(test)
            remarks = [*few, _CORRECTED, *untold]
        return ModelFinding(tuple(estimates), tuple(tests), tuple(remarks), moments.degrees_of_freedom)


def _read(document: Mapping[str, Any], field: str) -> TwoGroupCrosswise:
    group = read_group_column(document, field)
    columns = {
        "group": group,
        "report": read_answer_column(document["report"], CROSSWISE_ANSWERS, f"{field}.report"),
    }
    first, second = document["groups"]
    prevalence = read_prevalence(first["prevalence"], f"{field}.groups[0].prevalence")
    if abs(prevalence + second["prevalence"] - 1) > _NEAR:
        template = N_("must add up to 1 with that of the first group, %(limit)s; it is %(value)s")
        at = f"{field}.groups[1].prevalence"
        raise refuse(422, at, template, limit=first["prevalence"], value=second["prevalence"])
    anchor = None
    if "anchor" in document:
        columns["anchor"] = read_answer_column(document["anchor"], CROSSWISE_ANSWERS, f"{field}.anchor")
        anchor = _read_anchor(document, field)
    for member, places in (("anchor_share", [document]), ("anchor_prevalence", document["groups"])):
        if anchor is None and any(member in place for place in places):
            raise refuse(422, f"{field}.anchor", N_("is required"))
    return TwoGroupCrosswise(columns, prevalence, anchor)


def _read_anchor(document: Mapping[str, Any], field: str) -> GroupedAnchor:
    for number, entry in enumerate(document["groups"]):
        if "anchor_prevalence" not in entry:
            raise refuse(422, f"{field}.groups[{number}].anchor_prevalence", N_("is required"))
    first, second = (float(entry["anchor_prevalence"]) for entry in document["groups"])
    prevalence = read_prevalence(first, f"{field}.groups[0].anchor_prevalence")
    turned = abs(first + second - 1) <= _NEAR
    if not turned and abs(first - second) > _NEAR:
        template = N_("must be that of the first group, %(limit)s, or add up to 1 with it; it is %(value)s")
        raise refuse(422, f"{field}.groups[1].anchor_prevalence", template, limit=first, value=second)
    return GroupedAnchor(
        prevalence, turned, read_prevalence(document.get("anchor_share", 0), f"{field}.anchor_share")
    )


EXTENDED_CROSSWISE = ModelKind(
    "extended_crosswise",
    N_("Extended crosswise, two groups"),
    N_(
        "It assumes that chance put people into the groups, that the harmless item has nothing to do with the trait, "
        "and that everybody attends."
    ),
    "Heck, Hoffmann & Moshagen (2018); Cruyff, Sayed, Petróczi & van der Heijden (2024)",
    _read,
)
