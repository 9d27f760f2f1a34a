"""What was collected: the one way for whoever reads responses.

While a survey is open, everything here reads the batches that are sealed (`server.collect.batches`), and
changes by as many responses as the survey's minimum, or more; but for releases that hide who took part
(`read_for_release`), which count those that wait, too, and none that was taken back. Once it is closed, that is all
responses, but for those that would stand alone (`server.collect.batches.closing`). Nothing here
takes longer because there are more rows of responses.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial

from sqlalchemy.orm import Session, SessionTransaction

from server.collect import batches
from server.collect.batches import Key, Margin
from server.collect.reportable_groups import find_reportable
from server.collect.tallies import Tally
from server.store.models import Mode, Survey
from server.study.retention import require_counts

__all__ = [
    "NOTHING",
    "Collected",
    "Key",
    "Margin",
    "count_reportable",
    "count_reportable_by_day_of",
    "count_shown",
    "count_shown_by_day",
    "read_for_release",
    "read_shown",
    "read_shown_by_mode",
]


@dataclass(frozen=True, eq=False)
class WeeklyTallies:
    """Responses by version, stratum and the week in which they were first shown; None where it is not known.

    Attributes
    ----------
    count : callable
        How many there are.
    pieces : callable
        Those to a version, by its id; read anew each time.
    """

    count: Callable[[], Mapping[Key, Mapping[str | None, int]]]
    pieces: Callable[[int], Iterator[tuple[Key, str | None, Tally]]]


NO_WEEKS = WeeklyTallies(dict, lambda _version_id: iter(()))


@dataclass(frozen=True, eq=False)
class Collected:
    """Responses by version and stratum; those without any are left out.

    Attributes
    ----------
    sizes : mapping
        How many there are.
    margins : mapping
        How often each report arrived in each byte: a vector, the reports of the first byte first.
    pieces : callable
        The responses to a version, by its id, in pieces of a few megabytes each with its key. They are
        read anew each time.
    weekly : WeeklyTallies
        The same by week, where that is told at all.
    """

    sizes: Mapping[Key, int]
    margins: Mapping[Key, Margin]
    pieces: Callable[[int], Iterator[tuple[Key, Tally]]]
    weekly: WeeklyTallies = NO_WEEKS


NOTHING = Collected({}, {}, lambda _version_id: iter(()))
"""What there is before the first response."""


def read_shown(session: Session, survey: Survey) -> Collected:
    """What is shown of a survey. The session stays as it is, and open, for as long as it is read from.

    Raises
    ------
    InputError
        410 if it was deleted, as its days were over.
    """
    require_counts(survey)
    versions = {version.id: version for version in survey.versions}
    moment = session.get_transaction() or session.begin()

    def pieces(version_id: int) -> Iterator[tuple[Key, Tally]]:
        _check_moment(session, moment)
        return batches.read_sealed(session, survey, versions[version_id])

    def weekly_pieces(version_id: int) -> Iterator[tuple[Key, str | None, Tally]]:
        _check_moment(session, moment)
        return batches.read_sealed_weeks(session, survey, versions[version_id])

    def count_weeks() -> Mapping[Key, Mapping[str | None, int]]:
        _check_moment(session, moment)
        return batches.count_sealed_by_week(session, survey)

    return Collected(
        batches.count_sealed(session, survey),
        _margins(session, survey),
        pieces,
        WeeklyTallies(count_weeks, weekly_pieces),
    )


def read_shown_by_mode(session: Session, survey: Survey) -> Mapping[Mode, Collected]:
    """As `read_shown`, apart by the way in which they were collected; those ways without any are left out."""
    sizes: dict[Mode, dict[Key, int]] = {}
    for (key, mode), n in batches.count_sealed_by_mode(session, survey).items():
        sizes.setdefault(mode, {})[key] = n
    versions = {version.id: version for version in survey.versions}
    moment = session.get_transaction() or session.begin()

    def read_pieces(mode: Mode, version_id: int) -> Iterator[tuple[Key, Tally]]:
        _check_moment(session, moment)
        return batches.read_sealed(session, survey, versions[version_id], mode)

    return {
        mode: Collected(own, _margins(session, survey, mode), partial(read_pieces, mode))
        for mode, own in sizes.items()
    }


def read_for_release(session: Session, survey: Survey, neighbours: str) -> Collected:
    """What a release counts: it depends on what its noise has to hide.

    Under unbounded neighbours, where one response more or less must hardly show, all that are stored: how many
    are sealed depends on how many there are, so that one less could take a whole batch away. Under bounded ones
    somebody answers otherwise, by the same link, to the same version, at the same time: which responses
    pages are about depends on no answer, and a release, which tells their number exactly, is about the same
    (docs/privacy/open_surveys.md).

    Parameters
    ----------
    neighbours : {"unbounded", "bounded"}

    Raises
    ------
    InputError
        As `read_shown`.
    """
    require_counts(survey)
    match neighbours:
        case "bounded":
            return _read_reportable(session, survey)
        case "unbounded":
            return _read_stored(session, survey)
    raise ValueError(f"neighbours must be 'unbounded' or 'bounded'; got {neighbours!r}")


def count_reportable(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses results are about, by version and stratum."""
    sizes = count_shown(session, survey)
    return {key: sizes[key] for key in find_reportable(sizes, survey).keys}


def count_reportable_by_day_of(
    session: Session, surveys: Sequence[Survey]
) -> dict[int, dict[tuple[Key, Mode], Mapping[date, int]]]:
    """The same of several surveys, by their ids; by way of collecting, too, and the day from which they are shown."""
    found = batches.count_sealed_by_day_of(session, surveys)
    told: dict[int, dict[tuple[Key, Mode], Mapping[date, int]]] = {}
    for survey in surveys:
        days = found[survey.id]
        sizes: dict[Key, int] = {}
        for (key, _mode), own in days.items():
            sizes[key] = sizes.get(key, 0) + sum(own.values())
        keys = find_reportable(sizes, survey).keys
        told[survey.id] = {place: own for place, own in days.items() if place[0] in keys}
    return told


def _read_reportable(session: Session, survey: Survey) -> Collected:
    """As `read_shown`, without those that are too few to stand alone."""
    shown = read_shown(session, survey)
    told = find_reportable(shown.sizes, survey).keys
    return Collected(
        {key: n for key, n in shown.sizes.items() if key in told},
        {key: margin for key, margin in shown.margins.items() if key in told},
        lambda version_id: (piece for piece in shown.pieces(version_id) if piece[0] in told),
    )


def _read_stored(session: Session, survey: Survey) -> Collected:
    """As `read_shown`, those that wait included, without those that were taken back and are shown still."""
    versions = {version.id: version for version in survey.versions}
    waiting = list(batches.read_waiting(session, survey))
    leaving = batches.read_removals(session, survey)
    moment = session.get_transaction()

    def pieces(version_id: int) -> Iterator[tuple[Key, Tally]]:
        _check_moment(session, moment)
        left = {key: Counter(strings) for key, strings in leaving.items()}
        for key, tally in batches.read_sealed(session, survey, versions[version_id]):
            yield key, batches.subtract(tally, left[key]) if key in left else tally
        yield from ((key, tally) for key, tally in waiting if key[0] == version_id)

    sizes, margins = batches.count_sealed(session, survey), _margins(session, survey)
    for key, tally in waiting:
        margin = batches.margin_of(tally, versions[key[0]].reports)
        sizes[key] = sizes.get(key, 0) + tally.n
        margins[key] = margins[key] + margin if key in margins else margin
    for key, strings in leaving.items():
        reports = versions[key[0]].reports
        sizes[key] -= strings.total()
        margins[key] = margins[key] - batches.margin_of(
            Tally.of(b"".join(strings.elements()), len(reports)), reports
        )
    return Collected({key: n for key, n in sizes.items() if n}, margins, pieces)


def count_shown(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses are shown, by version and stratum; those without any are left out."""
    return batches.count_sealed(session, survey)


def count_shown_by_day(session: Session, survey: Survey) -> Mapping[Key, Mapping[date, int]]:
    """How many responses are shown from each day (UTC) on, by version and stratum."""
    return batches.count_sealed_by_day(session, survey)


def _check_moment(session: Session, moment: SessionTransaction | None) -> None:
    """What is read later would be of another moment, and nobody would end the transaction that it is read in."""
    if session.get_transaction() is not moment:
        raise RuntimeError("responses are read from a session that has ended")


def _margins(session: Session, survey: Survey, mode: Mode | None = None) -> dict[Key, Margin]:
    return {
        (version.id, stratum): margin
        for version in survey.versions
        for stratum, margin in batches.read_sealed_margins(session, version, mode).items()
    }
