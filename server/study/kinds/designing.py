"""The researcher's choice of a mechanism, and the designs it stands for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from server.privacy.designs import (
    Design,
    best_choice,
    coin_flip,
    crosswise,
    for_epsilon,
    forced_response,
    k_ary,
    kuk,
    ordinal,
    unary,
    unrelated_question,
    warner,
)

DEVICES: Mapping[str, Callable[..., Design]] = {
    "warner": warner,
    "forced_response": forced_response,
    "unrelated_question": unrelated_question,
    "kuk": kuk,
    "crosswise": crosswise,
}
"""Yes/no designs by the chances of a physical device, which fix the privacy loss."""

ELSEWHERE = ("mangat", "triangular", "forced_yes", "matrix")
"""Designs that others collected with: a study file states them, and no survey here."""

STRENGTHS = ("gamma", "epsilon")


@dataclass(frozen=True)
class Choice:
    """A mechanism by name with its parameters, as the definition states them.

    Mechanisms that are asked for by their privacy loss may leave it out; the survey's
    strength or budget then allots a share.
    """

    mechanism: str
    parameters: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def from_json(cls, design: Mapping[str, Any]) -> "Choice":
        """The choice that a question's `design` states."""
        parameters = {name: value for name, value in design.items() if name != "mechanism"}
        return cls(design["mechanism"], tuple(parameters.items()))

    @property
    def by_share(self) -> bool:
        """Whether the survey decides how strong it is, by its strength or its budget."""
        fixed = self.mechanism in DEVICES or self.mechanism in ELSEWHERE
        return not fixed and not any(name in STRENGTHS for name, _ in self.parameters)

    def as_json(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism, **dict(self.parameters)}


def loss_of(choice: Choice, share: float | None) -> float:
    """The privacy loss that a choice states, or else the share that the survey allots.

    Raises
    ------
    ValueError
        If there is neither.
    """
    epsilon: float | None = dict(choice.parameters).get("epsilon", share)
    if epsilon is None:
        raise ValueError("epsilon must be given, or a share that the survey allots")
    return epsilon


def make_designs(choice: Choice, answers: int, share: float | None) -> tuple[Design, ...]:
    """One design for each byte: a single one, or one for each of the `answers`, of which exactly one is given.

    Raises
    ------
    ValueError
        As the functions of `privacy.designs`, if the choice needs a share and has none, or if fewer
        than two answers would have a design each.
    """
    parameters: Mapping[str, Any] = dict(choice.parameters)
    if choice.mechanism in DEVICES:
        chances = {name: value for name, value in parameters.items() if name != "innocuous"}
        return (DEVICES[choice.mechanism](**chances),)
    if "gamma" in parameters:
        return (coin_flip(parameters["gamma"]),)
    epsilon = loss_of(choice, share)
    match choice.mechanism:
        case "coin_flip":
            return (for_epsilon(epsilon),)
        case "stochastic_rounding":
            return (for_epsilon(epsilon) if answers == 2 else k_ary(answers, epsilon),)
        case "k_ary":
            return (k_ary(answers, epsilon),)
        case "ordinal":
            return (ordinal(answers, epsilon),)
        case "unary" | "symmetric_unary":
            if answers < 2:
                raise ValueError(f"answers must be at least 2; they are {answers}")
            return (unary(epsilon, optimised=choice.mechanism == "unary"),) * answers
        case "best_choice":
            best = best_choice(answers, epsilon)
            return (best.design,) * (1 if best.mechanism == "k_ary" else answers)
    raise ValueError(f"mechanism must be a known one; it is {choice.mechanism!r}")
