"""What was collected: the one door for whoever reads responses.

While a survey is open, everything here but what has `stored` in its name reads the batches that are
sealed (`server.batches`): it changes by as many responses as the survey's minimum, or more. Once it is
closed, that is all responses. Nothing here takes longer because there are more rows of responses.
"""

from collections.abc import Iterator, Mapping
from datetime import date

from sqlalchemy.orm import Session

from server import batches
from server.batches import Key
from server.models import State, Survey, SurveyVersion
from server.tallies import Tally

__all__ = [
    "Key",
    "by_day",
    "pieces",
    "sizes",
    "stored",
    "stored_sizes",
    "stored_tallies",
    "tallies",
    "waiting_limit",
]


def tallies(session: Session, survey: Survey) -> dict[Key, Tally]:
    """What is shown of a survey, by version and stratum; those without any are left out.

    All of it is in memory: for a large survey that is as many bytes as all its report strings have.
    """
    return _together(pieces(session, survey))


def pieces(
    session: Session, survey: Survey, version: SurveyVersion | None = None
) -> Iterator[tuple[Key, Tally]]:
    """The same one batch after the other, of a few megabytes each; of one version, if one is named.

    Those of a version and stratum come one after the other. Patterns are in order within a piece.
    """
    return batches.shown(session, survey, version)


def sizes(session: Session, survey: Survey) -> dict[Key, int]:
    """How many responses are shown, by version and stratum; those without any are left out."""
    return batches.shown_sizes(session, survey)


def by_day(session: Session, survey: Survey) -> Mapping[Key, Mapping[date, int]]:
    """How many responses are shown from each day (UTC) on, by version and stratum."""
    return batches.shown_by_day(session, survey)


def waiting_limit(survey: Survey) -> int:
    """Fewer than so many responses to each version by each link are not shown yet; 0 once the survey is closed.

    It depends on the settings alone, not on whether any response waits.
    """
    return batches.waiting_limit(survey.minimum) if survey.state == State.OPEN else 0


def stored(session: Session, survey: Survey) -> int:
    """How many responses are stored, those that wait included: for caps, never to be shown of an open survey."""
    return batches.stored(session, [survey.id])[survey.id]


def stored_sizes(session: Session, survey: Survey) -> dict[Key, int]:
    """As `sizes`, those that wait included: for releases, whose noise hides each of them."""
    found = batches.shown_sizes(session, survey)
    for key, n in batches.waiting_sizes(session, survey).items():
        found[key] = found.get(key, 0) + n
    return found


def stored_tallies(session: Session, survey: Survey) -> dict[Key, Tally]:
    """As `tallies`, those that wait included: for releases.

    How many are sealed depends on how many there are: one response less could take a whole batch
    away, and the noise of a release hides one response.
    """
    return _together(_stored(session, survey))


def _stored(session: Session, survey: Survey) -> Iterator[tuple[Key, Tally]]:
    yield from batches.shown(session, survey)
    yield from batches.waiting(session, survey)


def _together(parts: Iterator[tuple[Key, Tally]]) -> dict[Key, Tally]:
    found: dict[Key, list[Tally]] = {}
    for key, tally in parts:
        found.setdefault(key, []).append(tally)
    return {key: Tally.joined(own) for key, own in found.items()}
