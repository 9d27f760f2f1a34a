"""`accept` is the way in without a web framework, and several share one transaction."""

import json
import subprocess
import sys
from datetime import date
from threading import Thread

import pytest
import sqlalchemy as sa

from server import responses
from server.db import make_engine
from server.inputs import InputError
from tests import factories
from tests.conftest import NewDatabase
from tests.factories import Published, stored

WITHOUT_FLASK = """
import json, sys
from datetime import date

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"flask", "werkzeug", "flask_babel", "jinja2", "click", "granian"}:
            raise ImportError(name + " is blocked")

sys.meta_path.insert(0, Blocked())
from server import responses
from server.db import make_engine, migrate

database_url, slug, *bodies = sys.argv[1:]
engine = make_engine(database_url)
migrate(engine)
with engine.execution_options(moneda_writes=True).begin() as connection:
    for body in bodies:
        try:
            print(responses.accept(connection, slug, body.encode(), date(2024, 5, 6)).value)
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
        json.dumps({**first, "reports": [1, 0]}),
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

    assert (done.stderr, done.stdout.split()) == ("", ["201", "400", "201", "200", "409", "201"])
    assert len(stored(database_url)) == 3


def test_block_would_notice_flask(sqlite: NewDatabase) -> None:
    """The broken twin: the same process, with a module that needs Flask."""
    script = WITHOUT_FLASK.replace("from server import responses", "from server import context")

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
                outcomes.append(
                    responses.accept(connection, survey.slug, body.encode(), date(2024, 5, 6)).value
                )
            except InputError as error:
                outcomes.append(error.status)
    engine.dispose()

    assert outcomes == [201, 400, 201, 200, 409, 201]
    assert sorted(bytes(row[2]) for row in stored(database_url)) == [b"\0\1", b"\0\1", b"\1\1"]  # type: ignore[call-overload]


def test_nothing_is_stored_before_the_caller_commits(survey: Published, database_url: str) -> None:
    engine = make_engine(database_url)

    with engine.connect() as connection:
        responses.accept(connection, survey.slug, json.dumps(survey.response()).encode(), date(2024, 5, 6))
        assert connection.scalar(sa.text("SELECT count(*) FROM responses")) == 1

    engine.dispose()
    assert not stored(database_url)


@pytest.mark.parametrize("slug", ["", "\x00", "\ud800", "é", "x" * 5000, "' OR 1=1 --", "%"])
def test_link_that_no_survey_can_have_is_refused_and_not_an_error(
    slug: str, survey: Published, database_url: str
) -> None:
    body = json.dumps(survey.response()).encode()
    engine = make_engine(database_url)
    with engine.execution_options(moneda_writes=True).begin() as connection:
        with pytest.raises(InputError) as refusal:
            responses.accept(connection, slug, body, date(2024, 5, 6))
        assert responses.accept(connection, survey.slug, body, date(2024, 5, 6)).value == 201
    engine.dispose()

    assert refusal.value.status == 404


def test_closing_waits_for_responses_on_their_way_in(survey: Published, database_url: str) -> None:
    """What is counted once a survey is closed is final: nothing arrives behind it."""
    engine = make_engine(database_url)
    counted: list[int] = []

    def close() -> None:
        factories.close(database_url, survey.slug)
        counted.append(len(stored(database_url)))

    with engine.execution_options(moneda_writes=True).begin() as connection:
        responses.accept(connection, survey.slug, json.dumps(survey.response()).encode(), date(2024, 5, 6))
        closing = Thread(target=close)
        closing.start()
        closing.join(0.5)
    closing.join()
    engine.dispose()

    assert counted == [1]
