"""Cheaters, who say No whatever chance asks of them: two groups with two designs of one question."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse
from server.privacy.designs import Design
from server.privacy.estimators import cheating_test
from server.privacy.estimators.cheating import solve_cheating
from server.reports.elsewhere.models.drawn_rows import DrawnRows
from server.reports.elsewhere.models.model_columns import (
    ModelColumn,
    count_answers,
    read_answer_column,
    read_group_column,
    read_yes_no_design,
)
from server.reports.elsewhere.models.model_parts import (
    UNLIKELY,
    ModelFinding,
    ModelKind,
    ModelTest,
    list_estimates,
    list_few,
    list_moments,
    state_wald_test,
)

_LABELS = (
    ("honest_no", N_("Honest No")),
    ("honest_yes", N_("Honest Yes")),
    ("cheaters", N_("Who says No whatever is asked")),
)
_CHEATED = N_("Chance alone hardly explains how the groups differ: some may say No whatever is asked.")
_CONTRARY = N_(
    "Chance alone hardly explains how the groups differ, nor do people who say No whatever is asked: look for "
    "another reason, such as groups that chance did not make."
)
_AGREE = N_("Nothing here shows that anybody does. With few rows many may, and are not seen.")


@dataclass(frozen=True)
class Cheating:
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
        """The three shares, and the test that nobody cheats."""
        counts = count_answers(rows, 2)
        label = N_("Test that nobody says No whatever is asked")
        if drawn is not None:
            shares = drawn.measure_groups(rows["group"], rows["report"]).combine(
                *solve_cheating(self.designs)
            )
            unlikely = _CHEATED if shares.values[2] > 0 else _CONTRARY
            tests = state_wald_test(
                "no_cheaters", label, shares.combine([[0, 0, 1]]).test_zero(), unlikely, _AGREE
            )
            estimates = list_moments(_LABELS, shares, confidence)
            return ModelFinding(estimates, tuple(tests), tuple(list_few(counts)), shares.degrees_of_freedom)
        found = cheating_test(counts, self.designs, confidence)
        estimates = list_estimates(_LABELS, found.shares, found.standard_errors, found.intervals)
        verdict = _AGREE
        if found.p_value < UNLIKELY:
            verdict = _CHEATED if found.shares[2] > 0 else _CONTRARY
        test = ModelTest("no_cheaters", label, "G²", found.g_squared, 1, found.p_value, verdict)
        return ModelFinding(estimates, (test,), tuple(list_few(counts)))


def _read(document: Mapping[str, Any], field: str) -> Cheating:
    group = read_group_column(document, field)
    report = read_answer_column(document["report"], ("no", "yes"), f"{field}.report")
    designs = tuple(
        read_yes_no_design(entry["design"], f"{field}.groups[{number}].design")
        for number, entry in enumerate(document["groups"])
    )
    try:
        cheating_test([[1, 1], [1, 1]], designs)
    except ValueError as error:
        template = N_("must tell with that of the other group who cheats: %(value)s")
        raise refuse(422, f"{field}.groups[1].design", template, value=str(error)) from None
    return Cheating({"group": group, "report": report}, designs)


CHEATING = ModelKind(
    "cheating",
    N_("Cheating detection, two groups"),
    N_(
        "It assumes that chance put people into the groups, and that everybody either does what the design asks or "
        "says No whatever it asks, as many in each group."
    ),
    "Clark & Desharnais (1998)",
    _read,
)
