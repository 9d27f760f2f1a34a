"""Made-up definitions, surveys and responses, and the real server in a process of its own."""

import hashlib
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import date
from email.message import Message
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlencode, urlsplit, urlunsplit

import sqlalchemy as sa
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.orm import Session

from server import archives, people
from server.cli import main
from server.collect import acceptance, batches, invitation_batches
from server.people import survey_access
from server.store import own_tables
from server.store.engines import make_engine, open_session
from server.store.models import FailedAttempt, Member, Researcher, State, Survey, TicketKey, Untidied
from server.store.own_tables import responses_of
from server.study import strata, surveys
from server.study.definitions.definition_reader import parse_definition
from tests.support.forked_servers import ForkedServer
from tests.support.form_client import end_fields

ROOT = Path(__file__).parent.parent.parent

Rows = dict[str, list[tuple[object, ...]]]


@dataclass(frozen=True)
class Published:
    """A published survey, as its respondents know it."""

    slug: str
    version: str
    definition: dict[str, Any]

    @property
    def url(self) -> str:
        return f"/s/{self.slug}/responses"

    def response(self, reports: Sequence[int] | None = None, **changes: object) -> dict[str, object]:
        """The body of a response, all "no" unless other reports are given."""
        zeros = [0] * len(self.definition["questions"])
        fresh = {"id": secrets.token_hex(16), "version": self.version, "reports": list(reports or zeros)}
        return {**fresh, **changes}


def question(name: str = "copied", text: str = "Have you copied?", gamma: float = 0.25) -> dict[str, Any]:
    """A yes/no question of a definition."""
    return {
        "name": name,
        "kind": "yes_no",
        "text": text,
        "design": {"mechanism": "coin_flip", "gamma": gamma},
    }


def definition(gammas: Sequence[float] = (0.25, 0.1), **changes: object) -> dict[str, Any]:
    """A definition with one question for each gamma, named q1, q2, ..."""
    questions = [question(f"q{k}", f"Question {k}?", gamma) for k, gamma in enumerate(gammas, start=1)]
    fixed = {"format": 1, "language": "en", "title": "Exams", "introduction": "", "questions": questions}
    return {**fixed, **changes}


def draft(database_url: str, document: Mapping[str, object], owner: str | None = None) -> str:
    """Keep a definition as a draft of the first researcher, or of another one; its slug."""
    with writing(database_url) as session:
        return surveys.create(session, _researcher(session, owner), parse_definition(document)).slug


def draft_unfinished(database_url: str, document: Mapping[str, object]) -> str:
    """Keep a document that is no definition yet as a draft; its slug."""
    with writing(database_url) as session:
        return surveys.create(session, _researcher(session, None), document).slug


def publish(
    database_url: str, document: Mapping[str, object] | None = None, slug: str = "", minimum: int = 1
) -> Published:
    """Publish a definition as a new survey, or as the next version of the survey `slug`.

    A new survey's results show groups of `minimum` responses: tests send few.
    """
    document = document or definition()
    parsed = parse_definition(document)
    with writing(database_url) as session:  # once: thousands of tests begin with this
        if slug:
            survey = _find_survey(session, slug)
            surveys.save_draft(session, survey, parsed.as_json())
        else:
            survey = surveys.create(session, _researcher(session, None), parsed)
            survey.minimum = minimum
        return Published(survey.slug, surveys.publish(session, survey).sha256, dict(document))


def save(database_url: str, slug: str, document: Mapping[str, object]) -> None:
    """Change the draft of a survey."""
    with writing(database_url) as session:
        surveys.save_draft(session, _find_survey(session, slug), parse_definition(document).as_json())


def close(database_url: str, slug: str) -> None:
    """Close a survey."""
    with writing(database_url) as session:
        acceptance.close_survey(_find_survey(session, slug))


def forget_surveys(database_url: str, *but: str) -> None:
    """Delete every survey but those of these slugs, and at once what else would be left for later.

    Each has tables of its own, and a connection to SQLite reads what they all are whenever one was made: beside
    hundreds that were used up, a test would do little else.
    """
    with writing(database_url) as session:
        for survey in session.scalars(sa.select(Survey).where(Survey.slug.not_in(but))).all():
            archives.delete(session, survey)
            for kind in reversed(own_tables.KINDS):
                own_tables.table(kind, survey.id).drop(session.connection())
        session.execute(sa.delete(Untidied))


def plant(database_url: str, slug: str, text: str) -> dict[str, str]:
    """Add strata to a survey, a line for each as a researcher pastes them; all paths and their links' slugs."""
    with writing(database_url) as session:
        strata.add_strata(session, _find_survey(session, slug), strata.parse_lines(text))
        return {
            node.path: node.stratum.slug
            for node in strata.walk(strata.tree(session, _find_survey(session, slug)))
        }


def settle(database_url: str, slug: str, **settings: object) -> None:
    """Set columns of a survey: `paused`, `by_invitation`, `opens_at`, `closes_at`, `cap`, `minimum`, ..."""
    with writing(database_url) as session:
        found = _find_survey(session, slug)
        for name, value in settings.items():
            setattr(found, name, value)


def store(
    database_url: str,
    survey: Published,
    rows: Sequence[tuple[Sequence[int], int]],
    link: str = "",
    day: date = date(2026, 5, 1),
) -> None:
    """Keep responses to a version without sending them: reports and how often each; by the own link or a stratum's."""
    with writing(database_url) as session:
        found = _find_survey(session, survey.slug)
        version = next(each for each in found.versions if each.sha256 == survey.version)
        found_link = surveys.find_link(session, link or survey.slug)
        assert found_link is not None
        stratum = found_link[1].id if found_link[1] else None
        session.execute(
            sa.insert(responses_of(found.id)),
            [
                {
                    "id": secrets.token_bytes(16),
                    "version_id": version.id,
                    "stratum_id": stratum,
                    "reports": bytes(reports),
                    "day": day,
                }
                for reports, count in rows
                for _ in range(count)
            ],
        )
        strings = [bytes(reports) for reports, count in rows for _ in range(count)]
        if strings:
            group = batches.Group(found.minimum, strings, {day: len(strings)})
            batches.count(session.connection(), {found.id: len(strings)})
            batches.add(session.connection(), found.id, {batches.CellKey(version.id, stratum): group})
        if found.state == State.CLOSED:
            batches.seal_all(session.connection(), found.id, day, found.minimum)


def lose_keys(database_url: str, slug: str) -> None:
    """Let nothing open the secrets of a survey's keys any more, as where the file of the key for secrets was lost."""
    with writing(database_url) as session:
        of_survey = TicketKey.survey_id == _find_survey(session, slug).id
        session.execute(sa.update(TicketKey).where(of_survey).values(exponent_sealed="bG9zdA=="))


def invite(database_url: str, slug: str, size: int, link: str = "") -> list[str]:
    """Make a survey one by invitation and issue codes for its own link, or for that of a stratum."""
    settle(database_url, slug, by_invitation=True)
    with writing(database_url) as session:
        found_link = surveys.find_link(session, link or slug)
        assert found_link is not None
        return invitation_batches.issue(session, *found_link, size, "Class 3B")[1]


def _researcher(session: Session, name: str | None) -> Researcher:
    if name is None:
        return people.first_researcher(session)
    session.add(researcher := Researcher(name=name))
    session.flush()
    return researcher


def _find_survey(session: Session, slug: str) -> Survey:
    survey = survey_access.find(session, slug)
    assert survey is not None
    survey_access.lock(session, survey)
    return survey


def account(database_url: str, login: str, password: str = "", *, administrator: bool = False) -> int:
    """Add a researcher with this login, and this password if there is one; the number."""
    with writing(database_url) as session:
        added = people.add(session, login.title(), administrator=administrator)
        added.login = login
        added.password_hash = hash_password(password) if password else None
        session.flush()
        return added.id


@cache
def hash_password(password: str) -> str:
    """A hash takes long on purpose; one for each password is enough for all tests."""
    return people.hash_password(password)


def join(database_url: str, slug: str, number: int, role: str) -> None:
    """Give a researcher a role in a survey."""
    with writing(database_url) as session:
        session.add(Member(survey_id=_find_survey(session, slug).id, researcher_id=number, role=role))


def link_of(database_url: str, number: int) -> str:
    """The secret of a new one-time link of a researcher."""
    with writing(database_url) as session:
        return people.new_sign_in_link(session, session.get_one(Researcher, number))


def sign_in_secret(database_url: str, owner: str | None = None) -> str:
    """The secret of a new one-time link of the first researcher, or of a researcher made for it."""
    with writing(database_url) as session:
        return people.new_sign_in_link(session, _researcher(session, owner))


def sign_in(client: FlaskClient, secret: str) -> FlaskClient:
    """Press the button behind a one-time link."""
    answer = client.post(f"/manage/sign-in/{secret}")
    assert answer.status_code == 303
    return client


_ENGINES: dict[str, sa.Engine] = {}
"""On PostgreSQL: connecting anew for each thing that a test does takes longer than most of them."""


@contextmanager
def staying_connected(database_url: str) -> Iterator[None]:
    """Keep the connection to SQLite, too: beside hundreds of surveys, a new one first reads what all their tables are.

    Nobody may read or copy the database's file meanwhile: part of it is in the write-ahead log.
    """
    _ENGINES[database_url] = make_engine(database_url)
    try:
        yield
    finally:
        let_go(database_url)


@contextmanager
def writing(database_url: str) -> Iterator[Session]:
    """A session that is committed at the end."""
    engine = _ENGINES.get(database_url) or make_engine(database_url)
    try:
        with open_session(engine, writes=True) as session, session.begin():
            yield session
    finally:
        if engine.dialect.name == "postgresql":
            _ENGINES.setdefault(database_url, engine)
        if _ENGINES.get(database_url) is not engine:  # SQLite's file holds everything once it is closed
            engine.dispose()


def let_go(database_url: str) -> None:
    """Close the connection that is kept to a database."""
    if engine := _ENGINES.pop(database_url, None):
        engine.dispose()


def dump(database_url: str) -> Rows:
    """Every row of every table but that of failed attempts, in an order that depends on the rows alone.

    What surveys have in tables of their own stands together, under the name of its kind.
    """
    with writing(database_url) as session:
        rows: Rows = {kind.name: [] for kind in own_tables.KINDS}
        for name, table in _tables(session):
            # Most surveys of tests have no response, and making a statement for a table takes longer than looking.
            if session.connection().exec_driver_sql(f"SELECT 1 FROM {table.name} LIMIT 1").first():  # noqa: S608
                rows.setdefault(name, []).extend(map(tuple, session.execute(sa.select(table))))
            rows.setdefault(name, [])
        return {name: sorted(each, key=repr) for name, each in rows.items()}


def dump_tidied(database_url: str) -> Rows:
    """The same but for accounts, once what is due was done.

    An import that is refused late has stored parts by then, and on an empty database made the first researcher.
    """
    assert run(database_url, "tidy").exit_code == 0
    return {name: rows for name, rows in dump(database_url).items() if name != "researchers"}


def _tables(session: Session) -> Iterator[tuple[str, sa.Table]]:
    """All tables that the database has, whether the models know them or not."""
    connection = session.connection()
    kinds = {kind.name for kind in own_tables.KINDS}
    shared = []
    for name, *columns in connection.execute(sa.text(_COLUMNS[connection.dialect.name])):
        kind, _, rest = name.partition("_")
        number, _, suffix = rest.partition("_")
        if name == FailedAttempt.__tablename__:  # which grows by what changes nothing else
            continue
        if kind not in kinds or not number.isdigit():
            shared.append((name, *columns))
        elif not suffix and columns[0] in ("table", "id", "code_hash", "writer", "strings"):  # once for each
            yield kind, _own_table(kind, int(number))
    known = connection.dialect.name, tuple(shared)
    if known not in _REFLECTED:  # which takes much longer than to see that they are those of the test before
        metadata = sa.MetaData()
        metadata.reflect(connection, only=list({name for name, *_columns in shared if name}))
        _REFLECTED[known] = metadata.sorted_tables
    yield from ((table.name, table) for table in _REFLECTED[known])


@cache
def _own_table(name: str, survey: int) -> sa.Table:
    (kind,) = (kind for kind in own_tables.KINDS if kind.name == name)
    return own_tables.table(kind, survey)


_COLUMNS = {
    "sqlite": "SELECT name, type, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name",
    "postgresql": "SELECT table_name, column_name, data_type FROM information_schema.columns"
    " WHERE table_schema = 'public' ORDER BY table_name, ordinal_position",
}
_REFLECTED: dict[tuple[str, tuple[object, ...]], Sequence[sa.Table]] = {}


def stored_id(body: Mapping[str, object]) -> bytes:
    """What is stored of a response's receipt."""
    return hashed_id(str(body["id"]))


def hashed_id(receipt: str) -> bytes:
    """What is stored of a receipt: half of its SHA-256."""
    return hashlib.sha256(bytes.fromhex(receipt)).digest()[:16]


def list_responses(database_url: str) -> list[tuple[object, ...]]:
    """The rows of responses."""
    return dump(database_url)["responses"]


def ask(url: str, body: object = None, **headers: str) -> tuple[int, Message, bytes]:
    """Over real HTTP, GET an address or POST JSON to it: status, headers, answer."""
    if body is None:
        return _exchange("GET", url, None, headers)
    return _exchange("POST", url, json.dumps(body), {"Content-Type": "application/json", **headers})


def fill_in(url: str, fields: Mapping[str, object], **headers: str) -> tuple[int, Message, bytes]:
    """Over real HTTP, POST a form: status, headers, answer."""
    form = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    return _exchange("POST", url, urlencode(end_fields(fields.items())), form)


def _exchange(
    method: str, url: str, body: str | None, headers: Mapping[str, str]
) -> tuple[int, Message, bytes]:
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.netloc, timeout=60)) as connection:
        target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request(method, target, body, dict(headers))
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()


@dataclass(frozen=True)
class Served:
    """A running server: where it is, on which database, and how to sign in once."""

    url: str
    database_url: str
    sign_in_link: str
    process: ForkedServer | subprocess.Popen[str]


def free_port() -> int:
    """A loopback port that nothing listens on, below those that systems give to outgoing connections."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


def environment(database_url: str, **settings: str) -> dict[str, str]:
    """The environment of a process on this database; of our own settings those given here, and where marks are kept."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MONEDA_") or name in ("MONEDA_MARKS", "MONEDA_SECRETS_KEY")
    }
    return {**kept, "DATABASE_URL": database_url, **settings}


def moneda(
    database_url: str, *arguments: str, text: str = "", **settings: str
) -> subprocess.CompletedProcess[str]:
    """Run `python -m server` with these arguments to its end, in a process of its own."""
    command, env = [sys.executable, "-m", "server", *arguments], environment(database_url, **settings)
    return subprocess.run(
        command, cwd=ROOT, env=env, input=text, capture_output=True, text=True, timeout=120, check=False
    )


def run_forked(database_url: str, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """The same in a process that begins with everything imported: no more is asked than that it is another one."""
    with tempfile.TemporaryFile("w+") as errors:
        process = ForkedServer(arguments, environment(database_url, **settings), errors)
        written = process.communicate(120)
        errors.seek(0)
        return subprocess.CompletedProcess(arguments, process.wait(), written, errors.read())


def run(database_url: str, *arguments: str, text: str = "") -> Result:
    """Run a command, which reads this text, in this process: that is quicker than one for each command."""
    return CliRunner(env={"DATABASE_URL": database_url}).invoke(main, arguments, input=text)


def keep_house(app: Flask) -> None:
    """Let the job that a serving process has do all that is due now."""
    housekeeper = app.extensions["moneda.housekeeper"]
    housekeeper.start()
    housekeeper.stop(60)


@contextmanager
def serving(
    database_url: str, log: TextIO | None = None, workers: int = 1, port: int = 0, **settings: str
) -> Iterator[Served]:
    """Run `python -m server serve` on a port, or a free one, and stop it with Ctrl-C's signal.

    `log` receives what it writes to standard error. The server leads a process group of its
    own, so that a test can kill all of it. A server that a test has ended already is left
    alone; any other must stop cleanly.
    """
    port = port or free_port()
    command = ["serve", "--port", str(port), "--sign-in-link", "--workers", str(workers)]
    process: ForkedServer | subprocess.Popen[str]
    if "PYTHONPATH" in settings:  # another copy of the program, which is not the one that was imported
        process = subprocess.Popen(
            [sys.executable, "-m", "server", *command],
            cwd=ROOT,
            env=environment(database_url, **settings),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
    else:
        process = ForkedServer(command, environment(database_url, **settings), log)
    try:
        yield _await_start(process, f"http://127.0.0.1:{port}", database_url)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, "the server did not stop cleanly"
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def _await_start(process: ForkedServer | subprocess.Popen[str], url: str, database_url: str) -> Served:
    """Wait until the server has said everything and answers."""
    assert process.stdout is not None
    link = ""
    for line in process.stdout:
        if "/manage/sign-in/" in line:
            link = line[line.index("http") :].strip()
        if line.startswith("Ctrl-C"):
            break
    while process.poll() is None:
        try:
            ask(url)
        except ConnectionError:
            time.sleep(0.01)  # the server needs the processor more
            continue
        return Served(url, database_url, link, process)
    raise AssertionError(f"the server ended with status {process.returncode} before it answered")
