"""Which responses results are about: not those of versions and links that are too few to stand alone.

Pages, reports and files leave them out, and so does a release that tells how many respondents it is about:
the difference of the two would tell how few they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from server.collect.batches import Key
from server.store.models import Survey


@dataclass(frozen=True)
class ReportableGroups:
    """What results are about, by version and stratum, and what they leave out.

    Attributes
    ----------
    keys : frozenset of Key
        With at least one response each.
    versions_left_out : tuple of int
        The numbers of versions.
    without_left_out : bool
        Whether the responses by the survey's own link, in all versions.
    """

    keys: frozenset[Key]
    versions_left_out: tuple[int, ...]
    without_left_out: bool


def find_reportable(sizes: Mapping[Key, int], survey: Survey) -> ReportableGroups:
    """Which responses results are about, where so many are shown by version and stratum.

    It depends on numbers alone, and on no answer.
    """
    places = [None, *sorted({stratum for _version, stratum in sizes if stratum is not None})]
    table = [[sizes.get((each.id, place), 0) for place in places] for each in survey.versions]
    out, without = choose_left_out(table, survey.minimum)
    keys = {
        (each.id, place)
        for number, each in enumerate(survey.versions)
        for place in places[without:]
        if number not in out and (each.id, place) in sizes
    }
    return ReportableGroups(
        frozenset(keys), tuple(survey.versions[place].number for place in sorted(out)), without
    )


def choose_left_out(sizes: Sequence[Sequence[int]], minimum: int) -> tuple[frozenset[int], bool]:
    """Which versions a survey's results leave out, and whether those without stratum, as too few to stand alone.

    Withholding something else beside them would withhold much for the sake of a few who tried the
    survey out. They enter nothing, so that no difference tells anything about them.

    Parameters
    ----------
    sizes : sequence of sequences of int
        Of each version its responses by stratum, those without stratum first.

    Returns
    -------
    tuple
        The places of the versions, and whether the first column is left out.
    """
    versions: frozenset[int] = frozenset()
    without = False
    while True:
        kept = {
            place: list(row[1:]) if without else list(row)
            for place, row in enumerate(sizes)
            if place not in versions
        }
        small = {place for place, row in kept.items() if 0 < sum(row) < minimum}
        own = sum(row[0] for row in kept.values())
        strata = any(sum(row[1:]) for row in sizes)
        if small:
            versions |= small
        elif strata and not without and 0 < own < minimum:
            without = True
        else:
            return versions, without
