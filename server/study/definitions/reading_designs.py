"""What the privacy library refuses is refused where it is read: by the functions that refuse it later."""

from collections.abc import Iterable, Sequence

from server.inputs.problems import N_, Problem
from server.privacy.designs import Design
from server.privacy.estimators.inverse import left_inverse
from server.study.definitions import Entry, Question


def design_problems(entries: Sequence[Entry]) -> list[Problem]:
    """Each question whose designs cannot be made, or whose reports nothing can be estimated from.

    Schema and rules do not see all of it: two chances that differ by 1e-10 are one in 32 bits.
    Questions that wait for a share of the survey's budget are left out.
    """
    problems = []
    for place, entry in enumerate(entries):
        if not isinstance(entry, Question) or (entry.choice.by_share and entry.share is None):
            continue
        try:
            usable = are_usable(entry.designs)
        except ValueError:
            usable = False
        if not usable:
            problems.append(Problem(f"questions[{place}].design", _UNUSABLE, {}))
    return problems


_UNUSABLE = N_("must give reports that tell the answers apart; rounded to 32 bits, these chances do not")


def are_usable(designs: Iterable[Design]) -> bool:
    """Whether each design can be inverted, so that shares can be estimated from its reports."""
    try:
        for design in set(designs):
            left_inverse(design)
    except ValueError:
        return False
    return True
