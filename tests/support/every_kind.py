"""A survey that asks every kind of question under every design, and what is true of the people who answer it."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.stats import betabinom

from server.study.editing.entry_shapes import mechanisms
from server.study.kinds import KINDS, Kind

NEVER_TO_SAY = 0.1
"""The declared share of "prefer not to say", wherever it is an answer."""

DEVICES: dict[str, dict[str, Any]] = {
    "coin": {"mechanism": "coin_flip", "gamma": 0.25},
    "mirror": {"mechanism": "warner", "truth": 0.3},
    "dice": {"mechanism": "forced_response", "truth": 0.75, "yes": 0.125},
    "cards": {
        "mechanism": "unrelated_question",
        "truth": 0.7,
        "prevalence": 0.25,
        "innocuous": "Is your birthday in spring?",
    },
    "decks": {"mechanism": "kuk", "if_yes": 0.8, "if_no": 0.3},
    "both": {"mechanism": "crosswise", "prevalence": 0.2, "innocuous": "Is your house number even?"},
}


def options(shares: Mapping[str, float]) -> list[dict[str, str]]:
    """Options named so, with texts."""
    return [{"name": name, "text": f"Option {name}"} for name in shares]


PARTIES = {"red": 0.4, "green": 0.25, "blue": 0.2, "none": 0.15}
CITIES = {
    "lima": 0.3,
    "quito": 0.2,
    "havana": 0.15,
    "bogota": 0.15,
    "madrid": 0.1,
    "caracas": 0.06,
    "leon": 0.04,
}
DRUGS = {"cannabis": 0.3, "cocaine": 0.05, "pills": 0.12}
LEVELS = {"never": 0.1, "rarely": 0.15, "sometimes": 0.2, "often": 0.25, "always": 0.3}
TRUST = {"no": 0.5, "some": 0.25, "yes": 0.15, "prefer_not_to_say": NEVER_TO_SAY}
NUMBERS = {"low": -10, "high": 30, "step": 0.5}
CUTS = [0, 5, 7.5, 20]
MEAN = 4.0
"""The declared mean of every number."""


def document(*, others: bool = True) -> dict[str, Any]:
    """The definition; with the `others` it has a question of each kind that has none here."""
    return {
        "format": 1,
        "language": "en",
        "title": "Every kind",
        "introduction": "",
        "questions": [*_written_questions(), *(example_of(kind) for kind in other_kinds() if others)],
    }


def other_kinds() -> list[Kind]:
    """The kinds of which no question is written here: asked by their own examples."""
    written = {entry["kind"] for entry in _written_questions()}
    return [kind for kind in KINDS.values() if kind.name not in written]


def example_of(kind: Kind) -> dict[str, Any]:
    """A question of a kind, called as the kind is, under the design that is usual there."""
    if kind.asks_number or kind.several:
        raise ValueError(f"say in this file what is true of {kind.name}")
    return _entry(kind.name, kind.name, mechanisms({"kind": kind.name})[0], **kind.example)


def declared_of(kind: Kind) -> dict[str, float]:
    """Shares of the answers of such a question: the second is twice the first, and so on."""
    names = [*kind.fixed, *(option["name"] for option in kind.example.get("options", ()))]
    return {name: place / sum(range(len(names) + 1)) for place, name in enumerate(names, 1)}


def _written_questions() -> list[dict[str, Any]]:
    numbers = {**NUMBERS, "unit": "cups"}
    questions: list[dict[str, Any]] = [
        {"name": name, "kind": "yes_no", "text": f"Yes by {name}?", "design": design}
        for name, design in DEVICES.items()
    ]
    questions += [
        _entry("paid", "yes_no", "k_ary", prefer_not_to_say=True),
        _entry("moon", "yes_no", "coin_flip", control=True),
        {"name": "second", "kind": "section", "text": "The second part"},
        _entry("party", "select_one", "k_ary", options=options(PARTIES)),
        _entry("city", "select_one", "unary", options=options(CITIES)),
        _entry("town", "select_one", "symmetric_unary", options=options(CITIES)),
        _entry(
            "drugs", "select_multiple", "coin_flip", epsilon=6, options=options(DRUGS), prefer_not_to_say=True
        ),
        _entry("mood", "scale", "ordinal", options=options(LEVELS)),
        _entry(
            "trust",
            "scale",
            "k_ary",
            options=options({name: 0 for name in TRUST if name != "prefer_not_to_say"}),
            prefer_not_to_say=True,
        ),
        _entry("cups", "number", "stochastic_rounding", **numbers),
        _entry("mugs", "number", "stochastic_rounding", **numbers, prefer_not_to_say=True),
        _entry("bins", "binned_number", "k_ary", **numbers, cuts=CUTS, prefer_not_to_say=True),
        _entry(
            "after",
            "yes_no",
            "coin_flip",
            show_if={"question": "party", "any_of": ["red", "none"]},
            otherwise="no",
        ),
    ]
    return questions


def _entry(name: str, kind: str, mechanism: str, epsilon: float = 1.5, **more: Any) -> dict[str, Any]:
    strength = {"gamma": 0.25} if mechanism in KINDS[kind].by_gamma else {"epsilon": epsilon}
    text, design = f"Question {name}?", {"mechanism": mechanism, **strength}
    return {"name": name, "kind": kind, "text": text, "design": design, **more}


def assumed_shares() -> dict[str, float]:
    """What is declared, as `simulation.Assumptions` names it."""
    shares = {f"{name}.yes": 0.3 for name in (*DEVICES, "paid", "after")}
    shares["moon.yes"] = 0.0
    for question, declared in {
        "party": PARTIES,
        "city": CITIES,
        "town": CITIES,
        "drugs": DRUGS,
        "mood": LEVELS,
        "trust": TRUST,
        **{kind.name: declared_of(kind) for kind in other_kinds()},
    }.items():
        shares |= {f"{question}.{answer}": share for answer, share in declared.items()}
    return shares | {f"{name}.prefer_not_to_say": NEVER_TO_SAY for name in ("paid", "drugs", "mugs", "bins")}


def assumed_means() -> dict[str, float]:
    """The declared means."""
    return {"cups": MEAN, "mugs": MEAN, "bins": MEAN}


def grid_chances() -> np.ndarray[Any, np.dtype[np.float64]]:
    """Chances of the numbers of the grid, low to high: the beta-binomial distribution with the declared mean."""
    steps = round((NUMBERS["high"] - NUMBERS["low"]) / NUMBERS["step"])
    position = (MEAN - NUMBERS["low"]) / (NUMBERS["high"] - NUMBERS["low"])
    return np.asarray(betabinom.pmf(np.arange(steps + 1), steps, 4 * position, 4 * (1 - position)))


def true_shares() -> dict[str, dict[str, float]]:
    """By question, the share of all people whose truth each estimated answer is."""
    chances = grid_chances()
    numbers = NUMBERS["low"] + NUMBERS["step"] * np.arange(len(chances))
    edges = [-np.inf, *CUTS, np.inf]
    bins = [
        (1 - NEVER_TO_SAY) * float(chances[(numbers >= first) & (numbers < after)].sum())
        for first, after in pairwise(edges)
    ]
    refusing = {"prefer_not_to_say": NEVER_TO_SAY}
    asked = PARTIES["red"] + PARTIES["none"]
    yes_no = {name: {"no": 0.7, "yes": 0.3} for name in DEVICES}
    return yes_no | {
        "paid": {"no": 0.6, "yes": 0.3, **refusing},
        "moon": {"no": 1.0, "yes": 0.0},
        "party": PARTIES,
        "city": CITIES,
        "town": CITIES,
        "drugs": {**DRUGS, **refusing},
        "mood": LEVELS,
        "trust": TRUST,
        "cups": {},
        "mugs": refusing,
        "bins": dict(zip(["-10 to -0.5", "0 to 4.5", "5 to 7", "7.5 to 19.5", "20 to 30"], bins, strict=True))
        | refusing,
        "after": {"no": 1 - 0.3 * asked, "yes": 0.3 * asked},
        **{kind.name: declared_of(kind) for kind in other_kinds()},
    }


def true_means() -> dict[str, float]:
    """By question, the mean of all who gave a number; levels count 1, 2, 3, ..."""
    levels = list(TRUST.values())[:3]
    others = {kind.name: list(declared_of(kind).values()) for kind in other_kinds() if kind.levels}
    means = {name: float(np.arange(1, len(shares) + 1) @ shares) for name, shares in others.items()}
    return means | {
        "mood": float(np.arange(1, 6) @ list(LEVELS.values())),
        "trust": float(np.arange(1, 4) @ levels / sum(levels)),
        "cups": MEAN,
        "mugs": MEAN,
    }
