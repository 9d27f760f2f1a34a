"""Questions as definitions ask them, on trial: each kind of question with each mechanism that the schema knows."""

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.inputs.schema import schema
from server.privacy.auditing.cases import Case, Finding
from server.privacy.auditing.noise_losses import ROUNDING
from server.privacy.auditing.report_coins import coins_of_reports
from server.privacy.designs import Design, report_between
from server.study.definitions import GridPoint, Question
from server.study.definitions.definition_reader import parse_definition
from server.study.kinds import KINDS

_FIXED: Mapping[str, tuple[float, Mapping[str, Any]]] = {
    "gamma": (3, {"gamma": 0.25}),
    "warner": (0.7 / 0.3, {"truth": 0.3}),
    "forced_response": (0.875 / 0.125, {"truth": 0.75, "yes": 0.125}),
    "unrelated_question": (
        0.775 / 0.075,
        {"truth": 0.7, "prevalence": 0.25, "innocuous": "Is your birthday in spring?"},
    ),
    "kuk": (0.7 / 0.2, {"if_yes": 0.8, "if_no": 0.3}),
    "crosswise": (4, {"prevalence": 0.2, "innocuous": "Is your house number even?"}),
}
"""Designs by chances, with the largest ratio of two chances of a report."""
_GRID = 1e-8
"""More than rounding to 32 bits can add to the loss of a device."""
_NOT_SAYING = ("k_ary", "best_choice", "unary", "symmetric_unary", "stochastic_rounding")
"""Mechanisms that "prefer not to say" is an answer under; of Yes and No, k-ary response is for it alone."""


def name_case(kind: str, mechanism: str) -> str:
    """What of the schema a case is."""
    return f"question {kind} by {mechanism}"


def list_mechanisms() -> Iterator[tuple[str, str]]:
    """Each kind of question in the schema of definitions, with each mechanism that it allows."""
    for kind, entry in schema("survey")["$defs"].items():
        design = entry.get("properties", {}).get("design", {}).get("properties", {})
        yield from ((kind, mechanism) for mechanism in design.get("mechanism", {}).get("enum", ()))


def cases() -> list[Case]:
    """Of a question asked for by its loss the claim is that; of a device it follows from its chances."""
    return [
        _case(kind, mechanism, prefer)
        for kind, mechanism in list_mechanisms()
        for prefer in (False, True)
        if (mechanism in _NOT_SAYING if prefer else mechanism not in KINDS[kind].refusal_only)
    ]


def _case(kind: str, mechanism: str, prefer: bool) -> Case:
    named = "gamma" if mechanism in KINDS[kind].by_gamma else mechanism
    ratio, parameters = _FIXED.get(named, (None, {"epsilon": 1}))
    document = {
        "name": "asked",
        "kind": kind,
        "text": "Asked?",
        "design": {"mechanism": mechanism, **parameters},
        **KINDS[kind].example,
        **({"prefer_not_to_say": True} if prefer else {}),
    }
    made = partial(_question, document)
    return Case(
        f"{name_case(kind, mechanism)}{', or prefer not to say' if prefer else ''}",
        1.0 if ratio is None else math.log(ratio) + _GRID,
        lambda: _loss(made()),
        lambda: [_report(design, 0, [0], [0]) for design in made().designs],
        name_case(kind, mechanism),
    )


def _question(document: Mapping[str, Any]) -> Question:
    definition = parse_definition(
        {"format": 2, "language": "en", "title": "Asked", "introduction": "", "questions": [dict(document)]}
    )
    return definition.questions[0]


def _loss(question: Question) -> Finding:
    """Of any answer against any other: bytes are flipped apart, so that their losses add up."""
    answers = list(question.traits.list_answers(question))
    rows = [
        [
            _weights(design, truth)
            for design, truth in zip(question.designs, question.truths(answer), strict=True)
        ]
        for answer in answers
    ]
    worst, event = 0.0, "no answer is told from another"
    for (answer, first), (another, second) in permutations(zip(answers, rows, strict=True), 2):
        loss = math.fsum(_ratio(a, b) for a, b in zip(first, second, strict=True))
        if loss > worst:
            worst, event = loss, f"{answer} against {another}"
    return Finding(max(worst - ROUNDING, 0.0), event)


def _weights(design: Design, truth: int | GridPoint) -> NDArray[np.int64]:
    """How many coins lead to each report."""
    (row,) = coins_of_reports(partial(_report, design, truth), 1, design.weights.shape[1])
    return np.asarray(row)


def _report(design: Design, truth: int | GridPoint, rows: ArrayLike, coins: ArrayLike) -> NDArray[np.uint8]:
    if isinstance(truth, GridPoint):
        return report_between(design, np.full(np.shape(rows), truth.steps), truth.of, coins)
    return design.report(np.full(np.shape(rows), truth), coins)


def _ratio(row: NDArray[np.int64], other: NDArray[np.int64]) -> float:
    """The largest loss of a report that is likelier under one of two rows."""
    pairs = [(a, b) for a, b in zip(row.tolist(), other.tolist(), strict=True) if a]
    return max(math.inf if b == 0 else math.log(a) - math.log(b) for a, b in pairs)
