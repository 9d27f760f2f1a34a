"""`accept` is the way in without a web framework, and several share one transaction."""

import json
import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from threading import Thread

import pytest
import sqlalchemy as sa

from server.collect import batches, invitation_batches, responses
from server.collect.responses import Arrival
from server.collect.submissions import parse_submission
from server.inputs import InputError
from server.store.engines import make_engine
from server.store.models import Survey
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, list_responses, writing

NOW = datetime(2024, 5, 6, 7, 8, 9)  # noqa: DTZ001 - in UTC, as the database holds times
HOUR, RESOLUTION = timedelta(hours=1), timedelta.resolution

WITHOUT_FLASK = """
import json, sys
from datetime import datetime

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"flask", "werkzeug", "flask_babel", "jinja2", "click", "granian"}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
from server.collect import responses
from server.store.engines import make_engine, migrate

database_url, slug, *bodies = sys.argv[1:]
engine = make_engine(database_url)
migrate(engine)
with engine.execution_options(moneda_writes=True).begin() as connection:
    for body in bodies:
        try:
            print(responses.accept(connection, slug, body.encode(), datetime(2024, 5, 6)).value)
        except ValueError as error:
            print(error.status)
engine.dispose()
"""


def _bodies(survey: Published) -> list[str]:
    """Good, bad, good, the first again, bad, good."""
    first, second, third = (survey.response([k % 2, 1]) for k in range(3))
    return [
        json.dumps(first),
        "not JSON",
        json.dumps(second),
        json.dumps(first),
        json.dumps(survey.response([9, 1])),
        json.dumps(third),
    ]


def test_response_is_stored_where_flask_cannot_be_imported(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)

    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", WITHOUT_FLASK, database_url, survey.slug, *_bodies(survey)],
        cwd=factories.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.stderr, done.stdout.split()) == ("", ["201", "400", "201", "200", "422", "201"])
    assert len(list_responses(database_url)) == 3


def test_block_would_notice_flask(sqlite: NewDatabase) -> None:
    """The broken twin: the same process, with a module that needs Flask."""
    script = WITHOUT_FLASK.replace("from server.collect import responses", "from server.web import context")

    done = subprocess.run(
        [sys.executable, "-c", script, sqlite(True), "slug"],
        cwd=factories.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert "flask is blocked" in done.stderr


def test_refused_response_leaves_the_rest_of_the_transaction_alone(
    survey: Published, database_url: str
) -> None:
    engine = make_engine(database_url)
    outcomes: list[int] = []
    with engine.execution_options(moneda_writes=True).begin() as connection:
        for body in _bodies(survey):
            try:
                outcomes.append(responses.accept(connection, survey.slug, body.encode(), NOW).value)
            except InputError as error:
                outcomes.append(error.status)
    engine.dispose()

    assert outcomes == [201, 400, 201, 200, 422, 201]
    assert sorted(bytes(row[2]) for row in list_responses(database_url)) == [b"\0\1", b"\0\1", b"\1\1"]  # type: ignore[call-overload]


def test_nothing_is_stored_before_the_caller_commits(survey: Published, database_url: str) -> None:
    engine = make_engine(database_url)

    with engine.connect() as connection:
        responses.accept(connection, survey.slug, json.dumps(survey.response()).encode(), NOW)
        assert connection.scalar(sa.text("SELECT count(*) FROM responses_1")) == 1

    engine.dispose()
    assert not list_responses(database_url)


@pytest.mark.parametrize("slug", ["", "\x00", "\ud800", "é", "x" * 5000, "' OR 1=1 --", "%"])
def test_link_that_no_survey_can_have_is_refused_and_not_an_error(
    slug: str, survey: Published, database_url: str
) -> None:
    body = json.dumps(survey.response()).encode()
    engine = make_engine(database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        with pytest.raises(InputError) as refusal:
            responses.accept(connection, slug, body, NOW)
        assert responses.accept(connection, survey.slug, body, NOW).value == 201
    engine.dispose()

    assert refusal.value.status == 404


def test_closing_waits_for_responses_on_their_way_in(survey: Published, database_url: str) -> None:
    """What is counted once a survey is closed is final: nothing arrives behind it."""
    engine = make_engine(database_url)
    counted: list[int] = []

    def close() -> None:
        factories.close(database_url, survey.slug)
        counted.append(len(list_responses(database_url)))

    with engine.execution_options(moneda_writes=True).begin() as connection:
        responses.accept(connection, survey.slug, json.dumps(survey.response()).encode(), NOW)
        closing = Thread(target=close)
        closing.start()
        closing.join(0.5)
    closing.join()
    engine.dispose()

    assert counted == [1]


def _outcomes(
    database_url: str, links: Sequence[str], bodies: Sequence[Mapping[str, object]], now: datetime = NOW
) -> list[tuple[int, str]]:
    """Take responses by these links as one group; statuses and the fields at fault."""
    arrivals = [
        Arrival(link, parse_submission(json.dumps(body).encode()))
        for link, body in zip(links, bodies, strict=True)
    ]
    with writing(database_url) as session:
        outcomes = responses.accept_all(session.connection(), arrivals, now, responses.Links())
    return [
        (outcome.status, outcome.problems[0].field)
        if isinstance(outcome, InputError)
        else (outcome.value, "")
        for outcome in outcomes
    ]


def test_link_of_a_leaf_carries_its_stratum_and_other_strata_have_none(
    survey: Published, database_url: str
) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain > Madrid\nSpain > Toledo\nKenya")
    links = [slugs["Spain > Madrid"], slugs["Kenya"], survey.slug, slugs["Spain"], "nosuchsurvey"]

    outcomes = _outcomes(database_url, links, [survey.response() for _ in links])

    unknown = (404, "survey")
    assert outcomes == [(201, ""), (201, ""), (201, ""), (410, "link"), unknown]
    strata = {row[0]: row[6] for row in factories.dump(database_url)["strata"]}
    assert {strata.get(row[4]) for row in list_responses(database_url)} == {*links[:2], None}


def test_same_id_by_another_link_of_the_survey_is_no_other_response(
    survey: Published, database_url: str
) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain\nKenya")
    body = survey.response()

    together = _outcomes(database_url, [slugs["Spain"], slugs["Kenya"], slugs["Spain"]], [body] * 3)
    later = _outcomes(database_url, [slugs["Spain"], survey.slug], [body] * 2)

    assert together == [(201, ""), (200, ""), (200, "")]
    assert later == [(200, ""), (200, "")]
    assert len(list_responses(database_url)) == 1


@pytest.mark.parametrize(
    ("settings", "before", "within", "after"),
    [
        ({"opens_at": NOW - HOUR, "closes_at": NOW + HOUR}, 423, 201, 410),
        ({"opens_at": NOW - HOUR, "closes_at": NOW + HOUR, "paused": True}, 423, 423, 410),
        ({"paused": True}, 423, 423, 423),
        ({"cap": 1}, 201, 410, 410),
        ({}, 201, 201, 201),
    ],
)
def test_survey_takes_responses_in_its_times_unless_paused_or_full(
    settings: dict[str, object], before: int, within: int, after: int, survey: Published, database_url: str
) -> None:
    factories.settle(database_url, survey.slug, **settings)

    statuses = [
        _outcomes(database_url, [survey.slug], [survey.response()], moment)[0][0]
        for moment in (NOW - HOUR - RESOLUTION, NOW - HOUR, NOW + HOUR - RESOLUTION, NOW + HOUR)
    ]

    assert statuses == [before, within, within, after]


def test_each_state_refuses_in_its_own_words_and_takes_retries(survey: Published, database_url: str) -> None:
    body, messages = survey.response(), set()
    assert _outcomes(database_url, [survey.slug], [body]) == [(201, "")]
    states: list[dict[str, object]] = [
        {"cap": 1},
        {"cap": None, "paused": True},
        {"paused": False, "opens_at": NOW + HOUR},
        {"opens_at": None, "closes_at": NOW - HOUR},
    ]
    for state in states:
        factories.settle(database_url, survey.slug, **state)
        assert _outcomes(database_url, [survey.slug], [body]) == [(200, "")]
        arrival = Arrival(survey.slug, parse_submission(json.dumps(survey.response()).encode()))
        with writing(database_url) as session:
            (refusal,) = responses.accept_all(session.connection(), [arrival], NOW, responses.Links())
        assert isinstance(refusal, InputError)
        messages.add(str(refusal))

    assert len(messages) == len(states)
    assert len(list_responses(database_url)) == 1


def test_cap_holds_exactly_within_a_group_and_among_racing_ones(survey: Published, database_url: str) -> None:
    """Ten racers with groups of five each, for 33 places."""
    factories.settle(database_url, survey.slug, cap=33)

    def race() -> list[tuple[int, str]]:
        return _outcomes(database_url, [survey.slug] * 5, [survey.response() for _ in range(5)])

    with ThreadPoolExecutor(10) as racers:
        racing = [racers.submit(race) for _ in range(10)]
    outcomes = Counter(outcome for race_ in racing for outcome in race_.result())

    assert outcomes == {(201, ""): 33, (410, "survey"): 17}
    assert len(list_responses(database_url)) == 33


def test_groups_that_take_the_same_in_opposite_orders_do_not_wait_for_each_other(
    survey: Published, database_url: str
) -> None:
    """Two surveys, and the same ids in both: without an order of locks, PostgreSQL would end one of the two."""
    other = factories.publish(database_url)
    ids = [secrets.token_hex(16) for _ in range(40)]

    def send(first: Published, second: Published, order: Sequence[str]) -> list[tuple[int, str]]:
        links = [first.slug, second.slug] * (len(order) // 2)
        return _outcomes(database_url, links, [survey.response(id=each) for each in order])

    with ThreadPoolExecutor(2) as racers:
        for _ in range(5):
            one = racers.submit(send, survey, other, ids)
            two = racers.submit(send, other, survey, ids[::-1])
            assert {status for status, _field in one.result() + two.result()} <= {200, 201}

    assert len(list_responses(database_url)) == len(ids)


def test_groups_with_the_same_codes_in_opposite_orders_use_each_once(database_url: str) -> None:
    """Whoever waits for a code of the other's group, where that waits for one of his, would be ended by PostgreSQL."""
    survey = factories.publish(database_url)
    factories.settle(database_url, survey.slug, by_invitation=True)
    with writing(database_url) as session:
        (link,) = session.scalars(sa.select(Survey.link))
    codes = factories.invite(database_url, link, 200)

    def send(order: Sequence[str]) -> list[tuple[int, str]]:
        return _outcomes(
            database_url, [link] * len(order), [survey.response(invitation=each) for each in order]
        )

    with ThreadPoolExecutor(2) as racers:
        for start in range(0, len(codes), 40):
            together = codes[start : start + 40]
            racing = [racers.submit(send, order) for order in (together, together[::-1])]
            outcomes = Counter(outcome for race in racing for outcome in race.result())
            assert outcomes == {(201, ""): 40, (409, "invitation"): 40}

    assert len(list_responses(database_url)) == len(codes)


def test_known_among_new_ones_is_stored_once_and_leaves_its_other_code_unused(
    survey: Published, database_url: str
) -> None:
    factories.settle(database_url, survey.slug, by_invitation=True)
    with writing(database_url) as session:
        (link,) = session.scalars(sa.select(Survey.link))
    first, other, *codes = factories.invite(database_url, link, 5)
    known = survey.response(invitation=first)
    assert _outcomes(database_url, [link], [known]) == [(201, "")]

    group = [survey.response(invitation=codes[0]), {**known, "invitation": other}]
    again = _outcomes(database_url, [link] * 3, [*group, survey.response(invitation=codes[1])])
    last = _outcomes(database_url, [link] * 2, [known, survey.response(invitation=other)])

    assert again == [(201, ""), (200, ""), (201, "")]
    assert last == [(200, ""), (201, "")]
    assert len(list_responses(database_url)) == 4
    with writing(database_url) as session:
        assert batches.count_stored(session, 1) == 4
        ((_batch, used),) = invitation_batches.count_used_codes(session, session.get_one(Survey, 1))
    assert used == 4


@pytest.mark.parametrize("twice", [False, True])
def test_id_that_is_taken_is_stored_once_among_new_ones(
    twice: bool, survey: Published, database_url: str
) -> None:
    known = survey.response([1, 0])
    assert _outcomes(database_url, [survey.slug], [known]) == [(201, "")]
    taken = [{**known, "reports": [0, 1]}] * (2 if twice else 1)

    outcomes = _outcomes(
        database_url,
        [survey.slug] * (2 + len(taken)),
        [survey.response(), *taken, survey.response()],
    )

    assert outcomes == [(201, ""), *[(200, "")] * len(taken), (201, "")]
    assert len(list_responses(database_url)) == 3
    with writing(database_url) as session:
        assert batches.count_stored(session, 1) == 3
