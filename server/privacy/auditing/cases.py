"""What is audited: a mechanism, its claim, and how the claim is tried."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from server.privacy.auditing.exact import exact_loss, worst_output
from server.privacy.auditing.sampled import audit
from server.privacy.designs import Design

CONFIDENCE = 1 - 1e-8
"""Of each sampled audit: a hundred of them raise no false alarm but with probability 1e-6."""
ROUNDING = 1e-9
"""More than the rounding of a formula in floats can add to a loss; taken off, so that what is left is certified."""


@dataclass(frozen=True)
class Finding:
    """What one trial showed.

    Attributes
    ----------
    epsilon : float
        Exact loss, or certified lower bound on it, in nats; may be infinite.
    event : str
        Where it shows.
    """

    epsilon: float
    event: str


@dataclass(frozen=True)
class Case:
    """A mechanism on trial.

    Attributes
    ----------
    mechanism : str
        What it is, with its parameters.
    claimed_epsilon : float
        In nats.
    shipped : bool
        Whether this library ships it; otherwise it was published elsewhere and is wrong.
    trial : callable
        Runs it.
    """

    mechanism: str
    claimed_epsilon: float
    shipped: bool
    trial: Callable[[], Finding]


@dataclass(frozen=True)
class Verdict:
    """A case and what came of it.

    Attributes
    ----------
    mechanism, claimed_epsilon, shipped
        As in `Case`.
    certified_epsilon : float
        The mechanism loses at least this much, in nats; may be infinite.
    event : str
        Where it shows.
    verdict : str
        "holds" or "broken" for what is shipped, "caught" or "missed" for what is known to be wrong.
    """

    mechanism: str
    claimed_epsilon: float
    certified_epsilon: float
    event: str
    shipped: bool
    verdict: str

    @property
    def as_it_should_be(self) -> bool:
        """Whether a shipped claim holds, or a wrong one was caught."""
        return self.verdict in ("holds", "caught")


def judge(case: Case) -> Verdict:
    """Try one case."""
    found = case.trial()
    above = found.epsilon > case.claimed_epsilon
    verdict = ("broken" if above else "holds") if case.shipped else ("caught" if above else "missed")
    return Verdict(case.mechanism, case.claimed_epsilon, found.epsilon, found.event, case.shipped, verdict)


def sampled(
    mechanism: Callable[..., Any], input_a: Any, input_b: Any, runs: int, delta: float = 0.0
) -> Callable[[], Finding]:
    """A trial by running."""

    def trial() -> Finding:
        found = audit(mechanism, input_a, input_b, runs, CONFIDENCE, delta=delta)
        first, second = found.hits if found.likelier == "a" else found.hits[::-1]
        event = f"{found.event} ({first:,} against {second:,} of {runs - runs // 2:,})"
        return Finding(found.epsilon, event)

    return trial


def exact(first: ArrayLike, second: ArrayLike, label: Callable[[int], str]) -> Callable[[], Finding]:
    """A trial of two output distributions: whole numbers are weights, floats come from a formula."""

    def trial() -> Finding:
        rounding = ROUNDING if np.asarray(first).dtype.kind == "f" else 0.0
        return Finding(max(exact_loss(first, second) - rounding, 0.0), label(worst_output(first, second)))

    return trial


def exact_design(design: Design) -> Callable[[], Finding]:
    """A trial of a design: its integers are the mechanism."""

    def trial() -> Finding:
        columns = design.weights.T.tolist()
        losses = [math.log(max(column) / min(column)) if max(column) else 0.0 for column in columns]
        return Finding(exact_loss(design), f"report = {losses.index(max(losses))}")

    return trial
