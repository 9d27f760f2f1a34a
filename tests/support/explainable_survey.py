"""A survey in which an answer goes with others, and with where people live."""

from typing import Any

import numpy as np

from tests.support import every_kind, factories
from tests.support.factories import Published


def make_explainable() -> dict[str, Any]:
    questions = [
        factories.question("copied", "Have you copied?"),
        factories.question("stole", "Have you stolen?"),
        {
            "name": "party",
            "kind": "select_one",
            "text": "Which party?",
            "options": every_kind.options(every_kind.PARTIES),
            "design": {"mechanism": "k_ary", "epsilon": 2},
        },
        {"name": "cups", "kind": "number", "text": "Cups?", "low": 0, "high": 9, "step": 1}
        | {"design": {"mechanism": "stochastic_rounding", "epsilon": 1}},
        {
            "name": "mood",
            "kind": "scale",
            "text": "Mood?",
            "options": every_kind.options(every_kind.LEVELS),
            "design": {"mechanism": "ordinal", "epsilon": 2},
        },
    ]
    return factories.definition(questions=questions)


def collect(url: str) -> Published:
    """A survey in which who copied has stolen more often, more in the south; few came from the islands."""
    survey, rng = factories.publish(url, make_explainable()), np.random.default_rng(2)
    links = factories.plant(url, survey.slug, "North\nSouth > Coast\nSouth > Hills\nIslands")
    sizes = {"North": 700, "South > Coast": 400, "South > Hills": 400, "Islands": 4}
    for path, size in sizes.items():
        copied = rng.random(size) < (0.55 if path.startswith("South") else 0.25)
        stole = rng.random(size) < np.where(copied, 0.8, 0.2)
        told = [(rng.random(size) < np.where(truth, 0.75, 0.25)).astype(int) for truth in (copied, stole)]
        others = [rng.integers(0, width, size) for width in (4, 2, 5)]
        rows = [([int(report) for report in row], 1) for row in np.stack([*told, *others], axis=1)]
        factories.store(url, survey, rows, links[path])
    factories.settle(url, survey.slug, minimum=10)
    return survey
