"""What a few dishonest submissions can do to an estimate."""

from server.privacy._checks import whole_number
from server.privacy.designs import Design
from server.privacy.estimators.inverse import left_inverse, possible_reports


def manipulation_bound(n: int, forged: int, design: Design) -> float:
    """How far forged submissions can move an estimated share, at most.

    Parameters
    ----------
    n : int
        Number of reports, the forged ones included, at least 1.
    forged : int
        How many of them may be forged, in [0, n].
    design : Design
        The k x m design.

    Returns
    -------
    float
        A fraction (it can exceed 1): forged / n times the largest difference that one
        report makes to any share. For a yes/no design forged / (n |Pr(yes | yes) -
        Pr(yes | no)|), that is m / (2 gamma n) for a coin flip. No forger can do more,
        because all a submission holds is one report.

    Raises
    ------
    ValueError
        If n is below 1, forged is outside [0, n] or the design is singular.

    Examples
    --------
    >>> from server.privacy.designs import coin_flip
    >>> manipulation_bound(1000, 10, coin_flip(0.25))
    0.02
    """
    n = whole_number("n", n, 1)
    forged = whole_number("forged", forged, 0, n)
    reach = left_inverse(design)[:, possible_reports(design)]
    return forged / n * float((reach.max(axis=1) - reach.min(axis=1)).max())
