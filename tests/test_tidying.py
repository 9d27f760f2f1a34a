"""After a study, what is stored depends on its content alone; where that could not be reached, it is said."""

import json
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server import responses, tidying
from server.db import make_engine
from tests import factories
from tests.conftest import NewDatabase
from tests.factories import Published, dump, stored
from tests.traces_of_order import postgresql_rows

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
PAST = NOW - timedelta(days=1)
HEADER = 100
"""Bytes at the beginning of an SQLite file; counters of changes are among them."""


def _take(database_url: str, survey: Published, bodies: Sequence[dict[str, object]]) -> None:
    """Store responses one by one, each in a transaction of its own."""
    engine = make_engine(database_url)
    for body in bodies:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            responses.accept(connection, survey.slug, json.dumps(body).encode(), NOW)
    engine.dispose()


def _tidy(database_url: str, patience: float = 30.0) -> None:
    engine = make_engine(database_url)
    try:
        tidying.tidy(engine, patience)
    finally:
        engine.dispose()


def _marks(database_url: str) -> int:
    return len(dump(database_url)["untidied"])


@contextmanager
def _reading(database_url: str) -> Iterator[None]:
    """Somebody who reads responses in a transaction, and takes a long time for it."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        connection.execute(sa.text("SELECT count(*) FROM responses"))
        yield
    engine.dispose()


def test_tidied_file_depends_on_content_alone(sqlite: NewDatabase, tmp_path: Path) -> None:
    """The same responses and codes in two orders: the same file, byte for byte."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 300)
    bodies = [survey.response([k % 2, 0], invitation=code) for k, code in enumerate(codes)]
    files = [tmp_path / name for name in ("a.sqlite3", "b.sqlite3")]
    contents: list[tuple[bytes, bytes]] = []
    for file, order in zip(files, (bodies, bodies[::-1]), strict=True):
        shutil.copy(database_url.removeprefix("sqlite:///"), file)
        _take(f"sqlite:///{file}", survey, order)
        before = file.read_bytes()[HEADER:]
        _tidy(f"sqlite:///{file}")
        contents.append((before, file.read_bytes()[HEADER:]))

    assert dump(f"sqlite:///{files[0]}") == dump(f"sqlite:///{files[1]}")
    assert contents[0][1] == contents[1][1]
    assert contents[0][0] != contents[1][0]  # the broken twin: without tidying


def test_tidying_keeps_every_row_and_rule(survey: Published, database_url: str) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain\nKenya")
    codes = factories.invite(database_url, survey.slug, 20)
    _take(database_url, survey, [survey.response([0, 1], invitation=code) for code in codes[:10]])
    for code in factories.invite(database_url, survey.slug, 5, slugs["Spain"]):
        body = json.dumps(survey.response(invitation=code)).encode()
        with factories.writing(database_url) as session:
            responses.accept(session.connection(), slugs["Spain"], body, NOW)
    before = dump(database_url)

    _tidy(database_url)

    assert dump(database_url) == before
    assert len(before["responses"]) == 15
    engine = make_engine(database_url)
    with pytest.raises(sa.exc.DBAPIError, match="are immutable"), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE responses SET reports = reports")
    with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
        connection.exec_driver_sql("UPDATE invitations SET batch_id = 12345")
    engine.dispose()


def test_tidied_rows_on_postgresql_have_one_transaction_and_lie_in_the_order_of_keys(
    postgresql: NewDatabase,
) -> None:
    database_url = postgresql(True)
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 40)
    _take(database_url, survey, [survey.response(invitation=code) for code in codes[:30]])
    places = ("responses", "id"), ("invitations", "code_hash")
    before = [postgresql_rows(database_url, *place) for place in places]

    _tidy(database_url)

    for place, untidied in zip(places, before, strict=True):
        rows = postgresql_rows(database_url, *place)
        assert [row[0] for row in rows] == sorted(row[0] for row in untidied)
        assert len({row[2:] for row in rows}) == 1
        assert len({row[2] for row in untidied}) >= 30  # the broken twin


def test_who_stays_is_in_the_way_and_this_is_said(survey: Published, database_url: str) -> None:
    _take(database_url, survey, [survey.response()])
    factories.close(database_url, survey.slug)

    with _reading(database_url):
        _take_nothing_new(database_url)
        with pytest.raises(tidying.UnfinishedError):
            _tidy(database_url, 0.2)
        said = factories.run(database_url, "tidy", "--wait", "0.2", "--json")
        assert _marks(database_url) == 1
    assert said.exit_code == 1
    document = json.loads(said.stdout)
    assert (document["finished"], bool(document["reason"])) == (False, True)

    done = factories.run(database_url, "tidy", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"finished": True, "reason": None})
    assert _marks(database_url) == 0


def _take_nothing_new(database_url: str) -> None:
    """Write something, so that a reader on SQLite holds on to what is not the newest any more."""
    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE surveys SET minimum = minimum")
    engine.dispose()


def test_closing_on_a_page_tidies_or_leaves_it_to_the_next_look(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    overview = f"/manage/surveys/{survey.slug}"
    _take(database_url, survey, [survey.response()])

    with _reading(database_url):
        assert signed_in.post(f"{overview}/close").status_code == 303
        assert signed_in.get(overview).status_code == 200
        assert _marks(database_url) == 1
    assert signed_in.get(overview).status_code == 200

    assert _marks(database_url) == 0
    assert len(stored(database_url)) == 1


@pytest.mark.parametrize("who", ["researcher", "respondent"])
def test_survey_whose_time_is_over_is_closed_at_the_first_look(
    who: str, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    _take(database_url, survey, [survey.response()])
    factories.settle(database_url, survey.slug, closes_at=PAST)

    if who == "researcher":
        assert signed_in.get("/manage/surveys").status_code == 200
    else:
        assert signed_in.get(f"/s/{survey.slug}").status_code == 410

    factories.settle(database_url, survey.slug, closes_at=None)
    assert signed_in.get(f"/s/{survey.slug}").status_code == 410
    assert _marks(database_url) == 0


def test_surveys_are_closed_by_the_operator_once_their_time_is_over(
    survey: Published, database_url: str
) -> None:
    other = factories.publish(database_url)
    factories.settle(database_url, survey.slug, closes_at=NOW)

    for moment, closed in ((NOW - timedelta.resolution, set()), (NOW, {survey.slug})):
        with factories.writing(database_url) as session:
            tidying.close_over(session, moment)
        states = {row[1]: row[3] for row in dump(database_url)["surveys"]}
        assert {slug for slug, state in states.items() if state == "closed"} == closed
    assert states[other.slug] == "open"
    assert _marks(database_url) == 1


def test_other_surveys_take_responses_while_one_is_tidied(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    finished, statuses = Event(), []

    def respond() -> None:
        while not finished.is_set():
            statuses.append(client.post(survey.url, json=survey.response()).status_code)

    responding = Thread(target=respond)
    responding.start()
    for _ in range(5):
        _tidy(database_url)
    finished.set()
    responding.join()

    assert set(statuses) == {201}
    assert len(stored(database_url)) == len(statuses)


def test_deleted_rows_leave_no_bytes_in_the_file(sqlite: NewDatabase) -> None:
    """Also before the file is built anew: what is deleted is overwritten."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    bodies = [survey.response(id=secrets.token_hex(16)) for _ in range(500)]
    _take(database_url, survey, bodies)
    file = Path(database_url.removeprefix("sqlite:///"))
    ids = [bytes.fromhex(str(body["id"])) for body in bodies]
    assert sum(each in file.read_bytes() for each in ids) == 500

    engine = make_engine(database_url)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM responses")
    engine.dispose()

    assert not [each for each in ids if each in file.read_bytes()]
