"""After a study, what is stored depends on its content alone; where that could not be reached, it is said."""

import hashlib
import json
import re
import secrets
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import datetime, timedelta
from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlencode, urlsplit

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server import archives
from server.collect import responses, tidying
from server.collect.response_counts import Key
from server.collect.tidying import Patience, UnfinishedError, postgresql, sqlite
from server.collect.tidying.due_marks import Due
from server.collect.tidying.pieces import FEWEST, PIECE
from server.collect.tidying.sqlite import COPIED
from server.collect.tidying.waiting import leave_turn
from server.people import survey_access
from server.store import own_tables
from server.store.engines import make_engine, open_session, snapshot
from server.store.models import Untidied
from server.store.own_tables import responses_of
from server.web.housekeeping import Housekeeper
from tests.conftest import NewDatabase
from tests.support import batch_dumps, factories
from tests.support.factories import Published, Served, dump, list_responses
from tests.support.form_client import end_fields
from tests.support.order_traces import (
    LIMIT,
    PAGE,
    copy_files,
    order_in_log,
    order_in_pages,
    postgresql_rows,
    sqlite_files,
    standardise_order,
)

NOW = datetime(2024, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times
PAST = NOW - timedelta(days=1)
PLACES = ("responses_1", "id"), ("invitations_1", "code_hash")
LEAF = 0x0A
"""The first byte of a page of SQLite that holds rows which lie in the order of their keys."""


def _take(database_url: str, survey: Published, bodies: Sequence[Mapping[str, object]]) -> None:
    """Store responses one by one, each in a transaction of its own."""
    engine = make_engine(database_url)
    for body in bodies:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            responses.accept(connection, survey.slug, json.dumps(body).encode(), NOW)
    engine.dispose()


def _tidy(database_url: str, patience: float = 60.0) -> None:
    engine = make_engine(database_url)
    try:
        tidying.tidy(engine, Patience(patience))
    finally:
        engine.dispose()


def _marks(database_url: str) -> int:
    return len(dump(database_url)["untidied"])


def _wait_for(holds: Callable[[], object]) -> None:
    """As long as it takes: a server does it by itself."""
    while not holds():
        time.sleep(0.1)


@contextmanager
def _holding(database_url: str, *statements: str, writes: bool = False) -> Iterator[None]:
    """Somebody whose transaction stays open for a long time."""
    engine = make_engine(database_url)
    with engine.execution_options(moneda_writes=writes).connect() as connection:
        for statement in statements:
            connection.execute(sa.text(statement))
        yield
    engine.dispose()


def _post(served: Served, path: str, cookie: str = "") -> str:
    """One request and nothing after it; the cookie that came back."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Cookie": cookie}
    with closing(HTTPConnection(urlsplit(served.url).netloc, timeout=60)) as connection:
        connection.request("POST", path, urlencode(end_fields([])), headers)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 303
        return (answer.getheader("Set-Cookie") or "").partition(";")[0]


class Study:
    """A survey by invitation whose responses came one by one, and when each came."""

    def __init__(self, database_url: str, number: int) -> None:
        # As many reports as there are responses: by them a row is known, whatever its id.
        self.survey = factories.publish(database_url, factories.definition([0.25] * 8))
        codes = factories.invite(database_url, self.survey.slug, number)
        self.bodies = [
            self.survey.response([k >> bit & 1 for bit in range(8)], invitation=code)
            for k, code in enumerate(codes[: number * 3 // 4])
        ]
        _take(database_url, self.survey, self.bodies)
        plain = [str(body["invitation"]).replace("-", "").encode() for body in self.bodies]
        self.ids = {factories.stored_id(body): k for k, body in enumerate(self.bodies)}
        self.hashes = {hashlib.sha256(code).digest(): k for k, code in enumerate(plain)}

    def find_new_ids(self, database_url: str) -> None:
        """Those that tidying gave to the same responses."""
        rows = {bytes(row[2]): bytes(row[0]) for row in list_responses(database_url)}  # type: ignore[call-overload]
        reports = [bytes([k >> bit & 1 for bit in range(8)]) for k in range(len(self.bodies))]
        new = {rows[string]: k for k, string in enumerate(reports)}
        assert not new.keys() & self.ids.keys()
        self.ids = new

    def readable(self, database_url: str) -> float:
        """How far what the files tell of the order of arrival is from what chance would tell."""
        if database_url.startswith("sqlite"):
            looks = order_in_pages, order_in_log
            return max(look(database_url, known) for look in looks for known in (self.ids, self.hashes))
        places = zip(PLACES, (self.ids, self.hashes), strict=True)
        rows = [
            [row[0] for row in postgresql_rows(database_url, *place) if row[0] in known]
            for place, known in places
        ]
        orders = zip(rows, (self.ids, self.hashes), strict=True)
        return max(abs(standardise_order([[known[key] for key in keys]])) for keys, known in orders)


@pytest.mark.parametrize("then", ["wait", "stop"])
def test_order_is_unreadable_after_a_close_whose_redirect_is_never_followed(
    then: str, database_url: str, tmp_path: Path
) -> None:
    with _holding(database_url, "SELECT 1"):  # SQLite's log stays as long as somebody may need it
        study = Study(database_url, 150)
        if database_url.startswith("sqlite"):
            before = order_in_log(copy_files(database_url, tmp_path), study.ids)
        else:
            before = study.readable(database_url)
    with factories.serving(database_url) as served:
        cookie = _post(served, urlsplit(served.sign_in_link).path)
        _post(served, f"/manage/surveys/{study.survey.slug}/close", cookie)
        if then == "wait":
            _wait_for(lambda: not _marks(database_url))
    if _marks(
        database_url
    ):  # a machine that was too busy for the last seconds of a server: the next one does it
        with factories.serving(database_url):
            _wait_for(lambda: not _marks(database_url))

    assert before > LIMIT  # the broken twin: the same files, not tidied
    study.find_new_ids(database_url)
    assert study.readable(database_url) < LIMIT
    assert len(list_responses(database_url)) == len(study.bodies)
    if not database_url.startswith("sqlite"):
        for place in PLACES:
            rows = postgresql_rows(database_url, *place)
            assert [row[0] for row in rows] == sorted(row[0] for row in rows)
            assert len({row[2:] for row in rows}) == 1


def test_what_is_due_is_done_when_the_server_stops(survey: Published, database_url: str) -> None:
    _take(database_url, survey, [survey.response()])
    engine = make_engine(database_url)
    housekeeper = Housekeeper(engine)
    housekeeper.start()
    factories.close(database_url, survey.slug)  # by somebody who tells it nothing

    housekeeper.stop(60)

    assert _marks(database_url) == 0
    engine.dispose()


@pytest.fixture(params=["fills in place", "copies", "renames"])
def small_or_large(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What SQLite does with a table of few rows, with a small table, and with a large one."""
    most = {"fills in place": COPIED, "copies": -1, "renames": -1}[request.param]
    monkeypatch.setattr("server.collect.tidying.few_rows.IN_PLACE", most)
    if request.param == "renames":
        monkeypatch.setattr("server.collect.tidying.sqlite.COPIED", -1)
    return str(request.param)


@pytest.mark.usefixtures("small_or_large")
def test_pages_of_a_tidied_survey_depend_on_its_rows_alone(sqlite: NewDatabase, tmp_path: Path) -> None:
    """The same responses and codes in two orders: the same pages of codes, byte for byte, and no id of a response."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 300)
    bodies = [survey.response([k % 2, 0], invitation=code) for k, code in enumerate(codes)]
    ids = [factories.stored_id(body) for body in bodies]
    keys = [hashlib.sha256(code.replace("-", "").encode()).digest() for code in codes]
    pages = []
    for name, order in (("a", bodies), ("b", bodies[::-1])):
        file = tmp_path / f"{name}.sqlite3"
        shutil.copy(database_url.removeprefix("sqlite:///"), file)
        _take(f"sqlite:///{file}", survey, order)
        factories.close(f"sqlite:///{file}", survey.slug)
        before = _pages_with(file, ids + keys)
        _tidy(f"sqlite:///{file}")
        pages.append((before, _pages_with(file, keys)))
        files = sqlite_files(f"sqlite:///{file}")
        assert not any(each in file.read_bytes() for each in ids for file in files)

    assert pages[0][1] == pages[1][1]
    assert pages[0][0] != pages[1][0]  # the broken twin: without tidying


def _pages_with(file: Path, keys: Sequence[bytes]) -> list[bytes]:
    content = file.read_bytes()
    pages = [content[start : start + PAGE] for start in range(0, len(content), PAGE)]
    # Others name pages: where these lie depends on what was there before.
    return sorted(page for page in pages if page[0] == LEAF and any(key in page for key in keys))


def _read_shown(database_url: str, slug: str) -> dict[Key, list[bytes]]:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, slug)
        assert found is not None
        return {
            key: batch_dumps.strings(tally) for key, tally in batch_dumps.dump_shown(session, found).items()
        }


def test_tidying_keeps_every_row_and_rule(survey: Published, database_url: str) -> None:
    _check_that_tidying_keeps_all(survey, database_url)


@pytest.mark.usefixtures("small_or_large")
def test_tidying_of_large_tables_keeps_every_row_and_rule(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    _check_that_tidying_keeps_all(factories.publish(database_url), database_url)


def _check_that_tidying_keeps_all(survey: Published, database_url: str) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain\nKenya")
    codes = factories.invite(database_url, survey.slug, 20)
    _take(database_url, survey, [survey.response([0, 1], invitation=code) for code in codes[:10]])
    for code in factories.invite(database_url, survey.slug, 5, slugs["Spain"]):
        body = json.dumps(survey.response(invitation=code)).encode()
        with factories.writing(database_url) as session:
            responses.accept(session.connection(), slugs["Spain"], body, NOW)
    factories.close(database_url, survey.slug)
    before, looked_at = dump(database_url), _read_shown(database_url, survey.slug)

    _tidy(database_url)

    after = dump(database_url)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"revisions", "surveys", "untidied", "batches", "responses"}
    but_ids = [sorted(map(repr, (row[1:] for row in look["responses"]))) for look in (before, after)]
    assert but_ids[0] == but_ids[1]
    assert not {row[0] for row in before["responses"]} & {row[0] for row in after["responses"]}
    assert _read_shown(database_url, survey.slug) == looked_at
    assert len(after["responses"]) == 15
    engine = make_engine(database_url)
    for refused in (
        "UPDATE responses_1 SET reports = reports",
        "UPDATE invitations_1 SET batch_id = 12345",
        "INSERT INTO responses_1 SELECT id || id, 99, reports, day, stratum_id, mode FROM responses_1",
        "INSERT INTO invitations_1 SELECT code_hash, 99, spent FROM invitations_1",
    ):
        with pytest.raises(sa.exc.IntegrityError), engine.begin() as connection:
            connection.exec_driver_sql(refused)
    engine.dispose()
    assert _names(database_url) == _names_of_new_tables(database_url)


def _names(database_url: str) -> set[str]:
    """The tables and indexes of the first survey's own."""
    engine = make_engine(database_url)
    inspector = sa.inspect(engine)
    names = {name for name in inspector.get_table_names() if name.endswith(("_1", "_tidied", "_untidied"))}
    if engine.dialect.name == "postgresql":
        names |= {str(inspector.get_pk_constraint(name)["name"]) for name in names}
    engine.dispose()
    return names


def _names_of_new_tables(database_url: str) -> set[str]:
    tables = {f"{kind.name}_1" for kind in own_tables.KINDS}
    return tables if database_url.startswith("sqlite") else tables | {f"pk_{name}" for name in tables}


def test_who_stays_is_in_the_way_and_this_is_said(survey: Published, database_url: str) -> None:
    _take(database_url, survey, [survey.response()])
    factories.close(database_url, survey.slug)

    with _holding(database_url, "SELECT count(*) FROM responses_1"):
        factories.settle(
            database_url, survey.slug, minimum=2
        )  # so that the reader on SQLite sees what is old
        with pytest.raises(UnfinishedError):
            _tidy(database_url, 0.2)
        said = factories.run(database_url, "tidy", "--wait", "0.2", "--json")
        assert _marks(database_url) == 1
    assert said.exit_code == 1
    document = json.loads(said.stdout)
    assert (document["finished"], bool(document["reason"])) == (False, True)
    assert [row[4] for row in dump(database_url)["untidied"]] == [document["reason"]]

    done = factories.run(database_url, "tidy", "--json")
    assert (done.exit_code, json.loads(done.stdout)) == (0, {"finished": True, "reason": None})
    assert _marks(database_url) == 0


def test_one_who_reads_and_writes_another_survey_is_not_in_the_way_on_postgresql(
    postgresql: NewDatabase,
) -> None:
    """Neither who reads it, nor who is just writing there, for as long as the tidying takes; it waits for nobody."""
    database_url = postgresql(True)
    survey = factories.publish(database_url)
    other = factories.publish(database_url, minimum=1)
    _take(database_url, survey, [survey.response() for _ in range(20)])
    factories.store(database_url, other, [([0, 1], 20)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)

    with (
        snapshot(engine) as session,
        _holding(
            database_url,
            "SELECT id FROM surveys WHERE id = 2 FOR NO KEY UPDATE",
            "LOCK TABLE responses_2, cells_2, batches_2, counters_2 IN EXCLUSIVE MODE",
        ),
    ):
        found = survey_access.find(session, other.slug)
        assert found is not None
        assert len(batch_dumps.dump_shown(session, found)) == 1  # and its moment goes on
        tidying.tidy(engine, Patience(0))

    engine.dispose()
    assert _marks(database_url) == 0
    for kind in own_tables.KINDS:
        key = next(iter(own_tables.table(kind, 1).c)).name
        assert len({row[2] for row in _places(database_url, f"{kind.name}_1", key)}) <= 1


def _places(database_url: str, table: str, key: str) -> list[tuple[object, ...]]:
    """The key of each row, where it lies, and the transaction that wrote it."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        query = f"SELECT {key}, ctid, xmin::text FROM {table}"  # noqa: S608
        rows = [tuple(row) for row in connection.exec_driver_sql(query)]
    engine.dispose()
    return rows


_LIE = {
    "sqlite": "SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0",
    "postgresql": "SELECT relname, relfilenode FROM pg_class WHERE relfilenode > 0 AND left(relname, 3) <> 'pg_'",
}


def test_tidying_writes_no_table_anew_but_the_survey_s_own(database_url: str) -> None:
    """However large the others are, and whoever uses them: nothing has to be had of them."""
    survey = factories.publish(database_url)
    other = factories.publish(database_url, minimum=1)
    for each in (survey, other):
        factories.store(database_url, each, [([0, 1], 30)])

    def lie() -> dict[str, int]:
        engine = make_engine(database_url)
        with engine.connect() as connection:
            rows = connection.exec_driver_sql(_LIE[engine.dialect.name]).all()
        engine.dispose()
        return {str(name): int(place) for name, place in rows if not re.search(r"_1(?=_|$)", name)}

    before = lie()
    factories.close(database_url, survey.slug)
    _tidy(database_url)

    assert _marks(database_url) == 0
    assert any(name.startswith("batches_2") for name in before)
    assert lie() == before


def test_tidying_of_few_rows_changes_little_of_the_schema(sqlite: NewDatabase) -> None:
    """Every connection reads all of it anew after a turn that has: beside hundreds of surveys that takes long."""
    database_url = sqlite(True)
    for _ in range(2):
        survey = factories.publish(database_url)
        factories.invite(database_url, survey.slug, 20)
        factories.store(database_url, survey, [([0, 1], 30)])

    def count_changes() -> int:
        with closing(sqlite3.connect(str(sa.make_url(database_url).database))) as connection:
            ((count,),) = connection.execute("PRAGMA schema_version").fetchall()
        return int(count)

    before = count_changes()
    factories.close(database_url, survey.slug)
    _tidy(database_url)
    closed = count_changes()
    assert closed - before == 10  # the triggers of three tables that have some, off and on again, in one turn
    factories.run(database_url, "survey", "delete", survey.slug, "--confirm", survey.slug)
    _tidy(database_url)
    triggered = 9
    assert count_changes() - closed <= len(own_tables.KINDS) + triggered * 8


@pytest.mark.usefixtures("small_or_large")
def test_a_count_of_a_link_that_is_gone_keeps_nothing_from_being_tidied(sqlite: NewDatabase) -> None:
    """A closed survey's stratum may go once the last response by its link was taken back; its empty cell stays."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    slugs = factories.plant(database_url, survey.slug, "Spain\nKenya")
    with factories.writing(database_url) as session:
        responses.accept(session.connection(), slugs["Spain"], json.dumps(survey.response()).encode(), NOW)
    factories.close(database_url, survey.slug)
    with factories.writing(database_url) as session:
        session.execute(sa.text("DELETE FROM responses_1"))
        session.execute(sa.text("DELETE FROM strata WHERE name = 'Spain'"))

    _tidy(database_url)

    assert _marks(database_url) == 0
    assert len(dump(database_url)["cells"]) == 1


def test_tidying_opens_no_connection_for_each_table(sqlite: NewDatabase, small_or_large: str) -> None:
    """A new one reads the tables of every survey that there is, and so does one that did not make what was made."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 30)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    with ExitStack() as idle:
        for _ in range(5):
            idle.enter_context(engine.connect())
    opened, used = [], set()
    sa.event.listen(engine, "connect", lambda connection, _record: opened.append(connection))
    sa.event.listen(engine, "checkout", lambda connection, *_: used.add(connection))
    tidying.tidy(engine, Patience(60))

    # One or two that were there, one that writes, and beside it one that reads what is counted where that is much; and
    # one after that which cuts the log, and is closed.
    assert (len(opened), len(used)) == (1, 2 if small_or_large == "fills in place" else 3)
    with engine.connect() as connection:
        for pragma, setting in (("foreign_keys", 1), ("legacy_alter_table", 0)):
            assert connection.exec_driver_sql(f"PRAGMA {pragma}").scalar() == setting
    engine.dispose()
    assert _marks(database_url) == 0


def test_log_is_emptied_though_there_is_never_a_quiet_moment(sqlite: NewDatabase) -> None:
    """Others answer and read another survey without a pause, so that there is always somebody who reads."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    other = factories.publish(database_url)
    _take(database_url, survey, [survey.response() for _ in range(20)])
    factories.close(database_url, survey.slug)
    finished = Event()
    engine = make_engine(database_url)

    def read() -> None:
        while not finished.is_set():
            with open_session(engine, writes=False) as session:
                session.scalar(sa.text("SELECT count(*) FROM responses_2"))
                time.sleep(0.15)

    def answer() -> None:
        while not finished.is_set():
            _take(database_url, other, [other.response() for _ in range(5)])

    threads = [Thread(target=read) for _ in range(6)] + [Thread(target=answer)]
    for thread in threads:
        thread.start()
        time.sleep(0.15 / len(threads))
    try:
        _tidy(database_url, 120)
    finally:
        finished.set()
        for thread in threads:
            thread.join()
    engine.dispose()

    assert _marks(database_url) == 0


def test_page_says_what_a_long_reader_of_the_survey_leaves_to_do(
    signed_in: FlaskClient, database_url: str, survey: Published
) -> None:
    """On SQLite, all but the log, which has to keep one moment for a backup, say, until that ends."""
    only_log = database_url.startswith("sqlite")
    overview = f"/manage/surveys/{survey.slug}"
    for _ in range(3):
        factories.store(database_url, survey, [([0, 1], 30)])
    with _holding(database_url, "SELECT count(*) FROM responses_1"):
        assert signed_in.post(f"{overview}/close").status_code == 303
        with pytest.raises(UnfinishedError):
            _tidy(database_url, 0.2)
        shown = signed_in.get(overview).get_data(as_text=True)
        assert "began to tidy its files on" in shown
        assert ("what is left waits for a moment" in shown) == only_log
        if only_log:
            assert _names(database_url) == _names_of_new_tables(database_url)
            assert [row[0] for row in dump(database_url)["batches"]] == [1]

    _tidy(database_url)
    assert _marks(database_url) == 0
    assert "were written anew on" in signed_in.get(overview).get_data(as_text=True)
    assert [row[0] for row in dump(database_url)["batches"]] == [1]


def test_one_that_is_held_up_leaves_its_turn_to_others(database_url: str) -> None:
    """Somebody goes on reading the first of two closed surveys; the second is tidied all the same."""
    one, other = (factories.publish(database_url) for _ in range(2))
    for each in (one, other):
        _take(database_url, each, [each.response()])
        factories.close(database_url, each.slug)

    with _holding(database_url, "SELECT count(*) FROM responses_1"):
        with pytest.raises(UnfinishedError):
            _tidy(database_url, 0.2)
        engine = make_engine(database_url)
        with engine.connect() as connection:
            left = connection.execute(sa.select(Untidied.survey_id, Untidied.rewritten)).all()
        engine.dispose()

    # On SQLite only the log, which both share, is left to do; on PostgreSQL nothing of the second.
    expected = [(1, True), (2, True)] if database_url.startswith("sqlite") else [(1, False)]
    assert sorted(tuple(row) for row in left) == expected


def test_one_who_began_before_never_sees_an_empty_table(survey: Published, database_url: str) -> None:
    _take(database_url, survey, [survey.response() for _ in range(5)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    with snapshot(engine) as session:
        assert session.scalar(sa.text("SELECT count(*) FROM surveys")) == 1  # its moment is now
        if database_url.startswith("sqlite"):
            with pytest.raises(UnfinishedError):
                _tidy(database_url, 0.2)
        else:
            _tidy(database_url)
        assert session.scalar(sa.text("SELECT count(*) FROM responses_1")) == 5
    engine.dispose()


def test_no_transaction_writes_more_rows_than_a_piece(sqlite: NewDatabase) -> None:
    """Whoever wants to write waits for one of these at most, or for the copy of a table."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 3 * PIECE)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    written, copied = [0], [0]

    @sa.event.listens_for(engine, "begin")
    def _begin(_connection: object) -> None:
        written.append(0)

    @sa.event.listens_for(engine, "after_cursor_execute")
    def _count(_connection: object, cursor: object, statement: str, *_rest: object) -> None:
        rows = max(cursor.rowcount, 0)  # type: ignore[attr-defined]
        if re.fullmatch(r"DELETE FROM \w+|INSERT INTO (\w+) SELECT \* FROM \1_tidied", statement):
            copied.append(rows)  # a table as a whole, page by page
        else:
            written[-1] += rows

    tidying.tidy(engine, Patience(600))

    assert sum(written) >= 6 * PIECE  # all were written anew, and all removed from where they were
    assert max(written) <= PIECE
    engine.dispose()
    assert len(list_responses(database_url)) == 3 * PIECE
    assert max(copied) == 3 * PIECE <= COPIED


@pytest.mark.parametrize("more", [0, 1])
def test_a_table_is_renamed_where_it_has_more_rows_than_are_copied(
    sqlite: NewDatabase, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    monkeypatch.setattr("server.collect.tidying.few_rows.IN_PLACE", -1)
    monkeypatch.setattr("server.collect.tidying.sqlite.COPIED", 20)
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 20 + more)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    done: list[str] = []
    sa.event.listen(engine, "after_cursor_execute", lambda *given: done.append(given[2]))

    tidying.tidy(engine, Patience(600))
    engine.dispose()

    assert ("INSERT INTO responses_1 SELECT * FROM responses_1_tidied" in done) == (not more)
    assert ("ALTER TABLE responses_1 RENAME TO responses_1_untidied" in done) == bool(more)


def test_pieces_become_smaller_where_a_commit_takes_long(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], 1000)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    written: list[int] = []
    slow = []

    @sa.event.listens_for(engine, "after_cursor_execute")
    def _count(_connection: object, cursor: sqlite3.Cursor, statement: str, *_rest: object) -> None:
        if statement.startswith("INSERT INTO responses_1_rekeyed"):
            written.append(cursor.rowcount)
            slow.append(True)

    @sa.event.listens_for(engine, "commit")
    def _commit(_connection: object) -> None:
        if slow:
            slow.clear()
            time.sleep(0.2)

    tidying.tidy(engine, Patience(600))
    engine.dispose()

    assert all(later <= max(earlier // 2, FEWEST) for earlier, later in pairwise(written))
    assert sum(written) == 1000


def test_nothing_is_added_to_a_long_log_while_somebody_reads(
    sqlite: NewDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else whoever commits after they end writes all of it back, while others wait."""
    monkeypatch.setattr("server.collect.tidying.pieces.LOG_LEFT", 5)
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([0, 1], PIECE)])
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    pieces: list[str] = []
    begun, reading = Event(), ExitStack()

    @sa.event.listens_for(engine, "after_cursor_execute")
    def _note(_connection: object, _cursor: object, statement: str, *_rest: object) -> None:
        if statement.startswith("INSERT INTO responses_1_rekeyed"):
            pieces.append(statement)
            if not begun.is_set():
                reading.enter_context(_holding(database_url, "SELECT count(*) FROM responses_1"))
                begun.set()

    tidier = Thread(target=tidying.tidy, args=(engine, Patience(600)))
    tidier.start()
    assert begun.wait(60)
    time.sleep(0.5)
    assert len(pieces) == 1
    reading.close()
    tidier.join()
    engine.dispose()

    assert len(pieces) > 1
    assert _marks(database_url) == 0


def test_log_that_somebody_reads_is_not_written_back_while_others_wait(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """However much it is when the reader ends: only what came since the last look is."""
    path = shutil.copy(sqlite(True).removeprefix("sqlite:///"), tmp_path / "long.sqlite3")
    engine = make_engine(f"sqlite:///{path}")
    asked: list[str] = []
    sa.event.listen(
        engine, "connect", lambda connection, _record: connection.set_trace_callback(asked.append)
    )
    with open_session(engine, writes=False) as reading:
        reading.scalar(sa.text("SELECT count(*) FROM surveys"))
        with engine.begin() as connection:
            connection.exec_driver_sql("CREATE TABLE much AS SELECT zeroblob(10000000)")
        with (
            pytest.raises(UnfinishedError, match="kept reading"),
            tidying.sqlite.tidy_alone(engine, Patience(5)),
        ):
            tidying.sqlite.forget_log(engine, Patience(0.2))
        assert "PRAGMA wal_checkpoint(PASSIVE)" in asked
        assert "PRAGMA wal_checkpoint(TRUNCATE)" not in asked

    tidying.sqlite.forget_log(engine, Patience(5))
    engine.dispose()
    assert "PRAGMA wal_checkpoint(TRUNCATE)" in asked


def test_codes_that_are_withdrawn_meanwhile_stay_withdrawn(survey: Published, database_url: str) -> None:
    factories.invite(database_url, survey.slug, 20)
    factories.close(database_url, survey.slug)
    engine = make_engine(database_url)
    ((mark, *_rest),) = dump(database_url)["untidied"]
    begun = Due(1, frozenset({int(str(mark))}), kept=True)
    with factories.writing(database_url) as session:
        session.execute(sa.text("DELETE FROM invitations_1"))
        session.add(Untidied(survey_id=1, since=NOW))

    tool = tidying.sqlite if engine.dialect.name == "sqlite" else tidying.postgresql
    with pytest.raises(UnfinishedError):
        tool.rewrite(engine, begun, Patience(60))

    _tidy(database_url)
    assert (_marks(database_url), dump(database_url)["invitations"]) == (0, [])
    assert _names(database_url) == _names_of_new_tables(database_url)
    engine.dispose()


def test_page_says_how_far_the_tidying_is(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    overview = f"/manage/surveys/{survey.slug}"
    _take(database_url, survey, [survey.response()])
    pending, done = "began to tidy its files on", "were written anew on"
    shown = signed_in.get(overview).get_data(as_text=True)
    assert (pending in shown, done in shown) == (False, False)

    assert signed_in.post(f"{overview}/close").status_code == 303
    shown = signed_in.get(overview).get_data(as_text=True)
    assert (pending in shown, done in shown) == (True, False)
    assert "the server is tidying up" in signed_in.get("/manage/surveys").get_data(as_text=True)
    _tidy(database_url)

    shown = signed_in.get(overview).get_data(as_text=True)
    assert (pending in shown, done in shown) == (False, True)
    assert "the server is tidying up" not in signed_in.get("/manage/surveys").get_data(as_text=True)
    assert len(list_responses(database_url)) == 1


def test_survey_whose_time_is_over_is_closed_and_tidied_without_being_looked_at(
    survey: Published, database_url: str
) -> None:
    _take(database_url, survey, [survey.response()])
    factories.settle(database_url, survey.slug, closes_at=PAST)

    with factories.serving(database_url):
        _wait_for(lambda: dump(database_url)["surveys"][0][3] == "closed" and not _marks(database_url))


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
    closed = factories.publish(database_url)
    factories.store(database_url, closed, [([0, 1], 20_000)])
    factories.close(database_url, closed.slug)
    finished, outcomes = Event(), []
    engine = make_engine(database_url)

    def respond() -> None:
        while not finished.is_set():
            body = json.dumps(survey.response()).encode()
            with engine.execution_options(moneda_writes=True).begin() as connection:
                outcomes.append(responses.accept(connection, survey.slug, body, NOW))

    responding = Thread(target=respond)
    responding.start()
    _tidy(database_url)
    finished.set()
    responding.join()

    engine.dispose()
    assert outcomes
    assert set(outcomes) == {responses.Acceptance.STORED}
    assert len(list_responses(database_url)) == 20_000 + len(outcomes)


@pytest.mark.usefixtures("small_or_large")
def test_deleted_rows_leave_no_bytes_in_the_file(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    kept, survey = (factories.publish(database_url) for _ in range(2))
    _take(database_url, kept, [kept.response() for _ in range(50)])
    bodies = [survey.response(id=secrets.token_bytes(16).hex()) for _ in range(500)]
    _take(database_url, survey, bodies)
    file = Path(database_url.removeprefix("sqlite:///"))
    ids = [factories.stored_id(body) for body in bodies]
    assert sum(each in file.read_bytes() for each in ids) == 500

    deleted = factories.run(database_url, "survey", "delete", survey.slug, "--confirm", survey.slug)

    assert (deleted.exit_code, deleted.stderr) == (0, "")
    files = b"".join(path.read_bytes() for path in file.parent.glob(f"{file.name}*"))
    assert not [each for each in ids if each in files]
    assert len(list_responses(database_url)) == 50


def test_number_of_a_deleted_survey_is_not_given_again_while_it_is_due(
    survey: Published, database_url: str
) -> None:
    _take(database_url, survey, [survey.response()])
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        archives.delete(session, found)

    new = factories.publish(database_url)

    assert [row[0] for row in dump(database_url)["surveys"]] == [2]
    _tidy(database_url)
    assert list_responses(database_url) == []
    _take(database_url, new, [new.response()])
    assert len(list_responses(database_url)) == 1


@pytest.mark.parametrize("what", ["UPDATE surveys SET minimum = 7", "CREATE TABLE more (id INTEGER)"])
def test_session_that_reads_can_change_nothing(
    what: str, app: Flask, survey: Published, database_url: str
) -> None:
    """Which is what every request has that is not a POST."""
    before = dump(database_url)
    engine = app.extensions["moneda.engine"]

    with open_session(engine, writes=False) as session, pytest.raises(sa.exc.DBAPIError):
        session.execute(sa.text(what))

    with open_session(engine, writes=True) as session, session.begin():  # on the same connections
        session.execute(
            sa.insert(responses_of(1)).values(id=b"r" * 16, version_id=1, reports=b"\0", day=NOW.date())
        )
    assert [name for name, rows in dump(database_url).items() if rows != before[name]] == ["responses"]


def test_whoever_writes_has_turns_while_many_surveys_wait_for_somebody_who_reads(sqlite: NewDatabase) -> None:
    """The log is tried once for all sixty, not once for each, one after the other."""
    database_url = sqlite(True)
    with factories.writing(database_url) as session:
        session.add_all(Untidied(survey_id=1000 + place, since=NOW, rewritten=True) for place in range(60))

    def tidy_in_vain() -> None:
        with suppress(UnfinishedError):
            _tidy(database_url, 0)

    tidier = Thread(target=tidy_in_vain)
    path = str(sa.make_url(database_url).database)
    with closing(sqlite3.connect(path)) as reader, closing(sqlite3.connect(path, timeout=2)) as writer:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM surveys").fetchall()
        factories.publish(database_url)  # so that there is something to write back
        tidier.start()
        while tidier.is_alive():
            # SQLite looks some two dozen times before it gives up.
            writer.execute("BEGIN IMMEDIATE")
            writer.rollback()
            time.sleep(0.01)
    tidier.join()
    assert _marks(database_url) == 60


def test_now_and_then_comes_a_turn_that_nobody_misses_who_looks_ten_times_a_second() -> None:
    longest = 0.0
    for _ in range(12):
        with leave_turn():
            time.sleep(0.03)
            over = time.monotonic()
        longest = max(longest, time.monotonic() - over)
    assert longest > 0.1


def test_one_of_several_tidies_and_the_others_complain_of_nothing(
    app: Flask, survey: Published, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """While it is at it they wait, and then leave it to their next look."""
    factories.close(database_url, survey.slug)
    tool = {"sqlite": sqlite, "postgresql": postgresql}[database_url.partition("+")[0].partition(":")[0]]
    keeping = Housekeeper(app.extensions["moneda.engine"])
    engine = make_engine(database_url)
    with tool.tidy_alone(engine, Patience(0)):
        keeping.start()
        keeping.stop(0.5)
        assert _marks(database_url)
    engine.dispose()
    assert caplog.text == ""
    keeping.start()
    keeping.stop(60)
    assert not _marks(database_url)
