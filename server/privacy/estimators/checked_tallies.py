"""Counts of the combinations of reports that respondents sent to several questions, checked."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from server.privacy._checks import list_entries, whole_numbers
from server.privacy.designs.design import Design, require_design
from server.privacy.estimators.inverse import checked_tally, left_inverse

Tally = Mapping[bytes, int] | Mapping[tuple[int, ...], int] | ArrayLike
"""How many respondents sent each combination: by strings of bytes, by tuples, or the table of counts itself."""
MOST_CELLS = 1024
"""Cells of a joint table, of truths or of reports, that are accepted."""


def checked_designs(designs: Sequence[Design], name: str) -> tuple[Design, ...]:
    """The designs of two or more questions; none singular, together of at most 1024 cells."""
    asked = tuple(list_entries(name, designs))
    if len(asked) < 2:
        raise ValueError(f"{name} must be two or more; there are {len(asked)}")
    for number, design in enumerate(asked):
        require_design(design, f"{name}[{number}]")
    truths, sent = (math.prod(design.weights.shape[axis] for design in asked) for axis in range(2))
    if max(truths, sent) > MOST_CELLS:
        raise ValueError(
            f"{name} must give a table of at most {MOST_CELLS} cells; they give "
            f"{truths} of truths and {sent} of reports"
        )
    for number, design in enumerate(asked):
        left_inverse(design, f"{name}[{number}]")
    return asked


def checked_joint_tally(
    tally: Tally, designs: tuple[Design, ...], name: str, *, empty: bool = False
) -> NDArray[np.int64]:
    """The table of counts, shape (m1, ..., mq); `empty` and what it raises are as in `checked_reports`."""
    sent = tuple(design.weights.shape[1] for design in designs)
    if isinstance(tally, Mapping):
        if not (tally or empty):
            raise ValueError(f"{name} must have a positive sum; it is empty")
        tally = _count_reports(tally, sent, name)
    return checked_tally(tally, designs, name, empty=empty)


def checked_joint_parts(
    tallies: Sequence[Tally], designs: Sequence[Sequence[Design]]
) -> tuple[list[NDArray[np.int64]], list[tuple[Design, ...]]]:
    """Of each part the table of counts, which may be empty, and the designs of the same questions.

    Raises
    ------
    ValueError
        If there is no part, not one of each for every part, or parts ask for other truths.
    """
    listed_tallies, listed_designs = list_entries("tallies", tallies), list_entries("designs", designs)
    if not listed_designs or len(listed_designs) != len(listed_tallies):
        raise ValueError(
            "tallies and designs must have one entry per part, at least one; "
            f"they have {len(listed_tallies)} and {len(listed_designs)}"
        )
    asked = [checked_designs(part, f"designs[{number}]") for number, part in enumerate(listed_designs)]
    truths = [tuple(design.weights.shape[0] for design in part) for part in asked]
    if len(set(truths)) > 1:
        raise ValueError(f"designs must have the same numbers of truths in every part; they have {truths}")
    reports = [
        checked_joint_tally(tally, part, f"tallies[{number}]", empty=True)
        for number, (tally, part) in enumerate(zip(listed_tallies, asked, strict=True))
    ]
    return reports, asked


def _count_reports(
    tally: Mapping[bytes, int] | Mapping[tuple[int, ...], int], sent: tuple[int, ...], name: str
) -> NDArray[np.int64]:
    """The tally as an array of counts."""
    values = whole_numbers(name, list(tally.values())) if tally else np.zeros(0, dtype=np.int64)
    counts = np.zeros(sent, dtype=np.int64)
    patterns: list[object] = list(tally)  # whatever the annotation says: they may come from a file
    for pattern, count in zip(patterns, values.tolist(), strict=True):
        reports = tuple(pattern) if isinstance(pattern, Sequence) else ()
        if len(reports) != len(sent):
            raise ValueError(f"{name} must have {len(sent)} reports in every pattern; one is {pattern!r}")
        for question, (report, reports_of_design) in enumerate(zip(reports, sent, strict=True)):
            if isinstance(report, bool) or not isinstance(report, int | np.integer):
                raise ValueError(f"{name} must have whole numbers as reports; one pattern is {pattern!r}")
            if not 0 <= report < reports_of_design:
                raise ValueError(
                    f"{name} must have reports in [0, {reports_of_design - 1}] for question {question}; "
                    f"one is {report}"
                )
        if count < 0:
            raise ValueError(f"{name} must not have negative counts; {pattern!r} has {count}")
        counts[reports] = count
    return counts
