"""Secrets of apps for codes: in the database under a key that is not in it, which a command changes."""

import json
import logging
import resource
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pyotp
import pytest
import sqlalchemy as sa

from server.config import Config, secrets_key
from server.people import second_factors
from server.people.resealing import reseal
from server.store.engines import make_engine, migrate, migrate_within, open_session
from server.store.models import Researcher, Server
from server.store.sealed_secrets import LostKeyError, find_public_key, rotate_key, seal, unseal
from server.study import surveys
from server.study.ticket_keys import find_completion_modulus, open_key
from tests import test_searches
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.backups import back_up, restore
from tests.support.front_client import create_app
from tests.support.sign_in_form import enter

PASSWORD = "correct horse battery staple"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file of the key for this test alone, which is not there yet."""
    path = tmp_path / "own" / "secrets.key"
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(path))
    return path


def with_codes(url: str) -> tuple[int, list[str]]:
    """A researcher who turned codes on: the number, and the recovery codes."""
    number = factories.account(url, "ana", PASSWORD)
    with factories.writing(url) as session:
        researcher = session.get_one(Researcher, number)
        code = pyotp.TOTP(SECRET).now()
        recovery = second_factors.turn_on_codes(session, researcher, SECRET, code)
        assert recovery is not None
        researcher.totp_step = None  # so that the code of now can be used once more
    return number, recovery


def sign_in(url: str, code: str) -> int:
    app = create_app(Config(database_url=url))
    status = enter(app.test_client(), "ana", PASSWORD, code).status_code
    app.extensions["moneda.engine"].dispose()
    return status


def test_the_database_holds_no_secret_and_the_key_is_for_its_owner_alone(
    key: Path, database_url: str
) -> None:
    with_codes(database_url)
    assert SECRET not in repr(factories.dump(database_url))
    assert key.stat().st_mode & 0o777 == 0o600
    assert factories.run(database_url, "check").exit_code == 0
    assert sign_in(database_url, pyotp.TOTP(SECRET).now()) == 303


def test_what_was_stored_before_is_sealed_by_the_upgrade(key: Path, empty_database_url: str) -> None:
    engine = make_engine(empty_database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        migrate_within(connection, "0015")
        insert = sa.text(
            "INSERT INTO researchers (id, name, totp_secret) VALUES (1, 'A', :a), (2, 'B', NULL)"
        )
        connection.execute(insert, {"a": SECRET})
    migrate(engine)
    engine.dispose()
    after = factories.dump(empty_database_url)
    sealed = {row[0]: row[-1] for row in after["researchers"]}
    assert (unseal(str(sealed[1]), 1), sealed[2]) == (SECRET, None)
    assert [row[1] for row in after["untidied"]] == [None]
    assert factories.run(empty_database_url, "tidy").exit_code == 0
    if empty_database_url.startswith("sqlite"):
        path = empty_database_url.removeprefix("sqlite:///")
        files = [Path(path + end) for end in ("", "-wal") if Path(path + end).exists()]
        assert all(SECRET.encode() not in file.read_bytes() for file in files)


def test_an_upgrade_without_secrets_makes_no_key(key: Path, empty_database_url: str) -> None:
    assert factories.run(empty_database_url, "user", "list").exit_code == 0
    assert not key.exists()


def test_the_key_is_changed_and_the_old_one_opens_nothing_any_more(key: Path, database_url: str) -> None:
    number, _ = with_codes(database_url)
    old = key.read_text()
    done = factories.run(database_url, "rotate-key", "--json")
    assert (done.exit_code, json.loads(done.stdout)["sealed"]) == (0, 1)
    assert (len(key.read_text().split()), old.strip() in key.read_text()) == (1, False)
    assert sign_in(database_url, pyotp.TOTP(SECRET).now()) == 303

    new = key.read_text()
    key.write_text(old)
    refused = factories.run(database_url, "rotate-key")
    assert (refused.exit_code, "does not hold the key" in refused.stderr) == (2, True)
    assert key.read_text() == old
    key.write_text(new)
    with factories.writing(database_url) as session:
        assert unseal(str(session.get_one(Researcher, number).totp_sealed), number) == SECRET
        # What a server that starts beside others is held to.
        assert session.scalar(sa.select(Server.sealed_by)) == find_public_key(make=False)


def publish_with_completions(url: str) -> Callable[[], bool]:
    """What publishes a survey that needs a key of its own; and then whether that can be opened."""
    slug = factories.draft(url, factories.definition())
    factories.settle(url, slug, completions=True)

    def publish() -> bool:
        with factories.writing(url) as session:
            survey = sample_releases.find_survey(session, slug)
            surveys.publish(session, survey)
        with factories.writing(url) as session:
            modulus = find_completion_modulus(session, survey.id)
            assert modulus is not None
            return open_key(session.connection(), modulus).modulus == modulus

    return publish


def go_on_with_a_search(url: str) -> Callable[[], bool]:
    """What asks a search something; and then something else."""
    survey = test_searches.close_answered(url)
    number = test_searches.start_search(url, survey.slug)
    ask = partial(test_searches.ask_stratum, url, survey.slug, number)
    return lambda: ask("q2", "South") is ask("q1", "South") is False


@pytest.mark.parametrize("prepare", [publish_with_completions, go_on_with_a_search])
def test_what_is_sealed_while_the_key_is_changed_can_be_opened(
    key: Path, postgresql: NewDatabase, prepare: Callable[[str], Callable[[], bool]]
) -> None:
    """Whoever comes when the change has begun waits with sealing, and not only with storing what was sealed."""
    url = postgresql(True)
    with_codes(url)
    act = prepare(url)
    waits = sa.text("SELECT count(*) FROM pg_locks WHERE locktype = 'relation' AND NOT granted")
    engine = make_engine(url)
    with ThreadPoolExecutor(1) as pool, engine.connect() as watching:
        with open_session(engine, writes=True) as session:
            session.execute(
                sa.text("LOCK TABLE researchers, searches, ticket_keys, webhooks IN EXCLUSIVE MODE")
            )
            acting = pool.submit(act)
            while not watching.scalar(waits):
                assert not acting.done()
                time.sleep(0.01)
            reseal(session)
        assert acting.result(60)
    engine.dispose()


@pytest.mark.parametrize("there", [False, True])
def test_a_key_is_not_changed_for_a_database_that_has_sealed_nothing(
    key: Path, new_database: NewDatabase, there: bool
) -> None:
    """As where DATABASE_URL was forgotten: what the right one has sealed would be lost."""
    seal(SECRET, 1)
    before = key.read_text()
    url = new_database(there)
    refused = factories.run(url, "rotate-key")
    assert (refused.exit_code, key.read_text()) == (2, before), refused.output
    assert ("has sealed nothing" if there else "must name a database") in refused.stderr


def test_a_change_that_dies_leaves_what_can_be_opened(key: Path) -> None:
    """Before the database was committed, and after it."""
    sealed = seal(SECRET, 7)
    anew: list[str] = []

    def die(again: Callable[[str, int], str], _public: str) -> None:
        anew.append(again(sealed, 7))
        raise ArithmeticError

    with pytest.raises(ArithmeticError):
        rotate_key(die)
    assert {unseal(each, 7) for each in (sealed, *anew)} == {SECRET}


def test_what_is_sealed_for_one_opens_for_no_other(key: Path) -> None:
    with pytest.raises(LostKeyError):
        unseal(seal(SECRET, 7), 8)


def test_a_file_that_cannot_be_read_just_now_is_no_lost_key(key: Path) -> None:
    """Whoever asks is told to come again, not that the key is gone."""
    sealed = seal(SECRET, 7)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    try:
        with pytest.raises(OSError, match="Too many open files"):
            unseal(sealed, 7)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert unseal(sealed, 7) == SECRET
    key.unlink()
    with pytest.raises(LostKeyError):
        unseal(sealed, 7)


def test_where_the_key_is_lost_recovery_codes_go_on_and_the_log_says_so(
    key: Path, database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    _, recovery = with_codes(database_url)
    key.unlink()
    with caplog.at_level(logging.ERROR):
        assert sign_in(database_url, pyotp.TOTP(SECRET).now()) == 403
    assert "codes of apps cannot be checked" in caplog.text
    assert SECRET not in caplog.text
    assert sign_in(database_url, recovery[0]) == 303
    assert not key.exists()
    checked = factories.run(database_url, "check")
    assert (checked.exit_code, "does not hold the key" in checked.stdout) == (1, True)


def test_a_backup_has_the_sealed_secret_and_not_the_key(
    key: Path, sqlite: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, new = sqlite(True), sqlite(False)
    with_codes(url)
    back_up(url, tmp_path / "b")
    restore(new, tmp_path / "b")
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(tmp_path / "other.key"))
    assert sign_in(new, pyotp.TOTP(SECRET).now()) == 403
    monkeypatch.setenv("MONEDA_SECRETS_KEY", str(key))
    assert secrets_key() == key
    assert sign_in(new, pyotp.TOTP(SECRET).now()) == 303


@pytest.mark.parametrize("content", [None, b"garbage"])
def test_codes_are_refused_where_the_key_cannot_be_kept(
    key: Path, database_url: str, content: bytes | None
) -> None:
    """A folder that is none, or a file that is none of keys: named on the page, and nothing is changed."""
    if content is None:
        key.parent.write_bytes(b"")
    else:
        key.parent.mkdir()
        key.write_bytes(content)
    factories.account(database_url, "ana", PASSWORD)
    app = create_app(Config(database_url=database_url))
    client = app.test_client()
    assert enter(client, "ana", PASSWORD).status_code == 303
    given = {"secret": SECRET, "code": pyotp.TOTP(SECRET).now()}
    answer = client.post("/manage/account/codes", data=given)
    app.extensions["moneda.engine"].dispose()
    assert (answer.status_code, "File of the key" in answer.text, str(key) in answer.text) == (
        503,
        True,
        True,
    )
    assert content is None or key.read_bytes() == content
    with factories.writing(database_url) as session:
        assert session.scalars(sa.select(Researcher.totp_sealed)).all() in ([None], [None, None])


@pytest.mark.parametrize("damaged", ["sealed", "c2VhbGVk", "é", ""])
def test_what_was_damaged_is_not_opened(damaged: str) -> None:
    seal("a secret", 1)  # so that there is a key
    with pytest.raises(LostKeyError):
        unseal(damaged, 1)
