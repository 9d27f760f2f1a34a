"""Whether a survey takes responses: its schedule is set, it is paused, resumed and closed.

Functions take a Session and never commit.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session, object_session

from server.collect import batches, response_counts
from server.collect.untidied_surveys import mark_untidied
from server.inputs import N_, InputError, Problem, refuse
from server.store.models import State, Survey
from server.study import strata, surveys, ticket_keys
from server.study.schedule import Schedule, format_schedule, schedule_of
from server.study.smallest_group import current_waiting_limit
from server.study.surveys import Standing, find_standing, today
from server.study.switches import find_problems


def set_schedule(session: Session, survey: Survey, schedule: Schedule, now: datetime) -> Mapping[str, Any]:
    """Change a survey's settings; those that changed, as they are now.

    Of a closed survey, or one whose closing time has come, only the minimum can be changed: it stays closed. Once a
    survey was published, switching invitations on gives it and its strata new links and closes those before;
    `links` says how many.

    Raises
    ------
    InputError
        Naming every setting that cannot be so.
    """
    before = schedule_of(survey).settings
    changed = {field: value for field, value in schedule.settings.items() if value != before[field]}
    if find_standing(survey, now) in (Standing.CLOSED, Standing.OVER) and changed.keys() - {"minimum"}:
        raise refuse(409, "state", N_("must not be closed; a closed survey stays closed"))
    problems = list(_problems(session, survey, schedule, changed, now))
    if problems:
        raise InputError(422, problems)

    def write() -> None:
        for field, value in changed.items():
            setattr(survey, field, value)

    if "by_invitation" in changed:
        switched = strata.switch(session, survey, write)
        if switched.on and survey.versions:
            changed["links"] = len(switched.on)
    else:
        write()
        session.flush()
    return changed


def pause(survey: Survey) -> None:
    """Take no responses for a while.

    Raises
    ------
    InputError
        If the survey is not open.
    """
    _check_open(survey)
    survey.paused = True


def resume(survey: Survey) -> None:
    """Take responses again.

    Raises
    ------
    InputError
        If the survey is not open.
    """
    _check_open(survey)
    survey.paused = False


def close_survey(survey: Survey) -> bool:
    """Stop taking responses for good, and show what waited; `tidying.tidy` is due once this is committed.

    False, and nothing happens, where it is closed: what waits in it for good (`batches.seal_all`) goes on waiting.

    Raises
    ------
    InputError
        If the survey was never published.
    """
    if survey.state == State.DRAFT:
        raise refuse(409, "state", N_("must be open; a draft takes no responses yet"))
    if survey.state == State.CLOSED:
        return False
    session = object_session(survey)
    assert session is not None
    survey.state = State.CLOSED
    survey.closed_at = surveys.find_closing(survey.closes_at, surveys.now())
    session.flush()  # which waits for responses on their way in: what is sealed is all of them
    batches.seal_all(session.connection(), survey.id, today(), survey.minimum)
    ticket_keys.forget_secrets(session, survey)
    mark_untidied(session, survey.id)
    return True


def _check_open(survey: Survey) -> None:
    if survey.state != State.OPEN:
        raise refuse(409, "state", N_("must be open to be paused or resumed"))


def _problems(
    session: Session, survey: Survey, schedule: Schedule, changed: Mapping[str, Any], now: datetime
) -> list[Problem]:
    problems = []
    fields = format_schedule(schedule)
    if schedule.closes_at is not None and {"closes_at", "opens_at"} & changed.keys():
        if schedule.closes_at <= now:
            template = N_("must be later than now; it is %(value)s")
            problems.append(Problem("closes_at", template, {"value": fields["closes_at"]}))
        elif schedule.opens_at is not None and schedule.closes_at <= schedule.opens_at:
            template = N_("must be later than the opening time, %(limit)s; it is %(value)s")
            values = {"limit": fields["opens_at"], "value": fields["closes_at"]}
            problems.append(Problem("closes_at", template, values))
    if survey.versions and schedule.minimum < survey.minimum:
        template = N_("can only be raised once a survey is published: at least %(limit)s; it is %(value)s")
        problems.append(Problem("minimum", template, {"limit": survey.minimum, "value": schedule.minimum}))
    problems += find_problems(schedule.settings, changed, published=bool(survey.versions))
    if "tickets" in schedule.on:
        problems += _about_tickets(survey, schedule, changed)
    if "minimum" in changed and survey.state != State.CLOSED:
        problems += _above_populations(session, survey, schedule.minimum)
    if schedule.cap is not None and {"cap", "minimum"} & changed.keys():
        # Fewer than the minimum would never be shown; and a smaller number could be used to count what is stored:
        # whether a survey is full must not tell more than what is shown.
        least = max(schedule.minimum, count_most_stored(session, survey) if "cap" in changed else 0)
        if schedule.cap < least:
            template = N_(
                "must be at least %(limit)s, the smallest group shown and all that may be stored by now; "
                "it is %(value)s"
            )
            problems.append(Problem("cap", template, {"limit": least, "value": schedule.cap}))
    return problems


def _about_tickets(survey: Survey, schedule: Schedule, changed: Mapping[str, Any]) -> Iterator[Problem]:
    """Where codes buy tickets, nobody comes in without, from the first response on."""
    if survey.versions and "by_invitation" in changed:
        template = N_("must stay as it was when the survey was published: its codes buy tickets")
        yield Problem("by_invitation", template, {})
    elif not survey.versions and not schedule.by_invitation:
        yield Problem("tickets", N_("must be left out where everybody who has the link may answer"), {})


def _above_populations(session: Session, survey: Survey, minimum: int) -> list[Problem]:
    """A stratum with fewer people than the smallest group shown could not be published with."""
    nodes = strata.walk(strata.tree(session, survey))
    stated = [(node.stratum.population, node.path) for node in nodes if node.stratum.population is not None]
    least, path = min(stated, default=(minimum, ""))
    if least >= minimum:
        return []
    template = N_(
        "must be at most %(limit)s, the population of the stratum “%(stratum)s”; it is %(value)s. Take that "
        "stratum together with another one first"
    )
    return [Problem("minimum", template, {"limit": least, "stratum": path, "value": minimum})]


def count_most_stored(session: Session, survey: Survey) -> int:
    """How many responses there may be at most, as far as what is shown of the survey tells."""
    links = 1 + len(strata.list_leaves(strata.tree(session, survey)))
    cells = len(survey.versions) * links * batches.count_ways(session, survey)
    waiting = cells * max(current_waiting_limit(survey) - 1, 0)
    return sum(response_counts.count_shown(session, survey).values()) + waiting
