"""What is audited: a mechanism, its claim, and how the claim is tried."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy.auditing.choosing import chosen_loss
from server.privacy.auditing.comparing import compared_loss
from server.privacy.auditing.enumeration import exact_loss, worst_output
from server.privacy.auditing.interactions import Ask, Begin, interaction_loss
from server.privacy.auditing.noise_losses import ROUNDING, dealt_loss
from server.privacy.auditing.report_coins import coins_of
from server.privacy.auditing.sampled_losses import audit, detectable
from server.privacy.designs import Design

CONFIDENCE = 1 - 1e-8
"""Of each sampled audit: a hundred of them raise no false alarm but with probability 1e-6."""
MARGIN = 1.3
"""How many times its claim a sampled audit of what is shipped could certify, at least."""


@dataclass(frozen=True)
class Finding:
    """What one trial showed.

    Attributes
    ----------
    epsilon : float
        Exact loss, or certified lower bound on it, in nats; may be infinite.
    event : str
        Where it shows.
    detectable : float
        The largest loss that this trial could have shown, in nats; infinite where it is computed.
    """

    epsilon: float
    event: str
    detectable: float = math.inf


@dataclass(frozen=True)
class Case:
    """A mechanism on trial.

    Attributes
    ----------
    mechanism : str
        What it is, with its parameters.
    claimed_epsilon : float
        In nats.
    trial : callable
        Runs it.
    once : callable or None
        Runs the mechanism a single time; None for what this library does not ship, which was published
        elsewhere and is wrong.
    covers : str
        What of a registry it is, such as a kind of release; empty for what is found by being run.
    """

    mechanism: str
    claimed_epsilon: float
    trial: Callable[[], Finding]
    once: Callable[[], object] | None = None
    covers: str = ""

    @property
    def shipped(self) -> bool:
        """Whether this library ships it."""
        return self.once is not None


@dataclass(frozen=True)
class Verdict:
    """A case and what came of it.

    Attributes
    ----------
    mechanism, claimed_epsilon, shipped
        As in `Case`.
    certified_epsilon : float
        The mechanism loses at least this much, in nats; may be infinite.
    detectable : float
        The largest loss that could have been certified, in nats; may be infinite.
    event : str
        Where it shows.
    verdict : str
        "not refuted" or "certified above" for what is shipped, "caught" or "missed" for what is known to be
        wrong.
    """

    mechanism: str
    claimed_epsilon: float
    certified_epsilon: float
    detectable: float
    event: str
    shipped: bool
    verdict: str

    @property
    def as_it_should_be(self) -> bool:
        """Whether a shipped claim was not refuted by a trial that could have done so, or a wrong one caught."""
        if not self.shipped:
            return self.verdict == "caught"
        return self.verdict == "not refuted" and self.detectable >= MARGIN * self.claimed_epsilon


def judge(case: Case) -> Verdict:
    """Try one case."""
    found = case.trial()
    above = found.epsilon > case.claimed_epsilon
    word = (
        ("certified above" if above else "not refuted") if case.shipped else "caught" if above else "missed"
    )
    return Verdict(
        case.mechanism,
        case.claimed_epsilon,
        found.epsilon,
        found.detectable,
        found.event,
        case.shipped,
        word,
    )


def by_running(
    name: str,
    claim: float,
    mechanism: Callable[..., Any],
    input_a: Any,
    input_b: Any,
    runs: int,
    delta: float = 0.0,
) -> Case:
    """What is shipped, run so many times at once on each input."""
    return Case(
        name,
        claim,
        try_by_sampling(mechanism, input_a, input_b, runs, delta),
        lambda: mechanism(input_a, 1),
    )


def by_dealing(
    name: str,
    claim: float,
    mechanism: Callable[[Any], Any],
    input_a: Any,
    input_b: Any,
    delta: float = 0.0,
    *,
    coins: bool = True,
    covers: str = "",
) -> Case:
    """What is shipped, with noise dealt to it: the loss of all it draws is computed."""
    return Case(
        name,
        claim,
        lambda: Finding(*dealt_loss(mechanism, input_a, input_b, delta, coins=coins)),
        lambda: mechanism(input_a),
        covers,
    )


def by_comparing(
    name: str,
    claim: float,
    mechanism: Callable[[Any], Any],
    inputs: tuple[Any, Any],
    answers: int,
    covers: str = "",
) -> Case:
    """A shipped comparison of so many answers with a threshold: its loss is computed."""
    return Case(
        name,
        claim,
        lambda: Finding(*compared_loss(mechanism, *inputs, answers)),
        lambda: mechanism(inputs[0]),
        covers,
    )


def by_searching(
    name: str, claim: float, begin: Begin, ask: Ask, inputs: tuple[list[Any], list[Any]], delta: float = 0.0
) -> Case:
    """A shipped search whose questions come one at a time: the loss of the whole course is computed."""

    def run_once() -> object:
        kept, told = begin(), []
        for answer in inputs[0]:
            if kept is not None:
                said, kept = ask(kept, answer)
                told.append(said)
        return told

    return Case(name, claim, lambda: Finding(*interaction_loss(begin, ask, *inputs, delta)), run_once)


def by_choosing(
    name: str,
    claim: float,
    mechanism: Callable[[Any], Any],
    inputs: tuple[Any, Any],
    covers: str = "",
) -> Case:
    """Shipped choices among many options: their loss is computed."""
    return Case(
        name,
        claim,
        lambda: Finding(*chosen_loss(mechanism, *inputs)),
        lambda: mechanism(inputs[0]),
        covers,
    )


def by_counting(name: str, claim: float, made: Callable[[], Design]) -> Case:
    """A shipped design: its loss is computed from the reports that all coins lead to."""
    return Case(name, claim, lambda: of_coins(coins_of(made())), lambda: made().report([0], [0]))


def of_coins(weights: NDArray[np.int64]) -> Finding:
    """The loss of reports that so many coins lead to, a row for each truth."""
    columns = weights.T.tolist()
    losses = [
        (math.inf if min(column) == 0 else math.log(max(column) / min(column))) if max(column) else 0.0
        for column in columns
    ]
    return Finding(exact_loss(weights.tolist()), f"report = {losses.index(max(losses))}")


def try_by_sampling(
    mechanism: Callable[..., Any], input_a: Any, input_b: Any, runs: int, delta: float = 0.0
) -> Callable[[], Finding]:
    """A trial by running."""

    def trial() -> Finding:
        found = audit(mechanism, input_a, input_b, runs, CONFIDENCE, delta=delta)
        first, second = found.hits if found.likelier == "a" else found.hits[::-1]
        event = f"{found.event} ({first:,} against {second:,} of {runs - runs // 2:,})"
        return Finding(found.epsilon, event, detectable(runs, CONFIDENCE, delta=delta))

    return trial


def exact(first: ArrayLike, second: ArrayLike, label: Callable[[int], str]) -> Callable[[], Finding]:
    """A trial of two output distributions: whole numbers are weights, floats come from a formula."""

    def trial() -> Finding:
        rounding = ROUNDING if np.asarray(first).dtype.kind == "f" else 0.0
        return Finding(max(exact_loss(first, second) - rounding, 0.0), label(worst_output(first, second)))

    return trial


def approximate(first: NDArray[np.float64], second: NDArray[np.float64], delta: float) -> Finding:
    """The loss of two output distributions at a failure probability."""
    loss = exact_loss(first, second, delta=delta)
    return Finding(max(loss - ROUNDING, 0.0), "every event")
