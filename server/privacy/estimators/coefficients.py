"""Estimates as linear functions of counts: what each report adds, over all parts.

A share, a mean and a cell of a joint table are each a sum of one coefficient per report, divided by
another such sum. The coefficients follow from the designs alone, so that they can be applied to
counts that were perturbed before they were published (`released_ratio`) as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from server.privacy._checks import list_entries
from server.privacy.designs.design import Design
from server.privacy.estimators.answered_means import require_prefer_not_to_say
from server.privacy.estimators.checked_tallies import checked_designs
from server.privacy.estimators.inverse import left_inverse, possible_reports
from server.privacy.estimators.joint import cell_coefficients
from server.privacy.estimators.mean_estimates import checked_range


@dataclass(frozen=True)
class Coefficients:
    """What each cell adds to the numerators and to the denominator of estimates.

    A cell is a report, or a combination of reports, of one part: those of the first part, in their
    order, then those of the second, and so on. Combinations are numbered with the last question
    varying fastest.

    Attributes
    ----------
    numerators : ndarray, shape (estimates, cells)
    denominator : ndarray, shape (cells,)
        Zero for reports that no truth can send.
    """

    numerators: NDArray[np.float64]
    denominator: NDArray[np.float64]


def share_coefficients(designs: Sequence[Design]) -> Coefficients:
    """Of the share of each truth.

    Parameters
    ----------
    designs : sequence of Design
        One per part, all with the same k truths.

    Returns
    -------
    Coefficients
        k numerators.

    Raises
    ------
    ValueError
        If there is no design, one is singular, or their numbers of truths differ.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> share_coefficients([coin_flip(0.25), coin_flip(0.4)]).numerators.round(3).tolist()
    [[1.5, -0.5, 1.125, -0.125], [-0.5, 1.5, -0.125, 1.125]]
    """
    inverses = _inverses(designs)
    return Coefficients(np.concatenate(inverses, axis=1), _people(designs))


def mean_coefficients(designs: Sequence[Design], low: float, high: float) -> Coefficients:
    """Of the mean of a number whose k truths stand for equally spaced values from low to high.

    Parameters
    ----------
    designs : sequence of Design
        As in `share_coefficients`.
    low, high : float
        As in `estimate_mean`.

    Returns
    -------
    Coefficients
        One numerator.

    Raises
    ------
    ValueError
        As `share_coefficients`, or if low and high are not finite with low < high.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> mean_coefficients([coin_flip(0.25)], low=0, high=40).numerators.tolist()
    [[-20.0, 60.0]]
    """
    bottom, top = checked_range(low, high)
    rows = [np.linspace(bottom, top, len(inverse)) @ inverse for inverse in _inverses(designs)]
    return Coefficients(np.concatenate(rows)[None, :], _people(designs))


def answered_mean_coefficients(designs: Sequence[Design], low: float, high: float) -> Coefficients:
    """Of the mean among those who gave a number; the last truth is "prefer not to say".

    The denominator adds up those who gave a number. Divided by the denominator of
    `share_coefficients` it gives their share.

    Parameters
    ----------
    designs, low, high
        As in `mean_coefficients`; at least three truths.

    Returns
    -------
    Coefficients
        One numerator.

    Raises
    ------
    ValueError
        As `mean_coefficients`, or if there are fewer than three truths.

    Examples
    --------
    >>> from server.privacy.designs import k_ary
    >>> found = answered_mean_coefficients([k_ary(3, 2.0)], low=0, high=40)
    >>> found.numerators.round(3).tolist(), found.denominator.round(3).tolist()
    ([[-6.261, 52.521, -6.261]], [1.157, 1.157, -0.313])
    """
    bottom, top = checked_range(low, high)
    inverses = _inverses(designs)
    require_prefer_not_to_say(list_entries("designs", designs)[0], "designs[0]")
    rows = [np.linspace(bottom, top, len(inverse) - 1) @ inverse[:-1] for inverse in inverses]
    answers = [inverse[:-1].sum(axis=0) for inverse in inverses]
    return Coefficients(np.concatenate(rows)[None, :], np.concatenate(answers))


def joint_coefficients(designs: Sequence[Sequence[Design]]) -> Coefficients:
    """Of each cell of a joint table of true answers to two or more questions.

    Parameters
    ----------
    designs : sequence of sequences of Design
        Per part one design for each question, as in `estimate_pooled_joint`.

    Returns
    -------
    Coefficients
        A numerator for each combination of truths, the last question varying fastest.

    Raises
    ------
    ValueError
        If there is no part, a part's designs are refused by `estimate_joint`, or the parts'
        numbers of truths differ.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> joint_coefficients([[coin_flip(0.25), coin_flip(0.25)]]).numerators[3].tolist()
    [0.25, -0.75, -0.75, 2.25]
    """
    parts = list_entries("designs", designs)
    if not parts:
        raise ValueError("designs must have one entry per part, at least one; there are none")
    asked = [checked_designs(part, f"designs[{number}]") for number, part in enumerate(parts)]
    truths = [tuple(design.weights.shape[0] for design in part) for part in asked]
    if len(set(truths)) > 1:
        raise ValueError(f"designs must have the same numbers of truths in every part; they have {truths}")
    rows = [
        [cell_coefficients([left_inverse(design) for design in part], cell) for part in asked]
        for cell in np.ndindex(truths[0])
    ]
    people = [
        cell_coefficients(
            [possible_reports(design)[None, :].astype(np.float64) for design in part], (0,) * len(part)
        )
        for part in asked
    ]
    return Coefficients(np.array([np.concatenate(row) for row in rows]), np.concatenate(people))


def _inverses(designs: Sequence[Design]) -> list[NDArray[np.float64]]:
    """The left inverse of each part, all with as many truths."""
    used = list_entries("designs", designs)
    if not used:
        raise ValueError("designs must have one entry per part, at least one; there are none")
    inverses = [left_inverse(design, f"designs[{number}]") for number, design in enumerate(used)]
    truths = [len(inverse) for inverse in inverses]
    if len(set(truths)) > 1:
        raise ValueError(f"designs must all have the same number of truths; they have {truths}")
    return inverses


def _people(designs: Sequence[Design]) -> NDArray[np.float64]:
    return np.concatenate([possible_reports(design) for design in designs]).astype(np.float64)
