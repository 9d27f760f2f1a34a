"""What each question of a draft spends, and the budget that they share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.privacy.designs import BestChoice, best_choice, coin_flip, gamma_of
from server.study.definitions import Choice, Grid, Option, Question, left_of
from server.study.editing.entry_shapes import strength_name

DEFAULT_SHARE = coin_flip(0.25).epsilon
"""Of a new question: two fair coins, ln 3."""

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Spending:
    """What one respondent spends: by entry (None: nothing is sent, or cannot be told yet), in all, and for a share."""

    entries: tuple[float | None, ...]
    share: float | None
    equal: bool
    budget: float | None

    @property
    def total(self) -> float:
        return math.fsum(epsilon for epsilon in self.entries if epsilon is not None)

    @property
    def left(self) -> float | None:
        """What the budget leaves; None without one."""
        return None if self.budget is None else left_of(self.budget, self.total)


def spending(document: Document) -> Spending:
    """What the draft spends as it stands."""
    share, budget = share_of(document), document.get("budget")
    return Spending(
        entries=tuple(epsilon_of(entry, share) for entry in document["questions"]),
        share=share,
        equal=equal_division(document),
        budget=budget if isinstance(budget, int | float) else None,
    )


def equal_division(document: Document) -> bool:
    """Whether the budget is divided equally: no question states a strength of its own."""
    designs = [entry.get("design", {}) for entry in document["questions"] if strength_name(entry)]
    stated = any("gamma" in design or "epsilon" in design for design in designs)
    return not stated and ("budget" in document or bool(designs))


def share_of(document: Document) -> float | None:
    """The privacy loss allotted to each question that states none; of the next one, if there is none yet."""
    budget = document.get("budget")
    if not isinstance(budget, int | float):
        return None
    share = (budget - _stated(document)) / max(1, _sharing(document))
    return share if 0 < share < 1000 else None


def with_share(document: Document, share: float) -> dict[str, Any]:
    """The same with the budget that gives this share: rounded up, so that no question loses by it."""
    try:
        # A share that is a gamma of few decimals, but for the rounding of an earlier budget, is meant as that.
        meant = coin_flip(round(gamma_of(share), 6)).epsilon
        share = meant if abs(meant - share) < 1e-8 else share
    except ValueError:
        pass  # too small or too large for a gamma of six decimals
    total = _stated(document) + share * max(1, _sharing(document))
    return {**document, "budget": (math.floor(total * 1e10) + 1) / 1e10}


def shape_of_budget(document: Document) -> tuple[int, float]:
    """What a budget must follow when the questions keep their strengths."""
    return _sharing(document), _stated(document)


def strength(entry: Mapping[str, Any], epsilon: float) -> dict[str, float]:
    """The parameter that gives an entry's design this privacy loss, or hardly less."""
    name = strength_name(entry)
    if name is None:
        return {}
    if name == "gamma":
        return {name: min(max(round(gamma_of(epsilon), 6), 0.001), 0.499)}
    return {name: min(max(round(epsilon, 10), 0.001), 20)}


def epsilon_of(entry: Mapping[str, Any], share: float | None) -> float | None:
    """The privacy loss of an entry's answer; None if it sends none or its design is unfinished."""
    try:
        question = _question(entry, share)
        return None if question is None else question.epsilon
    except _UNFINISHED:
        return None


def chosen_design(entry: Mapping[str, Any], share: float | None) -> BestChoice | None:
    """Which design `best_choice` stands for, and the variances it was chosen by."""
    design = entry.get("design", {})
    if design.get("mechanism") != "best_choice":
        return None
    try:
        question = _question(entry, share)
        epsilon = design.get("epsilon", share)
        return best_choice(len(question.answers), epsilon) if question and epsilon else None
    except _UNFINISHED:
        return None


_UNFINISHED = (ArithmeticError, KeyError, TypeError, ValueError)
"""What an entry that is not finished may raise; what is missing is said where the draft is checked."""


def _question(entry: Mapping[str, Any], share: float | None) -> Question | None:
    """An entry's design on made-up words, so that it can be known before there are any."""
    design = entry.get("design", {})
    if design.get("mechanism") is None:
        return None
    return Question(
        name="q",
        kind=entry["kind"],
        text="q",
        choice=Choice.from_json(design),
        options=tuple(Option(str(place), "") for place, _ in enumerate(entry.get("options", ()))),
        grid=Grid.from_json(entry) if "low" in entry else None,
        prefer_not_to_say="prefer_not_to_say" in entry,
        share=share,
    )


def gamma_of_share(share: float | None) -> float | None:
    """The share as the gamma of a coin flip; None where it has none that a slider could show."""
    if share is None:
        return None
    try:
        return min(max(gamma_of(share), 0.001), 0.499)
    except ValueError:
        return None


def slider_gamma(share: float | None) -> float | None:
    """Where the slider stands: in hundredths, as a browser keeps it there."""
    gamma = gamma_of_share(share)
    return None if gamma is None else min(max(round(gamma, 2), 0.01), 0.49)


def _shares(entry: Mapping[str, Any]) -> bool:
    design = entry.get("design", {})
    return strength_name(entry) is not None and "gamma" not in design and "epsilon" not in design


def _sharing(document: Document) -> int:
    return sum(map(_shares, document["questions"]))


def _stated(document: Document) -> float:
    stated = (epsilon_of(entry, None) for entry in document["questions"] if not _shares(entry))
    return math.fsum(epsilon for epsilon in stated if epsilon is not None)
