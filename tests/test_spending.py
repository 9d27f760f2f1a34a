"""Codes on the served process: each lets one response in, and afterwards nothing tells which."""

import hashlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from threading import Barrier

import sqlalchemy as sa

from server.store.engines import make_engine
from tests.conftest import NewDatabase
from tests.support import factories, order_traces
from tests.support.factories import Published, Served, dump, list_responses
from tests.support.load_client import post_all
from tests.support.order_traces import (
    LIMIT,
    copy_files,
    holding,
    order_in_pages,
    postgresql_rows,
    standardise_order,
)

PAIRS = 16
BITS = 14
"""Questions: as many reports as there are responses, so that a row is known by them, whatever its id."""


class Race:
    """What became of codes that two clients each tried to spend at the same moment."""

    def __init__(self, served: Served, survey: Published, codes: list[str]) -> None:
        self.statuses: dict[str, list[int]] = {code: [] for code in codes}
        self.ids: dict[bytes, int] = {}
        self.reports: dict[bytes, int] = {}
        self.hashes: dict[bytes, int] = {}
        self._numbers = count()
        self._places = {code: place for place, code in enumerate(codes)}
        starts = [Barrier(2) for _ in range(PAIRS)]
        with ThreadPoolExecutor(2 * PAIRS) as clients:
            for running in [
                clients.submit(partial(self._run, served, survey, codes[pair::PAIRS], starts[pair]))
                for pair in [*range(PAIRS)] * 2
            ]:
                running.result()

    def _run(self, served: Served, survey: Published, codes: list[str], start: Barrier) -> None:
        places = [self._places[code] for code in codes]
        reports = [[place >> bit & 1 for bit in range(BITS)] for place in places]
        pairs = zip(reports, codes, strict=True)
        bodies = [survey.response(string, invitation=code) for string, code in pairs]

        def at_once() -> object:
            for body in bodies:
                start.wait(120)
                yield body

        for body, code, status in zip(
            bodies, codes, post_all(served.url, survey.url, at_once()), strict=True
        ):  # type: ignore[arg-type]
            self.statuses[code].append(status)
            if status == 201:
                number = next(self._numbers)
                self.ids[factories.stored_id(body)] = number
                self.reports[bytes(body["reports"])] = number  # type: ignore[call-overload]
                self.hashes[hashlib.sha256(code.replace("-", "").encode()).digest()] = number


def _new_ids(race: Race, database_url: str) -> dict[bytes, int]:
    """The ids that tidying gave, and when the response of each came."""
    return {bytes(row[0]): race.reports[bytes(row[2])] for row in list_responses(database_url)}  # type: ignore[call-overload]


def _spent(database_url: str) -> dict[bytes, bool]:
    return {bytes(key): spent for key, _batch, spent in dump(database_url)["invitations"]}  # type: ignore[call-overload, misc]


def _check_each_counted_once(race: Race, database_url: str) -> None:
    assert Counter(tuple(sorted(statuses)) for statuses in race.statuses.values()) == {
        (201, 409): len(race.statuses)
    }
    assert {bytes(row[0]) for row in list_responses(database_url)} == race.ids.keys()  # type: ignore[call-overload]
    assert _spent(database_url) == dict.fromkeys(race.hashes, True)


def test_10000_codes_on_sqlite_let_one_of_two_racing_clients_in_and_leave_no_trace(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25] * BITS))
    codes = factories.invite(database_url, survey.slug, 10_000)
    with factories.serving(database_url) as served:
        race = Race(served, survey, codes)
        _check_each_counted_once(race, database_url)
        before = copy_files(database_url, tmp_path)
        closed = factories.run(database_url, "survey", "close", survey.slug)
        files = order_traces.sqlite_files(database_url)
        assert (closed.exit_code, closed.stderr) == (0, "")
        # The log holds a few pages: on which it was noted that all is tidied.
        assert [file.stat().st_size <= 50_000 for file in files if file.name.endswith("-wal")] == [True]
        assert not holding(files, codes)
        new = _new_ids(race, database_url)
        order = order_in_pages(database_url, new), order_in_pages(database_url, race.hashes)

    assert max(order) < LIMIT
    assert len(list_responses(database_url)) == len(codes)
    # The broken twin: the same files, not tidied.
    assert order_in_pages(before, race.ids) > LIMIT
    assert all(file.stat().st_size > 100_000 for file in tmp_path.glob("*-wal"))


def test_codes_on_postgresql_let_one_of_two_racing_clients_in_and_leave_no_trace(
    postgresql: NewDatabase,
) -> None:
    database_url = postgresql(True)
    survey = factories.publish(database_url, factories.definition([0.25] * BITS))
    codes = factories.invite(database_url, survey.slug, 1_000)
    places = ("responses_1", "id"), ("invitations_1", "code_hash")
    with factories.serving(database_url) as served:
        race = Race(served, survey, codes)
        _check_each_counted_once(race, database_url)
        before = [postgresql_rows(database_url, *place) for place in places]
        closed = factories.run(database_url, "survey", "close", survey.slug)
        after = [postgresql_rows(database_url, *place) for place in places]

    assert (closed.exit_code, closed.stderr) == (0, "")
    for rows, arrived in zip(after, (_new_ids(race, database_url), race.hashes), strict=True):
        # Where a row lies and who wrote it follow from the random keys alone.
        assert [row[0] for row in rows] == sorted(arrived)
        assert len({row[2:] for row in rows}) == 1
        assert abs(standardise_order([[arrived[row[0]] for row in rows]])) < LIMIT
    # The broken twin: the same rows, not tidied. A response has its transaction in common with its code's row.
    came, used = before
    assert standardise_order([[race.ids[row[0]] for row in came]]) > LIMIT
    by_number = {number: key for key, number in race.hashes.items()}
    transaction = {row[0]: row[2] for row in used}
    assert all(transaction[by_number[race.ids[row[0]]]] == row[2] for row in came)
    assert len(set(transaction.values())) > 10
    assert not holding(_data_files(database_url), codes)


def _data_files(database_url: str) -> list[Path]:
    """Every file of the server, its write-ahead log too."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        folder = Path(str(connection.scalar(sa.text("SHOW data_directory"))))
    with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        connection.exec_driver_sql("CHECKPOINT")
    engine.dispose()
    return [file for file in folder.rglob("*") if file.is_file()]


def test_search_would_find_a_code(sqlite: NewDatabase) -> None:
    """The broken twin: a code that somebody writes into a label, as it is given out and as it is sent."""
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition([0.25] * BITS))
    codes = factories.invite(database_url, survey.slug, 100)
    assert not holding(order_traces.sqlite_files(database_url), codes)

    engine = make_engine(database_url)
    for code in (codes[3], codes[4].replace("-", "").lower()):
        with engine.begin() as connection:
            connection.execute(
                sa.text("UPDATE invitation_batches SET label = label || :code"), {"code": code}
            )
    engine.dispose()

    found = holding(order_traces.sqlite_files(database_url), codes)
    assert found == sorted(code.replace("-", "") for code in codes[3:5])
