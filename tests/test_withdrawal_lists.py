"""What was taken back stays away from a database that is restored from an older backup: a list says what it was."""

import json
import os
import shutil
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime
from json import dumps
from pathlib import Path

import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.collect import responses
from server.store.engines import make_engine
from server.store.private_files import lock_beside
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import back_up, is_untouched, key_of, restore, run_with
from tests.support.factories import Published, dump, hashed_id, list_responses, stored_id
from tests.support.withdrawal_lists import list_of, read_list
from tests.test_restored import back_up as copy_database

MINIMUM = 3
NOW = datetime(2026, 5, 6)  # noqa: DTZ001 - in UTC, as the database holds times

Body = dict[str, object]


def hashes(bodies: list[Body]) -> set[bytes]:
    return {stored_id(body) for body in bodies}


def ids_of(url: str) -> set[bytes]:
    """Of the responses that are stored."""
    return {bytes(row[0]) for row in list_responses(url)}  # type: ignore[call-overload]


def agrees(url: str) -> bool:
    """Whether what is counted agrees with what is stored, as `recount` and `check` see it."""
    return not any(factories.run(url, command).exit_code for command in ("recount", "check"))


def publish(url: str) -> Published:
    return factories.publish(url, factories.definition([0.25] * 8), minimum=MINIMUM)


def accept(url: str, survey: Published, bodies: list[Body]) -> None:
    """Store responses, in a transaction each."""
    engine = make_engine(url)
    for body in bodies:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            responses.accept(connection, survey.slug, dumps(body).encode(), NOW)
    engine.dispose()


def take_back(url: str, survey: Published, bodies: list[Body]) -> None:
    engine = make_engine(url)
    for body in bodies:
        with engine.execution_options(moneda_writes=True).begin() as connection:
            responses.take_back(connection, survey.slug, stored_id(body), NOW)
    engine.dispose()


def make_bodies(survey: Published, number: int) -> list[Body]:
    return [survey.response([k >> bit & 1 for bit in range(8)]) for k in range(number)]


def test_what_was_taken_back_since_the_backup_stays_away(
    new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that is killed as soon as it has said so; also what came after the backup. Without a list, not."""
    url, new = new_database(True), new_database(False)
    survey = publish(url)
    bodies = make_bodies(survey, 4 * MINIMUM)
    before, gone, late = bodies[:2], bodies[2::3], survey.response([1] * 8)
    with factories.serving(url) as served:

        def send(path: str, body: Body) -> None:
            assert factories.ask(f"{served.url}/s/{survey.slug}/{path}", body)[0] < 300

        for body in bodies:
            send("responses", body)
        send("withdrawal.json", {"receipt": before[0]["id"]})
        back_up(url, tmp_path / "b")
        send("responses", late)
        for body in (*gone, late):
            send("withdrawal.json", {"receipt": body["id"]})
        os.killpg(served.process.pid, signal.SIGKILL)
        served.process.wait(30)
    said = restore(new, tmp_path / "b")
    assert f"Taken back again, as the lists say: {len(gone) + 1}." in said.stderr.replace("\n", " ")
    kept = hashes(bodies) - hashes([before[0], *gone])
    assert ids_of(new) == kept == ids_of(url)
    assert dump(new)["withdrawals"] == dump(url)["withdrawals"]
    assert agrees(new)
    accept(new, survey, [*bodies, late])
    assert ids_of(new) == kept
    assert agrees(new)
    factories.close(new, survey.slug)
    assert agrees(new)

    twin = f"sqlite:///{tmp_path / 'elsewhere' / 'moneda.sqlite3'}"
    monkeypatch.setenv("MONEDA_MARKS", str(tmp_path / "nothing"))
    assert "No list of what was taken back was there" in restore(twin, tmp_path / "b").stderr
    assert ids_of(twin) == hashes(bodies) - hashes(before[:1])


def test_a_list_that_was_kept_elsewhere_is_named(new_database: NewDatabase, tmp_path: Path) -> None:
    """One or several, or the folder of them; and one restoration after the other brings nothing back."""
    url, new, last = new_database(True), new_database(False), new_database(False)
    survey = publish(url)
    bodies = make_bodies(survey, 2 * MINIMUM)
    accept(url, survey, bodies)
    back_up(url, tmp_path / "b")
    for folder, body in zip(("one", "two"), bodies, strict=False):
        (tmp_path / folder).mkdir()
        take_back(url, survey, [body])
        shutil.move(list_of(url), tmp_path / folder / "kept.withdrawn")
    take_back(url, survey, bodies[2:3])
    list_of(url).unlink()
    (tmp_path / "empty").mkdir()
    refused = run_with(
        new, "restore", str(tmp_path / "b"), *key_of(tmp_path / "b"), "--withdrawals", str(tmp_path / "empty")
    )
    assert (refused.exit_code, "must name lists" in refused.stderr) == (2, True)
    options = ("--withdrawals", str(tmp_path / "one"))
    options += ("--withdrawals", str(tmp_path / "two" / "kept.withdrawn"))
    restore(new, tmp_path / "b", *key_of(tmp_path / "b"), *options)
    assert ids_of(new) == hashes(bodies[2:])  # the third time, its list was lost
    assert factories.run(new, "tidy").exit_code == 0  # opens it to serve it
    take_back(new, survey, bodies[2:3])
    restore(last, tmp_path / "b", *key_of(tmp_path / "b"), "--withdrawals", str(list_of(new)))
    assert ids_of(last) == hashes(bodies[3:])
    list_of(new).unlink()


def test_another_copy_that_is_put_in_its_place_is_noticed_at_the_start(new_database: NewDatabase) -> None:
    """A copy that other programs made; the list stands where it stood, and the next who opens the database sees it."""
    url = new_database(True)
    survey, other = publish(url), publish(url)
    bodies, others = make_bodies(survey, 4 * MINIMUM), make_bodies(other, 2)
    accept(url, survey, bodies)
    accept(url, other, others[:1])
    put_back = copy_database(url)
    accept(url, other, others[1:])
    take_back(url, survey, bodies[::2])
    take_back(url, other, others[1:])
    put_back()
    assert len(list_responses(url)) == 4 * MINIMUM + 1
    assert factories.run(url, "check").exit_code == 0  # as long as nobody serves it, it stays as it is
    assert len(list_responses(url)) == 4 * MINIMUM + 1
    assert factories.run(url, "tidy").exit_code == 0
    assert ids_of(url) == hashes(bodies[1::2]) | hashes(others[:1])
    accept(url, other, others)
    accept(url, survey, bodies)
    assert ids_of(url) == hashes(bodies[1::2]) | hashes(others[:1])
    assert agrees(url)


def test_two_servers_at_once_lose_no_hash(new_database: NewDatabase) -> None:
    """In the list is what is in the tables, whoever wrote it; of a guess, and of what was gone already, nothing.

    Of each survey one: a later one of the same survey would bring in what was lost before.
    """
    url = new_database(True)
    surveys = [publish(url) for _ in range(16)]
    bodies = [survey.response() for survey in surveys]
    for survey, body in zip(surveys, bodies, strict=True):
        accept(url, survey, [body])
    with factories.serving(url) as first, factories.serving(url) as second, ThreadPoolExecutor(8) as threads:

        def send(k: int) -> int:
            receipt = bodies[k % 16]["id"] if k < 24 else f"{k:032x}"
            address = f"{(first, second)[k % 2].url}/s/{surveys[k % 16].slug}/withdrawal.json"
            return factories.ask(address, {"receipt": receipt})[0]

        assert set(threads.map(send, range(26))) == {200}
    assert sorted(read_list(url)) == sorted([each.hex()] for each in hashes(bodies))
    assert {bytes(row[0]) for row in dump(url)["withdrawals"]} == hashes(bodies)  # type: ignore[call-overload]
    assert agrees(url)


def test_whoever_writes_the_list_is_waited_for(database_url: str) -> None:
    """Without it, what is written from a list that was read a moment ago would lose what came between."""
    first, second = publish(database_url), publish(database_url)
    bodies = [first.response(), second.response()]
    accept(database_url, first, bodies[:1])
    accept(database_url, second, bodies[1:])
    take_back(database_url, first, bodies[:1])
    path = list_of(database_url)
    with ThreadPoolExecutor(1) as threads:
        with lock_beside(path):
            before = path.read_bytes()
            job = threads.submit(take_back, database_url, second, bodies[1:])
            wait([job], timeout=1)
            assert path.read_bytes() == before
        job.result()
    assert sorted(read_list(database_url)) == sorted([each.hex()] for each in hashes(bodies))


def test_nothing_is_taken_back_where_it_cannot_be_written_down(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    body = survey.response()
    assert client.post(survey.url, json=body).status_code == 201
    list_of(database_url).mkdir(parents=True)
    before = dump(database_url)
    for _ in range(2):
        answer = client.post(f"/s/{survey.slug}/withdrawal.json", json={"receipt": body["id"]})
        assert answer.status_code == 503
        assert str(list_of(database_url).parent) not in answer.text
    assert dump(database_url) == before
    list_of(database_url).rmdir()
    client.post(f"/s/{survey.slug}/withdrawal.json", json={"receipt": body["id"]})
    assert read_list(database_url) == [[stored_id(body).hex()]]


def close(url: str, slug: str) -> None:
    assert factories.run(url, "survey", "close", slug).exit_code == 0


def delete(url: str, slug: str) -> None:
    assert factories.run(url, "survey", "delete", slug, "--confirm", slug).exit_code == 0


@pytest.mark.parametrize("end", [close, delete])
def test_the_list_of_a_survey_ends_with_it(
    database_url: str, tmp_path: Path, end: Callable[[str, str], None]
) -> None:
    first, second = publish(database_url), publish(database_url)
    gone = []
    for survey in (first, second):
        bodies = make_bodies(survey, 2 * MINIMUM)
        accept(database_url, survey, bodies)
        take_back(database_url, survey, bodies[:1])
        gone.append([stored_id(bodies[0]).hex()])
    assert sorted(read_list(database_url)) == sorted(gone)
    end(database_url, first.slug)
    assert read_list(database_url) == gone[1:]
    end(database_url, second.slug)
    assert not list_of(database_url).exists()


def test_the_list_tells_no_more_than_the_table(database_url: str) -> None:
    """Nothing of an order, no name of a survey, no receipt; of the time, as a copy keeps it, the day."""
    survey = publish(database_url)
    bodies = make_bodies(survey, 12)
    accept(database_url, survey, bodies)
    written = []
    for gone in (bodies[:6], bodies[6:]):
        take_back(database_url, survey, gone)
        written.append(list_of(database_url).read_bytes())
    path = list_of(database_url)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.stat().st_mtime % 86400 == 0
    document = json.loads(written[-1])
    assert document.keys() == {"format", "surveys", "sha256"}
    ((name, found),) = document["surveys"].items()
    assert found == sorted(row[0].hex() for row in dump(database_url)["withdrawals"])  # type: ignore[attr-defined]
    assert found == sorted(hashed_id(str(body["id"])).hex() for body in bodies)
    for mark in (survey.slug, *(str(body["id"]) for body in bodies)):
        assert mark.encode() not in written[-1]
    # In another order, the same file.
    path.unlink()
    assert factories.run(database_url, "tidy").exit_code == 0
    assert path.read_bytes() == written[-1]
    assert len(name) == 32


@pytest.mark.parametrize("damage", ["missing", "cut"])
def test_a_list_that_is_lost_is_made_anew_from_the_database(database_url: str, damage: str) -> None:
    survey, other = publish(database_url), publish(database_url)
    for each in (survey, other):
        bodies = make_bodies(each, 3)
        accept(database_url, each, bodies)
        take_back(database_url, each, bodies[:2])
    path = list_of(database_url)
    whole = path.read_bytes()
    for mend in (
        lambda: factories.run(database_url, "tidy"),
        lambda: take_back(database_url, survey, bodies[:1]),
    ):
        if damage == "cut":
            path.write_bytes(whole[:-10])
        else:
            path.unlink()
        mend()
        if path.exists() and path.read_bytes() == whole:
            break
    assert path.read_bytes() == whole


def test_a_new_database_in_its_place_forgets_no_list(sqlite: NewDatabase, tmp_path: Path) -> None:
    """Somebody starts Moneda where the database was lost, and restores the backup only then."""
    url = sqlite(True)
    survey = publish(url)
    bodies = make_bodies(survey, 3)
    accept(url, survey, bodies)
    back_up(url, tmp_path / "b")
    take_back(url, survey, bodies[:1])

    def lose() -> None:
        for ending in ("", "-wal", "-shm"):
            Path(f"{sa.make_url(url).database}{ending}").unlink(missing_ok=True)

    lose()
    assert factories.run(url, "tidy").exit_code == 0
    close(url, publish(url).slug)
    lose()
    restore(url, tmp_path / "b")
    assert ids_of(url) == hashes(bodies[1:])


def test_a_cut_or_changed_list_is_refused_before_anything_begins(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    url, new = new_database(True), new_database(False)
    survey = publish(url)
    bodies = make_bodies(survey, 5)
    accept(url, survey, bodies)
    back_up(url, tmp_path / "b")
    take_back(url, survey, bodies[:3])
    whole, path = list_of(url).read_bytes(), tmp_path / "list"
    options = [*key_of(tmp_path / "b"), "--withdrawals", str(path)]
    place = whole.index(stored_id(bodies[0]).hex().encode())
    other = b"1" if whole[place : place + 1] == b"0" else b"0"
    for content in (
        *(whole[:length] for length in range(0, len(whole), 25)),
        whole[:-1],
        whole[:place] + other + whole[place + 1 :],
        b"[]",
        b'{"format": 1, "surveys": 3, "sha256": ""}',
        b"\xff",
    ):
        path.write_bytes(content)
        done = run_with(new, "restore", str(tmp_path / "b"), *options)
        assert (done.exit_code, "must be a whole list" in done.stderr) == (2, True), done.output
        assert is_untouched(new)
    path.write_bytes(whole)
    restore(new, tmp_path / "b", *options)
    assert ids_of(new) == hashes(bodies[3:])


def test_a_copy_without_what_runs_loses_the_rows_too(new_database: NewDatabase, tmp_path: Path) -> None:
    """It is closed, and no batch comes that could make up for them: what is shown stays, as of those before."""
    url, new = new_database(True), new_database(False)
    survey = publish(url)
    bodies = make_bodies(survey, 10 * MINIMUM)
    accept(url, survey, bodies)
    back_up(url, tmp_path / "b", "--without-running")
    take_back(url, survey, bodies[::2])
    restore(new, tmp_path / "b")
    assert ids_of(new)
    assert ids_of(new) <= hashes(bodies[1::2])
    assert dump(new)["withdrawals"] == []
    assert agrees(new)
