"""Times as clocks show them, limits, and what of them can be changed when."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import available_timezones

import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.orm import Session

from server.collect import acceptance
from server.inputs import InputError
from server.people import survey_access
from server.store.engines import make_engine, open_session
from server.store.models import State, Survey
from server.study import schedule, strata, surveys
from tests.support import factories

at = datetime.fromisoformat

NOW = at("2026-06-01 12:00")
USUAL = {"time_zone": "Europe/Madrid", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}


def parse_fields(**fields: str) -> schedule.Schedule:
    return schedule.parse_schedule({**USUAL, **fields})


def expect_refusal(**fields: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_fields(**fields)
    assert caught.value.status == 422
    return [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("zone", "clock", "utc"),
    [
        # Offsets as the IANA database has them: Madrid UTC+2 in summer, +1 in winter; Kathmandu +5:45 always.
        ("Europe/Madrid", "2026-07-01T09:00", at("2026-07-01 07:00")),
        ("Europe/Madrid", "2026-12-01T09:00", at("2026-12-01 08:00")),
        ("Asia/Kathmandu", "2026-12-01T09:00", at("2026-12-01 03:15")),
        ("America/Bogota", "2026-12-01 21:30:00", at("2026-12-02 02:30")),
        ("UTC", "2026-02-28T23:59", at("2026-02-28 23:59")),
        # One minute before clocks in Madrid skip an hour, and the first minute after.
        ("Europe/Madrid", "2026-03-29T01:59", at("2026-03-29 00:59")),
        ("Europe/Madrid", "2026-03-29T03:00", at("2026-03-29 01:00")),
        ("Europe/Madrid", "2026-10-25T03:00", at("2026-10-25 02:00")),
    ],
)
def test_time_is_read_as_clocks_of_its_zone_show_it(zone: str, clock: str, utc: datetime) -> None:
    read = parse_fields(time_zone=zone, opens_at=clock)
    assert read.opens_at == utc
    assert schedule.format_schedule(read)["opens_at"] == clock.replace(" ", "T")[:16]


@pytest.mark.parametrize(
    ("clock", "why"),
    [
        ("2026-03-29T02:00", "are put forward then and skip 2026-03-29 02:00"),
        ("2026-03-29T02:59", "are put forward then and skip 2026-03-29 02:59"),
        ("2026-10-25T02:00", "are put back then and show 2026-10-25 02:00 twice"),
        ("2026-10-25T02:59", "are put back then and show 2026-10-25 02:59 twice"),
    ],
)
def test_time_that_clocks_skip_or_show_twice_is_refused(clock: str, why: str) -> None:
    assert expect_refusal(closes_at=clock) == [
        f"closes_at: must be another time: clocks in Europe/Madrid {why}"
    ]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("time_zone", "", "must be a time zone of the list; it is "),
        ("time_zone", "Mars/Olympus", "must be a time zone of the list; it is Mars/Olympus"),
        ("time_zone", "../../etc/passwd", "must be a time zone of the list"),
        ("opens_at", "tomorrow", "must be a day and time from 2000-01-01 to 2199-12-30"),
        ("opens_at", "2026-02-30T09:00", "as 2026-03-01T09:00; it is 2026-02-30T09:00"),
        ("opens_at", "1999-12-31T23:59", "must be a day and time from 2000-01-01"),
        ("closes_at", "2199-12-31T00:00", "to 2199-12-30"),
        ("closes_at", "275760-09-13T00:00", "to 2199-12-30"),
        ("closes_at", "2026-01-01T24:00", "it is 2026-01-01T24:00"),
        ("closes_at", "2026-01-01T09:00:30", "it is 2026-01-01T09:00:30"),
        ("cap", "0", "must be a whole number from 1 to 10000000; it is 0"),
        ("cap", "10000001", "must be a whole number from 1 to 10000000; it is 10000001"),
        ("cap", "1.5", "it is 1.5"),
        ("cap", "٣", "it is ٣"),
        ("cap", "9" * 5000, "must be a whole number from 1 to 10000000; it is 999"),
        ("minimum", "", "must be a whole number from 3 to 1000; it is "),
        ("minimum", "2", "must be a whole number from 3 to 1000; it is 2"),
        ("minimum", "1001", "it is 1001"),
    ],
)
def test_setting_that_is_wrong_is_named(field: str, value: str, said: str) -> None:
    (problem,) = expect_refusal(**{field: value})
    assert problem.startswith(f"{field}: must be ")
    assert said in problem


def test_every_wrong_setting_is_named_at_once() -> None:
    told = expect_refusal(time_zone="x", opens_at="x", closes_at="x", cap="x", minimum="x")
    assert [problem.partition(":")[0] for problem in told] == list(USUAL)


@given(
    zone=st.sampled_from([name for name in sorted(available_timezones()) if "/" in name]),
    clock=st.datetimes(at("2000-01-01 00:00"), at("2199-12-30 00:00")),
)
def test_every_time_comes_back_as_it_was_typed_or_is_refused(zone: str, clock: datetime) -> None:
    typed = clock.strftime("%Y-%m-%dT%H:%M")
    try:
        read = parse_fields(time_zone=zone, opens_at=typed)
    except InputError:
        return
    assert schedule.format_schedule(read)["opens_at"] == typed
    assert read.opens_at is not None
    assert abs(read.opens_at - clock) < timedelta(hours=27)


@pytest.fixture
def session_and_survey(database_url: str) -> Iterator[tuple[Session, Survey]]:
    """A published survey that shows groups of ten, on SQLite and on PostgreSQL."""
    slug = factories.publish(database_url).slug
    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        survey.minimum = 10
        session.commit()
        yield session, survey
    engine.dispose()


def settle(session: Session, survey: Survey, **fields: str) -> Mapping[str, Any]:
    return acceptance.set_schedule(session, survey, parse_fields(**fields), NOW)


def not_settled(session: Session, survey: Survey, **fields: str) -> list[str]:
    before = schedule.schedule_of(survey)
    with pytest.raises(InputError) as caught:
        settle(session, survey, **fields)
    session.rollback()
    assert schedule.schedule_of(survey) == before
    return [f"{problem.field}: {problem.message}" for problem in caught.value.problems]


def test_settings_are_changed_together_and_told(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    times = {"opens_at": "2026-07-01T09:00", "closes_at": "2026-08-01T09:00"}

    assert settle(session, survey, **times, cap="50", by_invitation="yes") == {
        "time_zone": "Europe/Madrid",
        "opens_at": at("2026-07-01 07:00"),
        "closes_at": at("2026-08-01 07:00"),
        "cap": 50,
        "by_invitation": True,
        "links": 1,  # closed, and replaced by one that asks for codes
    }

    session.commit()
    session.expire_all()
    assert survey.closes_at == at("2026-08-01 07:00")
    assert settle(session, survey, **times, cap="50", by_invitation="yes") == {}
    nothing = {"opens_at": None, "closes_at": None, "cap": None}
    assert settle(session, survey) == {**nothing, "by_invitation": False}


def test_closing_time_is_after_now_and_after_opening(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    assert not_settled(session, survey, closes_at="2026-06-01T14:00") == [
        "closes_at: must be later than now; it is 2026-06-01T14:00"
    ]
    opening = "2026-07-01T09:00"
    assert not_settled(session, survey, opens_at=opening, closes_at=opening) == [
        f"closes_at: must be later than the opening time, {opening}; it is {opening}"
    ]
    settle(session, survey, opens_at=opening, closes_at="2026-07-01T09:01")
    session.commit()
    assert not_settled(session, survey, opens_at="2026-07-02T09:00", closes_at="2026-07-01T09:01") != []


@pytest.mark.parametrize(
    "change", [{"closes_at": ""}, {"closes_at": "2027-01-01T09:00"}, {"cap": "20"}, {"time_zone": "UTC"}]
)
def test_survey_whose_closing_time_has_come_is_closed_for_good_at_once(
    session_and_survey: tuple[Session, Survey], change: dict[str, str]
) -> None:
    """Not only once somebody has noted it as closed, which may take a minute, or as long as no server runs."""
    session, survey = session_and_survey
    settle(session, survey, closes_at="2026-07-01T09:00")
    session.commit()
    before, last = schedule.schedule_of(survey), at("2026-07-01 07:00")

    for moment in (last, last + timedelta(days=60)):
        with pytest.raises(InputError, match="a closed survey stays closed"):
            acceptance.set_schedule(
                session, survey, parse_fields(**{"closes_at": "2026-07-01T09:00", **change}), moment
            )
    assert schedule.schedule_of(survey) == before
    higher = parse_fields(closes_at="2026-07-01T09:00", minimum="12")
    assert acceptance.set_schedule(session, survey, higher, last) == {"minimum": 12}
    survey.minimum = 10
    just_before = last - timedelta(seconds=1)
    assert acceptance.set_schedule(
        session, survey, parse_fields(**{"closes_at": "2026-07-01T09:00", **change}), just_before
    )


def test_draft_whose_closing_time_has_come_is_not_published(
    signed_in: FlaskClient, database_url: str
) -> None:
    """It would be closed for good before anybody could answer."""
    slug = factories.draft(database_url, factories.definition())
    factories.settle(database_url, slug, closes_at=at("2026-01-01 09:00"), time_zone="Europe/Madrid")
    before = factories.dump(database_url)

    answer = signed_in.post(
        f"/manage/surveys/{slug}/publish", data={"despite_plan": "yes"}, headers={"Accept-Language": "en"}
    )

    assert answer.status_code == 409
    assert "Closing time" in answer.text
    assert "must be later than now; it is 2026-01-01T10:00" in answer.text
    assert factories.dump(database_url) == before
    factories.settle(database_url, slug, closes_at=None)
    assert signed_in.post(f"/manage/surveys/{slug}/publish", data={"despite_plan": "yes"}).status_code == 303


def test_form_that_was_open_when_the_closing_time_came_is_told(
    signed_in: FlaskClient, database_url: str
) -> None:
    """The survey's own form, sent late: nothing of it is dropped in silence; afterwards the page asks for less."""
    survey = factories.publish(database_url, minimum=10)
    factories.settle(database_url, survey.slug, closes_at=at("2026-01-01 09:00"))
    page = f"/manage/surveys/{survey.slug}/schedule"
    form = {"time_zone": "UTC", "opens_at": "", "closes_at": "2199-01-01T09:00", "cap": "", "minimum": "10"}

    late = signed_in.post(page, data=form, headers={"Accept-Language": "en"})

    assert late.status_code == 409
    assert "a closed survey stays closed" in late.text
    assert signed_in.get(f"/s/{survey.slug}").status_code == 410
    shown = signed_in.get(page, headers={"Accept-Language": "en"}).text
    assert 'name="closes_at"' not in shown
    assert "Pause the survey" not in shown
    assert signed_in.post(page, data={"minimum": "12"}).status_code == 303


def test_minimum_of_a_published_survey_can_only_be_raised(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    assert not_settled(session, survey, minimum="9") == [
        "minimum: can only be raised once a survey is published: at least 10; it is 9"
    ]
    assert settle(session, survey, minimum="11")["minimum"] == 11
    draft = Survey(
        slug="draft", owner_id=survey.owner_id, created_on=surveys.today(), minimum=10, time_zone="Europe/Madrid"
    )  # fmt: skip
    session.add(draft)
    session.flush()
    assert settle(session, draft, minimum="3") == {"minimum": 3}


def test_what_respondents_were_told_of_their_device_stays_so(
    session_and_survey: tuple[Session, Survey],
) -> None:
    session, survey = session_and_survey
    assert settle(session, survey, forgets="yes")["forgets"] is True
    session.commit()
    assert not_settled(session, survey, cap="50") == [
        "forgets: must stay on once a survey is published: respondents were told that no note is left"
    ]


def test_tablet_is_not_for_links_that_ask_for_codes(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    assert settle(session, survey, tablet="yes")["tablet"] is True
    session.commit()
    refusal = (
        "tablet: must be off where everybody needs the code of an invitation: a tablet cannot check codes"
    )
    assert not_settled(session, survey, by_invitation="yes", tablet="yes") == [refusal]
    assert settle(session, survey, by_invitation="yes", tablet="")["tablet"] is False
    session.commit()
    assert not_settled(session, survey, by_invitation="yes", tablet="yes") == [refusal]


def test_minimum_is_no_greater_than_the_population_of_a_stratum(
    session_and_survey: tuple[Session, Survey],
) -> None:
    """It could not be published so; once it is closed, small groups are shown as a part of others."""
    session, survey = session_and_survey
    strata.add_strata(session, survey, strata.parse_lines("North > A, 12\nNorth > B, 30\nSouth"))
    session.commit()
    said = (
        "minimum: must be at most 12, the population of the stratum “North > A”; it is 13. Take that stratum together "
        "with another one first"
    )
    assert not_settled(session, survey, minimum="13") == [said]
    assert settle(session, survey, minimum="12")["minimum"] == 12
    acceptance.close_survey(survey)
    session.flush()
    assert settle(session, survey, minimum="13") == {"minimum": 13}


def test_cap_leaves_room_for_all_that_may_be_stored(database_url: str) -> None:
    """Whoever sets it learns no more of how many there are than is shown: 19 may wait by each link, of each version."""
    survey = factories.publish(database_url, minimum=10)
    least = "the smallest group shown and all that may be stored by now"

    def list_refusals(**fields: str) -> list[str]:
        engine = make_engine(database_url)
        with open_session(engine, writes=True) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            told = not_settled(session, found, **fields)
        engine.dispose()
        return told

    for stored, limit in ((0, 19), (19, 19), (5, 33), (5, 33)):
        if stored:
            factories.store(database_url, survey, [((0, 0), stored)])
        assert list_refusals(cap=str(limit - 1)) == [
            f"cap: must be at least {limit}, {least}; it is {limit - 1}"
        ]
    assert list_refusals(cap="9")[0].startswith("cap: must be at least 33, ")
    factories.plant(database_url, survey.slug, "A > B\nC")
    assert list_refusals(cap="70") == [f"cap: must be at least 71, {least}; it is 70"]
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        assert settle(session, found, cap="71")["cap"] == 71
    assert list_refusals(cap="71", minimum="72") == [f"cap: must be at least 72, {least}; it is 71"]


def test_closed_survey_stays_closed(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    acceptance.close_survey(survey)
    session.commit()
    for fields in ({"closes_at": "2027-01-01T09:00"}, {"cap": "100"}, {"by_invitation": "yes"}):
        assert not_settled(session, survey, **fields) == [
            "state: must not be closed; a closed survey stays closed"
        ]
    assert acceptance.set_schedule(session, survey, parse_fields(time_zone="UTC", minimum="12"), NOW) == {
        "minimum": 12
    }
    assert survey.state == State.CLOSED


def test_only_an_open_survey_is_paused(session_and_survey: tuple[Session, Survey]) -> None:
    session, survey = session_and_survey
    acceptance.pause(survey)
    assert survey.paused
    acceptance.resume(survey)
    assert not survey.paused
    acceptance.close_survey(survey)
    for act in (acceptance.pause, acceptance.resume):
        with pytest.raises(InputError, match="must be open to be paused or resumed") as caught:
            act(survey)
        assert caught.value.status == 409
    session.rollback()
