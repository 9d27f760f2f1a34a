"""Answers of made-up people on their way in: onto a survey that is marked for it, or into a rehearsal."""

import atexit
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from threading import Lock
from typing import Any

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session
from sqlalchemy.pool import StaticPool

from server import reports
from server.collect import responses
from server.collect.responses import Arrival
from server.collect.submissions import Submission
from server.inputs import N_, InputError, refuse
from server.output.progress import ProgressReporter, report_no_progress
from server.people import first_researcher, survey_access
from server.simulation.assumptions import Assumptions, check
from server.simulation.made_up_people import Entered, draw_people
from server.simulation.places import Codes, Place, Setting, Spread, build_strata, find_places, group_people
from server.store.engines import migrate
from server.store.models import State, Survey, SurveyVersion
from server.store.own_tables import responses_of
from server.study import surveys
from server.study.definitions import Definition

RESPONDENTS_LIMIT = 1_000_000
REHEARSAL_LIMIT = 10_000
"""Of respondents of a rehearsal, which somebody waits for: two questions to a thousand take a tenth of a second."""

_GROUP = 500
"""Responses that are stored at once."""
_COPYING = Lock()
"""One at a time: the first migrates, and Alembic keeps what it is doing in a global place."""


@dataclass(frozen=True)
class Rehearsal:
    """The report that so many respondents would give, what they had entered, and how they were spread over links."""

    report: reports.Report
    entered: Mapping[str, Entered]
    spread: Spread


def simulate(
    session: Session,
    survey: Survey,
    respondents: int,
    assumptions: Assumptions | None = None,
    path: str = "",
) -> Iterator[int]:
    """Answer a survey as `respondents` made-up people; yields the size of each group, and never commits.

    The caller may commit after a group: the survey is marked in the transaction of the first. Before that it
    yields 0: what comes next is made up without the database, which a commit leaves to others. People come by
    the links of the strata (see `find_places`), with codes of their own where these are asked for.

    Parameters
    ----------
    assumptions : Assumptions
        True shares and means; the usual ones where it says nothing.
    path : str
        Of the stratum whose links they come by; all of them without one.

    Raises
    ------
    InputError
        If a number or name is out of range, there is no such stratum, the survey is not open, or it holds responses
        of real people, which simulated ones would spoil.
    """
    check_respondents(respondents, RESPONDENTS_LIMIT)
    version = survey.current
    if version is None or survey.state != State.OPEN:
        raise refuse(409, "survey", N_("must be open; publish it first"))
    if survey.tickets:
        raise refuse(
            409, "survey", N_("asks for tickets, which nobody buys here; simulate on a copy without")
        )
    definition = surveys.definition_of(version)
    assumptions = check(definition, assumptions or Assumptions())
    yield 0
    made_up = draw_people(definition, respondents, assumptions).reports()
    survey_access.lock(session, survey)
    if not survey.simulated:
        if _has_responses(session, survey):
            raise refuse(409, "survey", N_("holds responses of real people; simulate on a copy"))
        survey.simulated = True
    places, _spread = find_places(session, survey, respondents, path)
    yield from _answer(session, version, made_up, places)


def rehearse(
    definition: Definition,
    respondents: int,
    assumptions: Assumptions,
    setting: Setting | None = None,
    path: str = "",
    report_progress: ProgressReporter = report_no_progress,
) -> Rehearsal:
    """What a survey would find, before it is launched: on a database of its own, which is gone afterwards.

    The same tables and the same code as for real responses, from the acceptance to the report. `setting` brings
    the strata and whether they are by invitation; people come by the links below `path`, or by all.
    `report_progress` learns how many have answered.

    Raises
    ------
    InputError
        If a number or name is out of range, or there is no stratum at `path`.
    """
    check_respondents(respondents, REHEARSAL_LIMIT)
    people = draw_people(definition, respondents, check(definition, assumptions))
    engine = _open_memory()
    try:
        _copy_migrated(engine)
        with Session(engine, expire_on_commit=False) as session:
            survey = surveys.create(session, first_researcher(session), definition, simulated=True)
            survey.minimum = 1  # nobody is to be protected
            build_strata(session, survey, setting or Setting())
            version = surveys.publish(session, survey, keep_brackets=True)
            places, spread = find_places(session, survey, respondents, path)
            done = 0
            for number in _answer(session, version, people.reports(), places):
                report_progress(done := done + number, respondents)
            report = reports.read(session, survey)
    finally:
        engine.dispose()
    return Rehearsal(report, people.find_entered(), spread)


def _open_memory() -> sa.Engine:
    """One connection, for whichever thread: the database lasts as long as it does."""
    return sa.create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})


def _copy_migrated(engine: sa.Engine) -> None:
    """Give an empty database in memory its tables: to migrate each would take longer than most rehearsals."""
    with (
        _COPYING,
        closing(_migrate_memory().raw_connection()) as source,
        closing(engine.raw_connection()) as target,
    ):
        driver: Any = source.driver_connection
        driver.backup(target.driver_connection)


@lru_cache(maxsize=1)
def _migrate_memory() -> sa.Engine:
    """The one that is migrated, and that nobody writes to."""
    engine = _open_memory()
    migrate(engine)
    atexit.register(engine.dispose)
    return engine


def _answer(
    session: Session, version: SurveyVersion, made_up: NDArray[np.uint8], places: Sequence[Place]
) -> Iterator[int]:
    rows = (row.tobytes() for row in made_up)
    known_links = responses.Links()
    codes = Codes(session, version.survey)
    for links in group_people(places, _GROUP):
        group = [
            Arrival(place.slug, Submission(secrets.token_bytes(16), version.sha256, row, code))
            for place, number in links
            for code, row in zip(codes.make(place, number), islice(rows, number), strict=True)
        ]
        for outcome in responses.accept_all(session.connection(), group, surveys.now(), known_links):
            if isinstance(outcome, InputError):
                raise outcome
        yield len(group)


def check_respondents(respondents: int, limit: int) -> None:
    """Refuse to make up nobody, or more than the limit."""
    if not 1 <= respondents <= limit:
        raise refuse(
            422,
            "respondents",
            N_("must be from %(low)s to %(high)s; it is %(value)s"),
            low=1,
            high=limit,
            value=respondents,
        )


def _has_responses(session: Session, survey: Survey) -> bool:
    return bool(session.scalar(sa.select(sa.exists().select_from(responses_of(survey.id)))))
