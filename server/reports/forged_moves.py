"""How far made-up responses could move an estimate: by what is sent alone, so by the inverse of its designs.

Who has an open link answers as often as they like, and nobody can tell. Whatever they send, each of their responses
holds one report of each question, so that an estimate moves by no more than the largest difference which one report
makes to it, times the part of the responses that are made up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design
from server.privacy.estimators.coefficients import (
    Coefficients,
    mean_coefficients,
    share_coefficients,
)
from server.reports.admission import LINK, Admission
from server.reports.version_designs import VersionDesigns, VersionedQuestion

FORGED: Final = 0.01
"""Of the responses: how many made-up ones reports say what they could do."""


@dataclass(frozen=True, eq=False)
class ForgedMove:
    """What `FORGED` of the responses to a question, counting the same, could move at most.

    Attributes
    ----------
    question : VersionedQuestion
    share : float or None
        Any share of it, as a fraction; it can exceed 1. None where no share is told.
    mean : float or None
        The mean of a number that everybody gives, or of the levels of a scale, in its unit.
    whole_range : bool
        Whether the mean is one among those who answered: which divides by an estimate, and can move by anything.
    """

    question: VersionedQuestion
    share: float | None
    mean: float | None
    whole_range: bool


def has_open_link(admissions: Sequence[Admission]) -> bool:
    """Whether some link let in everybody who had it, or may have: where it is not known, too."""
    return any(LINK in each.ways or not each.known for each in admissions)


def list_moves(designs: VersionDesigns) -> Iterator[ForgedMove]:
    """Of every question of every version."""
    for versioned in designs.questions:
        question = versioned.question
        share = FORGED * max(_reach(share_coefficients([design])) for design in question.designs)
        mean = None
        if question.ends is not None and not question.prefer_not_to_say:
            mean = FORGED * _reach(mean_coefficients([question.designs[0]], *question.ends))
        told = bool(question.answers[question.first_answer :])
        yield ForgedMove(
            versioned,
            share if told else None,
            mean,
            question.ends is not None and question.prefer_not_to_say,
        )


def measure_joint_move(designs: Sequence[Sequence[Design]]) -> float:
    """The same of any cell of a table of several questions together, as a fraction: of each its designs."""
    used = [{design.weights.tobytes(): design for design in some}.values() for some in designs]
    return FORGED * max(_reach_together(together) for together in product(*used))


def moves_json(designs: VersionDesigns, admissions: Sequence[Admission]) -> dict[str, Any] | None:
    """What they could move, for programs; nothing where every link asked for a code all the time."""
    if not has_open_link(admissions):
        return None
    moves = [
        {
            "question": move.question.question.name,
            "versions": list(move.question.versions),
            "share": move.share,
            "mean": move.mean,
            "mean_of_answered": "whole range" if move.whole_range else None,
        }
        for move in list_moves(designs)
    ]
    return {"forged": FORGED, "at_most": moves}


def list_move_texts(
    designs: VersionDesigns, admissions: Sequence[Admission]
) -> Iterator[tuple[str, str, str]]:
    """The same as texts: the question, what it is and what it says."""
    for move in (moves_json(designs, admissions) or {"at_most": []})["at_most"]:
        for what in ("share", "mean", "mean_of_answered"):
            if move[what] is not None:
                yield move["question"], f"forging.{what}", str(move[what])


def _reach(coefficients: Coefficients) -> float:
    """The largest difference that one report makes to an estimate of its own."""
    return float(np.ptp(_possible(coefficients), axis=1).max())


def _reach_together(designs: Sequence[Design]) -> float:
    """What a cell counts is the product of what each of its answers counts, whose reports are chosen freely."""
    low, high = np.ones(1), np.ones(1)
    for design in designs:
        counted = _possible(share_coefficients([design]))
        ends = counted.min(axis=1), counted.max(axis=1)
        corners = [np.multiply.outer(so_far, end).ravel() for so_far in (low, high) for end in ends]
        low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    return float((high - low).max())


def _possible(coefficients: Coefficients) -> NDArray[np.float64]:
    """Of reports that some truth can send."""
    return coefficients.numerators[:, coefficients.denominator > 0]
