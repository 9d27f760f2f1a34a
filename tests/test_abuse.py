"""What somebody with bad intentions, or a bad line, sends: nobody else may notice."""

import io
import json
import os
import re
import socket
import stat
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask.testing import FlaskClient

from server.collect.tidying.sqlite import tidy_alone
from server.collect.tidying.waiting import Patience
from server.inputs import InputError
from server.store.engines import make_engine, migrate
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Served


def test_respondents_do_not_wait_for_a_researcher_who_sends_slowly(installation: Served) -> None:
    """SQLite has one write lock; a form on its way in must not hold it."""
    survey = factories.publish(installation.database_url)
    link, parts = urlsplit(installation.sign_in_link), urlsplit(installation.url)
    _status, headers, _body = factories.fill_in(f"{installation.url}{link.path}", {})
    head = (
        "POST /manage/surveys/new HTTP/1.1",
        "Host: localhost",
        f"Cookie: {headers['Set-Cookie'].partition(';')[0]}",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 100",
    )

    with socket.create_connection((parts.hostname, parts.port), timeout=60) as slow:
        slow.sendall("\r\n".join([*head, "", "title=Ex"]).encode())
        slow.settimeout(0.5)
        with pytest.raises(TimeoutError):
            slow.recv(1)  # the server is waiting for the rest
        status, _headers, _body = factories.ask(installation.url + survey.url, survey.response())

    assert status == 201


@pytest.mark.parametrize(
    "path", ["/manage", "/manage/", "//manage/surveys", "/manage//surveys", "/s//x", "//"]
)
@pytest.mark.parametrize("host", ["evil.example", 'a"><script>', "evil.example:1", ""])
def test_no_redirect_names_the_host_that_a_request_claims(client: FlaskClient, path: str, host: str) -> None:
    answer = client.get(
        "/", base_url="http://localhost", environ_overrides={"PATH_INFO": path, "HTTP_HOST": host}
    )

    assert answer.status_code in (200, 302, 404)
    assert answer.headers.get("Location", "/").startswith("/")
    assert not answer.headers.get("Location", "/").startswith("//")
    assert "evil.example" not in answer.text


def test_endless_list_of_mistakes_is_cut() -> None:
    with pytest.raises(InputError) as refusal:
        parse_definition(factories.definition(questions=[0] * 50_000))

    assert "must have at most 100 entries; it has 50000" in refusal.value.problems[0].message
    assert len(refusal.value.problems) <= 1000


def test_endless_form_is_refused(signed_in: FlaskClient, database_url: str) -> None:
    before = factories.dump(database_url)

    for field, most in (("questions[{}].text", 100), ("questions[0].options[{}].text", 50)):
        form = {field.format(number): "" for number in range(9_999)}
        answer = signed_in.post("/manage/surveys/new", data=form)

        assert answer.status_code == 422
        assert f"at most {most} entries; it has 9999" in answer.text
        assert len(answer.data) < 10_000
    assert factories.dump(database_url) == before


def test_one_name_twice_in_a_long_object_is_named(signed_in: FlaskClient) -> None:
    """Comparing each name with each took minutes for a megabyte of them."""
    names = [f"{number:x}" for number in range(40_000)]
    body = "{" + ",".join(f'"{name}":1' for name in [*names, names[-1]]) + "}"

    answer = signed_in.post(
        "/manage/surveys/import", data={"definition": (io.BytesIO(body.encode()), "a.json")}
    )

    assert answer.status_code == 400
    assert names[-1] in answer.text


def test_text_cannot_command_the_terminal(sqlite: NewDatabase, tmp_path: Path) -> None:
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(factories.definition(title="Exams\x1b]0;owned\x07\x1b[2J\u202e")))

    done = factories.run(sqlite(True), "survey", "import", str(file))

    assert done.exit_code == 0
    assert "Exams" in done.stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.stdout)


def modes(folder: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


def test_database_is_for_nobody_else(tmp_path: Path) -> None:
    """The file, its log and the index of that, whatever mode files usually have; those that are there already, too."""
    path = tmp_path / "moneda.sqlite3"
    names = {f"moneda.sqlite3{ending}" for ending in ("", "-wal", "-shm")}
    before = os.umask(0)
    try:
        for _start in range(2):
            engine = make_engine(f"sqlite:///{path}")
            migrate(engine)
            with engine.connect():
                found = modes(tmp_path)
                for each in tmp_path.iterdir():
                    each.chmod(0o664)  # as older ones were made
                again = make_engine(f"sqlite:///{path}")
                assert modes(tmp_path) == dict.fromkeys(names, 0o600)
                again.dispose()
            engine.dispose()
            assert found == dict.fromkeys(names, 0o600)
    finally:
        os.umask(before)


@pytest.mark.parametrize("older", [False, True])
def test_nobody_else_can_lock_what_keeps_a_file_from_being_tidied_twice(tmp_path: Path, older: bool) -> None:
    path = tmp_path / "moneda.sqlite3-tidying"
    before = os.umask(0)
    try:
        if older:
            path.touch(0o664)
        engine = make_engine(f"sqlite:///{tmp_path / 'moneda.sqlite3'}")
        with tidy_alone(engine, Patience(1)):
            assert modes(tmp_path)[path.name] == 0o600
        engine.dispose()
    finally:
        os.umask(before)


def test_files_that_commands_write_are_for_nobody_else(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.run(database_url, "survey", "close", survey.slug)
    before = os.umask(0)
    try:
        for arguments in (
            ("survey", "export", survey.slug, "--zip", str(tmp_path / "survey.zip")),
            ("report", survey.slug, "--format", "microdata", "--output", str(tmp_path / "microdata.zip")),
        ):
            done = factories.run(database_url, *arguments)
            assert done.exit_code == 0, done.output
    finally:
        os.umask(before)

    assert modes(tmp_path) == {"survey.zip": 0o600, "microdata.zip": 0o600}


def test_folder_of_a_new_database_is_for_nobody_else(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    engine = make_engine(f"sqlite:///{folder / 'moneda.sqlite3'}")
    migrate(engine)
    engine.dispose()

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
