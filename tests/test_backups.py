"""A backup and what it becomes: the same rows on either engine, which the real server goes on from."""

import fcntl
import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyrage
import pytest
import sqlalchemy as sa

from server import __version__
from server.archives.backups.containers import TablePart, Taker, pack_parts, read_parts
from server.archives.backups.envelopes import Lock, Unlock, decrypt_file, encrypt_chunks
from server.store.private_files import lock_beside, name_lock
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.backups import (
    KEY,
    PASSPHRASE,
    back_up,
    beside,
    is_untouched,
    key_of,
    restore,
    rows_of,
    run_with,
    start,
)
from tests.support.forked_servers import ForkedServer
from tests.support.killed_restores import MOMENTS
from tests.test_restored import is_refused, study

BOTH = [
    ("sqlite", "sqlite"),
    ("sqlite", "postgresql"),
    ("postgresql", "sqlite"),
    ("postgresql", "postgresql"),
]


@pytest.mark.parametrize(("source", "target"), BOTH)
def test_the_server_goes_on_from_a_restored_copy(
    request: pytest.FixtureRequest, tmp_path: Path, source: str, target: str
) -> None:
    """Made while a server runs and takes responses; restored elsewhere, it knows them all, and takes the next."""
    old, new = (
        request.getfixturevalue(name)(migrated) for name, migrated in ((source, True), (target, False))
    )
    survey = factories.publish(old, minimum=5)
    places = factories.plant(old, survey.slug, "Año\nAño > “B”\nC")
    other = factories.publish(old)
    codes = factories.invite(old, other.slug, 4)
    link = f"/s/{places['C']}/responses"
    with factories.serving(old) as served:
        sent = [survey.response([k % 2, 1]) for k in range(12)]
        assert {factories.ask(served.url + link, body)[0] for body in sent} == {201}
        used = other.response(invitation=codes[0])
        assert factories.ask(served.url + other.url, used)[0] == 201
        back_up(old, tmp_path / "b")
        before = rows_of(old)
    done = restore(new, tmp_path / "b")

    assert f"Moneda {__version__}" in done.stdout
    assert rows_of(new) == before
    assert factories.run(new, "recount").exit_code == 0
    with factories.serving(new) as served:
        assert factories.ask(served.url + link, sent[0])[0] == 200
        assert factories.ask(served.url + link, survey.response([1, 0]))[0] == 201
        assert factories.ask(served.url + other.url, other.response(invitation=codes[0]))[0] == 409
        assert factories.ask(served.url + other.url, other.response(invitation=codes[1]))[0] == 201
        # What gives numbers goes on after those that are there.
        assert factories.publish(new).slug != survey.slug


def test_nothing_is_released_of_a_restored_copy_before_it_is_declared(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    """Also where nothing was spent since, and where the file of marks of the old database is still there."""
    url = new_database(True)
    slug = study(url)
    assert not is_refused(url, slug)
    back_up(url, tmp_path / "b")
    parts = sa.make_url(url)
    if parts.get_backend_name() == "sqlite":
        for ending in ("", "-wal", "-shm"):
            Path(f"{parts.database}{ending}").unlink(missing_ok=True)
    else:
        admin = sa.create_engine(parts.set(database="postgres"), isolation_level="AUTOCOMMIT")
        with admin.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {parts.database} WITH (FORCE)")
            connection.exec_driver_sql(f"CREATE DATABASE {parts.database} TEMPLATE template0")
        admin.dispose()
    restore(url, tmp_path / "b")

    assert is_refused(url, slug)
    assert factories.run(url, "release", slug, "--declare", "0").exit_code == 0
    assert not is_refused(url, slug)


def test_what_would_open_something_again_is_left_out(
    signed_in: object, database_url: str, new_database: NewDatabase, tmp_path: Path
) -> None:
    new = new_database(False)
    link = factories.sign_in_secret(database_url)
    assert factories.dump(database_url)["sign_ins"]
    assert factories.dump(database_url)["sign_in_links"]
    back_up(database_url, tmp_path / "b")
    restore(new, tmp_path / "b")
    with factories.serving(new) as served:
        answer = factories.fill_in(f"{served.url}/manage/sign-in/{link}", {})
    assert answer[0] == 403
    assert factories.dump(new)["sign_ins"] == []


def test_nothing_is_overwritten(new_database: NewDatabase, tmp_path: Path) -> None:
    url, other = new_database(True), new_database(True)
    survey = factories.publish(url)
    back_up(url, tmp_path / "b")
    before = factories.dump(other)
    for target in (url, other):
        done = run_with(target, "restore", str(tmp_path / "b"))
        assert (done.exit_code, "already" in done.stderr) == (2, True), done.stderr
    assert factories.dump(other) == before
    assert factories.dump(url)["surveys"][0][1] == survey.slug
    again = run_with(url, "backup", str(tmp_path / "b"))
    assert (again.exit_code, "must be a new file" in again.stderr) == (2, True)


def test_a_log_without_its_database_is_not_taken_over(sqlite: NewDatabase, tmp_path: Path) -> None:
    """SQLite would read it into the new file."""
    url, new = sqlite(True), sqlite(False)
    back_up(url, tmp_path / "b")
    Path(f"{new.removeprefix('sqlite:///')}-wal").write_bytes(b"old")
    done = run_with(new, "restore", str(tmp_path / "b"))
    assert (done.exit_code, "-wal is there already" in done.stderr) == (2, True)


def test_a_public_key_encrypts_what_its_private_key_opens(sqlite: NewDatabase, tmp_path: Path) -> None:
    url, new = sqlite(True), sqlite(False)
    key, other = (pyrage.x25519.Identity.generate() for _ in range(2))
    for name, each in (("key", key), ("other", other)):
        (tmp_path / name).write_text(f"# created: today\n{each}\n")
    back_up(url, tmp_path / "b", "--recipient", str(key.to_public()))
    for option, sentence in (
        ((), "give its private key with --identity"),
        (("--identity", str(tmp_path / "other")), "encrypted to another key"),
        (("--identity", str(tmp_path / "b")), "must hold private keys of age"),
    ):
        done = run_with(new, "restore", str(tmp_path / "b"), *option)
        assert (done.exit_code, sentence in done.stderr) == (2, True), done.stderr
    restore(new, tmp_path / "b", "--identity", str(tmp_path / "key"))
    assert rows_of(new) == rows_of(url)


def test_a_passphrase_opens_what_it_locked_and_what_cannot_be_used_is_refused(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    url, new, file = sqlite(True), sqlite(False), tmp_path / "b"
    for arguments, passphrase, sentence in (
        ((), "short", "at least 12 characters; it has 5"),
        ((), "", "asked for on a terminal, and there is none"),
        (("--recipient", "age1x"), PASSPHRASE, "must be one of age's"),
        (("--verify", "--without-running"), PASSPHRASE, "--verify writes nothing"),
    ):
        done = run_with(url, "backup", str(file), *arguments, passphrase=passphrase)
        assert (done.exit_code, sentence in done.stderr) == (2, True), done.stderr
        assert not file.exists()
    # Each of these takes seconds: a passphrase that is odd to the last space is tried here as well.
    odd = " ñ\t'\"$(x) \U0001f511 " * 20
    assert run_with(url, "backup", str(file), passphrase=odd).exit_code == 0
    done = run_with(new, "restore", str(file), passphrase=odd.strip())
    assert (done.exit_code, "does not open the file" in done.stderr) == (2, True)
    assert run_with(new, "restore", str(file), passphrase=odd).exit_code == 0
    assert rows_of(new) == rows_of(url)


def test_the_passphrase_is_asked_for_on_the_terminal(sqlite: NewDatabase, tmp_path: Path) -> None:
    url, file = sqlite(True), tmp_path / "b"
    process, terminal = os.forkpty()
    if process == 0:
        os.chdir(factories.ROOT)
        os.execve(
            sys.executable,
            [sys.executable, "-m", "server", "backup", str(file)],
            factories.environment(url),
        )
    said = b""
    for _ in range(2):
        while not said.endswith(b": "):
            said += os.read(terminal, 1000)
        os.write(terminal, PASSPHRASE.encode() + b"\n")
        said += os.read(terminal, 1)
    with suppress(OSError):  # the end of a terminal
        while True:
            said += os.read(terminal, 1000)
    assert os.waitpid(process, 0)[1] == 0, said
    os.close(terminal)
    assert PASSPHRASE.encode() not in said
    assert run_with(url, "backup", "--verify", str(file)).exit_code == 0


def test_a_file_that_is_cut_or_changed_is_refused_before_anything_begins(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    """At every length and with every byte changed, in steps; the whole one is accepted."""
    url, new = new_database(True), new_database(False)
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 1], 3000), ([1, 0], 2000)])
    back_up(url, tmp_path / "b")
    by_key = key_of(tmp_path / "b")
    whole, file = (tmp_path / "b").read_bytes(), tmp_path / "c"
    places = sorted({0, 15, 16, 19, 20, 25, 200, len(whole) - 1, *range(300, len(whole), len(whole) // 6)})
    for place in places:
        flipped = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        for content in (whole[:place], flipped):
            file.write_bytes(content)
            done = run_with(new, "restore", str(file), *by_key)
            assert done.exit_code == 2, (place, done.output)
            assert len(done.stderr.splitlines()) <= 6, done.stderr
            assert "Traceback" not in done.stderr
    file.write_bytes(whole + b"x")
    assert run_with(new, "backup", "--verify", str(file), *by_key).exit_code == 2
    assert is_untouched(new)
    assert run_with(url, "backup", "--verify", str(tmp_path / "b"), *by_key).exit_code == 0
    restore(new, tmp_path / "b")


def test_a_restore_that_is_killed_leaves_nothing_half_done(new_database: NewDatabase, tmp_path: Path) -> None:
    """Killed all over its run, before its last step too: nothing is there, and the next attempt goes well."""
    url = new_database(True)
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 1], 6_000), ([1, 0], 3_000)])
    back_up(url, tmp_path / "b")
    before = rows_of(url)
    whole, *others = (new_database(False) for _ in range(1 + len(MOMENTS)))
    command = [str(tmp_path / "b"), key_of(tmp_path / "b")[1], whole, *others]
    killing = ForkedServer(command, factories.environment(url), module="tests.support.killed_restores")
    statuses = killing.communicate(300).splitlines()[-1:]
    assert statuses == [" ".join([f"{-signal.SIGKILL:d}"] * len(MOMENTS))]
    for new in others:
        assert is_untouched(new)
        restore(new, tmp_path / "b")
    for new in (whole, *others):
        assert rows_of(new) == before
        if new.startswith("sqlite"):
            assert beside(new) <= {"", "-wal", "-shm", ".spent", ".spent.lock"}


def test_a_disk_that_fills_leaves_nothing(sqlite: NewDatabase, tmp_path: Path) -> None:
    """A limit to the size of files stands for it: neither half a backup nor half a database is left."""
    url, new = sqlite(True), sqlite(False)
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 1], 30_000)])
    back_up(url, tmp_path / "b")
    limited = (
        "import resource, runpy, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, 400_000)); "
        "sys.argv[0] = 'server'; runpy.run_module('server', run_name='__main__', alter_sys=True)"
    )
    for database, arguments in (
        (url, ["backup", str(tmp_path / "c"), "--recipient", str(KEY.to_public())]),
        (new, ["restore", str(tmp_path / "b"), *key_of(tmp_path / "b")]),
    ):
        process = start(database, *arguments, code=limited)
        said = process.communicate()[0]
        assert process.returncode == 2, said
        assert "Traceback" not in said
    assert not (tmp_path / "c").exists()
    assert beside(new) <= {".spent", ".spent.lock"}
    restore(new, tmp_path / "b")


def test_who_waits_for_a_lock_that_is_removed_has_the_one_that_others_ask_for(tmp_path: Path) -> None:
    """Else the next who comes would make a new one, and both would restore at once."""

    def lock_too() -> bool:
        with lock_beside(tmp_path / "new"):
            return name_lock(tmp_path / "new").exists()

    with ThreadPoolExecutor(1) as pool:
        with lock_beside(tmp_path / "new"):
            waiting = pool.submit(lock_too)
            time.sleep(0.1)  # in which it begins to wait
            name_lock(tmp_path / "new").unlink()
        assert waiting.result()


def test_a_backup_gets_its_name_once_it_is_whole(sqlite: NewDatabase, tmp_path: Path) -> None:
    """Killed in between, it leaves nothing of that name; nobody else writes it meanwhile, or over it."""
    url, file, unfinished = sqlite(True), tmp_path / "b", tmp_path / "b.unfinished"
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 1], 20_000)])
    process = start(url, "backup", str(file))
    while not unfinished.exists():
        assert process.poll() is None
        time.sleep(0.01)
    with unfinished.open("rb") as opened:
        refused = run_with(url, "backup", str(file))
        assert (refused.exit_code, "must be a new file" in refused.stderr) == (2, True)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        assert not file.exists()
        fcntl.flock(opened, fcntl.LOCK_EX)  # as whoever writes it
        assert run_with(url, "backup", str(file)).exit_code == 2
    back_up(url, file)
    assert os.listdir(tmp_path) == ["b"]
    assert file.stat().st_mode & 0o777 == 0o600
    assert run_with(url, "backup", "--verify", str(file), *key_of(file)).exit_code == 0


def test_files_of_odd_names_are_what_they_are_called(sqlite: NewDatabase, tmp_path: Path) -> None:
    url, folder = sqlite(True), tmp_path / "what?is=this#año %41"
    folder.mkdir()
    back_up(url, folder / "-b ?")
    new = sa.URL.create("sqlite", database=str(folder / "new?mode=ro.sqlite3")).render_as_string()
    restore(new, folder / "-b ?")
    assert sorted(os.listdir(tmp_path)) == [folder.name]
    assert rows_of(new) == rows_of(url)
    for wrong in (
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite:///file:x?mode=memory&uri=true",
        f"sqlite:///{tmp_path}",
    ):
        refused = run_with(wrong, "restore", str(folder / "-b ?"))
        assert (refused.exit_code, "DATABASE_URL must name" in refused.stderr) == (2, True), wrong
    nowhere = "sqlite:////proc/self/new.sqlite3"  # nor may root
    refused = run_with(nowhere, "restore", str(folder / "-b ?"), *key_of(folder / "-b ?"))
    assert (refused.exit_code, "must be a folder that can be written to" in refused.stderr) == (2, True)


def test_a_restored_copy_says_that_what_was_changed_since_is_as_it_was(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """Somebody shut out, and a survey closed and one deleted after the backup, are back; the command says so."""
    url, new = sqlite(True), sqlite(False)
    closed, deleted = factories.publish(url), factories.publish(url)
    factories.account(url, "ana", "correct horse battery staple")
    back_up(url, tmp_path / "b")
    for words in (
        ("user", "disable", "ana"),
        ("survey", "close", closed.slug),
        ("survey", "delete", deleted.slug, "--confirm", deleted.slug),
    ):
        assert factories.run(url, *words).exit_code == 0
    said = restore(new, tmp_path / "b").stderr
    for words in (
        "who was shut out is let in",
        "closed take responses",
        "tickets that were used let in",
        "completion codes that were checked are good once more",
        "what was deleted is back",
        "what was taken back",
    ):
        assert words in said.replace("\n", " ")
    assert [(row[1], row[3]) for row in factories.dump(new)["surveys"]] == [
        (closed.slug, "open"),
        (deleted.slug, "open"),
    ]
    assert not any(row[7] for row in factories.dump(new)["researchers"])


def test_a_passphrase_that_is_no_text_is_refused_without_being_told(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    done = run_with(sqlite(True), "backup", str(tmp_path / "b"), passphrase="correct horse \udcff")
    assert (done.exit_code, "must be text in UTF-8" in done.stderr, "horse" in done.stderr) == (
        2,
        True,
        False,
    )


def test_a_whole_file_that_is_no_backup_of_ours_is_refused(new_database: NewDatabase, tmp_path: Path) -> None:
    """Anybody can encrypt to a public key; what hashes cannot tell is refused in a sentence, and nothing begins."""
    url, new = new_database(True), new_database(False)
    factories.publish(url)
    key = pyrage.x25519.Identity.generate()
    (tmp_path / "key").write_text(str(key))
    by_key = ("--identity", str(tmp_path / "key"))
    back_up(url, tmp_path / "b", "--recipient", str(key.to_public()))
    begun: dict[str, Any] = {}
    whole: list[TablePart] = []

    class Keeping(Taker):
        def begin(self, beginning: dict[str, Any]) -> None:
            begun.update(beginning)

        def take(self, part: TablePart) -> None:
            whole.append(part)

    with (tmp_path / "b").open("rb") as file, decrypt_file(file, Unlock(identity=str(key))) as plain:
        read_parts(plain, Keeping())
    (people,) = (each for each in whole if each.table == "researchers")
    huge = replace(people, lines=b"[" + b"9" * 30 + people.lines[people.lines.index(b",") :])
    part = TablePart("surveys", 1, b"[1]\n")
    forged: list[tuple[dict[str, Any], list[TablePart]]] = [
        ({}, []),
        ({"surveys": ["1; DROP TABLE surveys"]}, []),
        ({"columns": None}, []),
        ({"columns": {"researchers; --": []}}, []),
        ({"columns": {"surveys": [["id", "number"]]}}, [part]),
        ({}, [TablePart("nothing", 1, b"[1]\n")]),
        ({}, [TablePart("surveys", 1, b"{\n")]),
        ({}, [part]),
        ({"surveys": [1, 1]}, whole),
        ({"surveys": [1, 2]}, whole),
        ({"surveys": [1, -1]}, whole),
        ({"own_columns": {"responses": 7}}, whole),
        ({}, [each for each in whole if each is people]),
        ({}, [*whole, people]),
        ({}, [huge if each is people else each for each in whole]),
    ]
    for number, (changes, parts) in enumerate(forged):
        path = tmp_path / f"forged{number}"
        with path.open("wb") as file:
            beginning = {**begun, **changes}
            if not number:
                del beginning["software"]
            encrypt_chunks(pack_parts(beginning, parts), file, Lock(recipient=str(key.to_public())))
        done = run_with(new, "restore", str(path), *by_key)
        assert (done.exit_code, "Traceback" in done.stderr) == (2, False), (number, done.output)
        assert is_untouched(new), number
    restore(new, tmp_path / "b", *by_key)
