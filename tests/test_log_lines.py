"""The log: lines of text or JSON, levels, and no word of a respondent, whatever is refused, damaged or fails."""

import asyncio
import json
import logging
import re
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask

from server.config import from_environment
from server.web.watching.log_lines import LogLines
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published

SECRET = "5ca1ab1e"
LOGGERS = ("intake", "code_looks", "visits")


def come_and_answer(url: str, survey: Published, codes: Sequence[str]) -> list[str]:
    """A respondent's whole visit, stored, sent again, refused and damaged; all words that nobody may read later."""
    bodies = [
        survey.response(invitation=codes[0]),
        survey.response([9, 9], invitation=codes[1]),
        survey.response(version="0" * 64, invitation=codes[1]),
        survey.response(invitation=codes[1], id=SECRET),
        survey.response(invitation="AAAA-BBBB"),
    ]
    for path in (f"/s/{survey.slug}", f"/s/{survey.slug}/survey.json", f"/s/{survey.slug}/{SECRET}"):
        factories.ask(f"{url}{path}?{SECRET}=1", **{"X-Forwarded-For": "203.0.113.7", "User-Agent": SECRET})
    for code in codes:
        factories.ask(f"{url}/s/{survey.slug}/code.json", {"invitation": code})
    for body in bodies:
        for _ in range(2):
            factories.ask(url + survey.url, body)
    factories.ask(url + survey.url, SECRET)
    factories.ask(url + survey.url, {"id": SECRET, "reports": [SECRET]}, Cookie=SECRET)
    ids = [str(body["id"]) for body in bodies]
    return [*ids, *codes, survey.slug, survey.version, "/s/", SECRET, "127.0.0.1", "203.0.113.7", "AAAA-BBBB"]


def damage(path: str) -> None:
    """Take away what storing a response, looking at a code and a visit need."""
    with closing(sqlite3.connect(path)) as database:
        for table in ("responses_1", "invitations_1", "revisions"):
            database.execute(f"ALTER TABLE {table} RENAME TO gone_{table}")
        database.commit()


def test_no_line_of_a_visit_names_anything_of_it(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    codes = factories.invite(database_url, survey.slug, 3)
    settings = {"MONEDA_LOG_FORMAT": "json", "MONEDA_LOG_LEVEL": "debug"}
    with (
        (tmp_path / "log").open("w") as log,
        factories.serving(database_url, log, **settings) as served,
    ):
        secrets = come_and_answer(served.url, survey, codes)
        healthy = (tmp_path / "log").read_text()
        damage(database_url.removeprefix("sqlite:///"))
        come_and_answer(served.url, survey, codes)
    text = (tmp_path / "log").read_text()

    assert healthy == ""  # who comes, and is taken or refused, leaves no line
    lines = [json.loads(line) for line in text.splitlines()]
    assert {f"server.web.front.{each}" for each in LOGGERS} <= {line["logger"] for line in lines}
    assert all(line.keys() == {"hour", "level", "logger", "message"} for line in lines)
    assert {line["level"] for line in lines} == {"error"}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\dZ", line["hour"]) for line in lines)
    found = [secret for secret in secrets if secret in text]
    assert found == []


def test_text_is_a_line_for_each_too(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    with (tmp_path / "log").open("w") as log, factories.serving(database_url, log) as served:
        damage(database_url.removeprefix("sqlite:///"))
        assert factories.ask(served.url + survey.url, survey.response())[0] == 503
    first = (tmp_path / "log").read_text().splitlines()[0]
    expected = (
        r"\S+T\d\dZ error server\.web\.front\.intake OperationalError at \S+:\d+ while storing responses"
    )
    assert re.fullmatch(expected, first), first


def write(name: str, message: str, *arguments: object, error: BaseException | None = None) -> str:
    """What becomes of a record."""
    info: Any = (type(error), error, error.__traceback__) if error else None
    record = logging.LogRecord(name, logging.ERROR, "/x/base_events.py", 7, message, arguments, info)
    return LogLines(as_json=False).format(record)


def test_what_other_libraries_quote_is_not_repeated() -> None:
    try:
        sa.create_engine("sqlite://").connect().exec_driver_sql("SELECT ?", (SECRET, 1))
    except sa.exc.SQLAlchemyError as raised:
        error = raised
    assert SECRET in str(error)
    said = write("asyncio", f"Exception in callback store({SECRET!r})", error=error)
    assert SECRET not in said
    assert "a line of another library, from base_events.py:7: " in said
    assert "ProgrammingError at" in said
    assert SECRET not in write("_granian.asgi", f"refused {SECRET}")
    assert write("server.x", "of\nours\n%s", 1).endswith("error server.x of ours 1")


def test_a_line_has_the_hour_and_no_minute() -> None:
    record = logging.LogRecord("server", logging.ERROR, "x", 1, "said", (), None)
    record.created = datetime(2026, 5, 4, 13, 59, 58, tzinfo=UTC).timestamp()
    assert LogLines(as_json=False).format(record) == "2026-05-04T13Z error server said"


def test_an_error_that_nobody_expected_is_answered_and_not_quoted(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    sent: list[Any] = []

    async def receive() -> Any:
        raise ValueError(SECRET)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/s/{SECRET}/responses",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [(b"content-length", b"3"), (b"content-type", b"application/json")],
    }
    # In a thread of its own: a browser that another test of this process drives has a loop in this one.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, app.extensions["moneda.front"](scope, receive, send)).result()

    assert sent[0]["status"] == 500
    assert "ValueError at" in caplog.text
    assert SECRET not in caplog.text + str(sent)


def test_settings_that_are_none() -> None:
    with pytest.raises(ValueError, match="MONEDA_LOG_FORMAT must be one of text, json; it is 'xml'"):
        from_environment({"MONEDA_LOG_FORMAT": "xml"})
    with pytest.raises(ValueError, match="MONEDA_LOG_LEVEL must be one of debug, info, warning, error"):
        from_environment({"MONEDA_LOG_LEVEL": "loud"})


def test_levels_below_a_warning_are_our_own_lines_alone() -> None:
    """With them, SQLAlchemy would write every statement and its values."""
    program = (
        "import logging, logging.config; from server.config import from_environment;"
        "from server.web.watching.log_lines import configure_log;"
        "logging.config.dictConfig(configure_log(from_environment({'MONEDA_LOG_LEVEL': 'debug'})));"
        "names = ('server.x', 'sqlalchemy.engine.Engine', 'asyncio', 'alembic.runtime.migration', '_granian');"
        "print([logging.getLogger(name).isEnabledFor(logging.INFO) for name in names])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=factories.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[True, False, False, False, False]"


def test_what_nobody_caught_is_not_quoted_either() -> None:
    program = (
        "import logging.config, threading; from server.config import from_environment;"
        "from server.web.watching.log_lines import configure_log, log_uncaught;"
        "logging.config.dictConfig(configure_log(from_environment({}))); log_uncaught();"
        f"threads = [threading.Thread(target=int, args=['{SECRET}!'])];"
        "[(each.start(), each.join()) for each in threads];"
        f"gone = type('Gone', (), {{'__del__': lambda _self: int('{SECRET}?')}})(); del gone"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=factories.ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr.count("ValueError") == done.stderr.count("\n") == 2
    assert SECRET not in done.stderr
