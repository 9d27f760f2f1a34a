"""What an interval of one look is called: by the method that gave it, so that nobody takes one for another."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_

Row = NDArray[np.float64]

SENTENCES = {
    "wilson": N_("Wilson (1927)"),
    "score": N_("the inverted score test (Tango 1998)"),
    "exact": N_(
        "limits that cover at least as often as they say, whatever the true shares (Blaker 2000, Chernoff 1952)"
    ),
    "added wilson": N_("Wilson’s (1927) for each version and stratum, added (Zou and Donner 2008)"),
    "added score": N_(
        "the inverted score test (Tango 1998) for each version and stratum, added (Zou and Donner 2008)"
    ),
    "fieller": N_("Fieller (1954), for a ratio of two estimates"),
}
"""Every method, in words to be translated; a ratio's is that of Fieller over another one."""


def interval_name(kind: str, rows: Sequence[Row], *, several: bool, ratio: bool = False) -> str:
    """The method of an estimate's interval.

    Parameters
    ----------
    kind : {"wilson", "exact"}
        As the estimators say it: "wilson" stands for the score test, whatever it is applied to.
    rows : sequence of ndarray
        Of the designs of the parts that count, what each possible report adds to each number that is estimated.
    several : bool
        Whether more than one part counts.
    ratio : bool
        Whether it is that of a ratio of two estimates.

    Returns
    -------
    str
        "wilson" where every report adds one of two values, "score" where it may be one of more, "exact"; of
        several parts "added wilson" or "added score"; of a ratio "fieller of ...".
    """
    name = kind
    if kind != "exact":
        name = "wilson" if all(len(np.unique(row.round(9))) <= 2 for row in rows) else "score"
        name = f"added {name}" if several else name
    return f"fieller of {name}" if ratio else name
