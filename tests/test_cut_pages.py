"""Pages whose connection to PostgreSQL is cut while they are answered, once, twice or every time, at every moment."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.config import Config
from server.store.engines import make_engine
from server.store.failures import RETRY_AFTER
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app

MOMENTS = ("checkout", "begin", "before_cursor_execute", "commit", "rollback", "checkin")
"""What SQLAlchemy tells of before it happens; the last two also when a request is over."""
CUT_OTHERS = sa.text(
    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND pid != pg_backend_pid()"
)
ROWS: dict[str, Callable[[int, int], bool]] = {
    "once": lambda first, now: now == first,
    "twice": lambda first, now: now in (first, first + 1),
    "apart": lambda first, now: now in (first, first + 3),
    "from there on": lambda first, now: now >= first,
}
SCHEDULE = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}
_MOST_MOMENTS = 400


@pytest.fixture
def other(postgresql: NewDatabase) -> Iterator[sa.Engine]:
    """Somebody who may end the connections of others."""
    engine = make_engine(postgresql(True)).execution_options(isolation_level="AUTOCOMMIT")
    yield engine
    engine.dispose()


@pytest.fixture
def cut_app(other: sa.Engine) -> Iterator[Flask]:
    made = create_app(Config(database_url=other.url.render_as_string(hide_password=False)))
    yield made
    made.extensions["moneda.engine"].dispose()


class Cuts:
    """Counts moments, and cuts every connection at those that it is told."""

    def __init__(self, app: Flask, other: sa.Engine) -> None:
        self.seen, self._other = 0, other
        self._when: Callable[[int], bool] = lambda _now: False
        for moment in MOMENTS:
            sa.event.listen(app.extensions["moneda.engine"], moment, self._note, insert=True)

    def begin(self, when: Callable[[int], bool]) -> None:
        self.seen, self._when = 0, when

    def _note(self, *_told: Any) -> None:
        self.seen += 1
        if self._when(self.seen):
            with self._other.connect() as connection:
                connection.execute(CUT_OTHERS).all()


# SQLAlchemy closes no cursor of a connection that was lost, and the driver warns of those on the server.
@pytest.mark.filterwarnings("ignore:<psycopg.ServerCursor object.*deleted while still open:ResourceWarning")
@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("page", ["", "/results", "POST"])
def test_a_page_whose_connection_is_cut_is_answered_later(
    cut_app: Flask, other: sa.Engine, caplog: pytest.LogCaptureFixture, row: str, page: str
) -> None:
    url = other.url.render_as_string(hide_password=False)
    client = factories.sign_in(cut_app.test_client(), factories.sign_in_secret(url))
    survey = factories.publish(url)
    address = f"/manage/surveys/{survey.slug}"

    def ask(asking: FlaskClient) -> Any:
        return (
            asking.post(f"{address}/schedule", data=SCHEDULE)
            if page == "POST"
            else asking.get(address + page)
        )

    expected = ask(client).status_code
    cuts, sent_away = Cuts(cut_app, other), 0
    for first in range(1, _MOST_MOMENTS):
        caplog.clear()
        cuts.begin(lambda now, first=first: ROWS[row](first, now))  # type: ignore[misc]
        answer = ask(client)
        reached = cuts.seen
        cuts.begin(lambda _now: False)
        if answer.status_code == 503:
            sent_away += 1
            assert answer.headers["Retry-After"] == str(RETRY_AFTER)
            assert "the database could not be reached, or its connection broke" in caplog.text
        else:
            assert answer.status_code == expected, (first, caplog.text)
        assert ask(client).status_code == expected, first  # nothing of it is left behind
        if reached < first:
            break
    assert first < _MOST_MOMENTS - 1
    assert sent_away > 2
    factories.let_go(url)
