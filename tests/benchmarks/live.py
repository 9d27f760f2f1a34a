"""What the live page costs, beside a bare page of the same server: `make bench-live`.

20 questions of every kind, 12 strata in a three-level tree, 20,000 responses; one reader after the
other, over HTTP. Nothing here passes or fails: the target is printed beside what was measured.
"""

import secrets
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import sqlalchemy as sa

from server import strata, surveys
from server.db import make_engine, migrate
from server.own_tables import responses_of
from server.simulation import Assumptions, draw_people
from tests import factories, kinds

RESPONSES = 20_000
ROUNDS = 21
TARGET = 300
"""Milliseconds at the median."""
TREE = "\n".join(
    f"{country} > {region} > Plant {plant}, {1000 * plant + 500 * len(region)}"
    for country in ("Mexico", "Peru", "Spain")
    for region in ("North", "South")
    for plant in (1, 2)
)


def document() -> dict[str, Any]:
    """Twenty questions."""
    made = kinds.document()
    more = [factories.question(name, f"Yes by {name} of coins?") for name in ("pair", "handful")]
    return {**made, "questions": [*made["questions"], *more]}


def study(database_url: str) -> str:
    """A survey that 20,000 made-up people of 12 strata have answered within three weeks; its slug."""
    slug = factories.publish(database_url, document(), minimum=10).slug
    factories.plant(database_url, slug, TREE)
    assumptions = Assumptions(kinds.assumed_shares(), kinds.assumed_means())
    with factories.writing(database_url) as session:
        survey = surveys.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        definition = surveys.definition_of(survey.current)
        reports = draw_people(definition, RESPONSES, assumptions).reports()
        leaves = strata.leaves(strata.tree(session, survey))
        generator = np.random.default_rng(5)
        links = generator.choice(len(leaves), RESPONSES).tolist()
        days = generator.integers(0, 21, RESPONSES).tolist()
        session.execute(
            sa.insert(responses_of(survey.id)),
            [
                {
                    "id": secrets.token_bytes(16),
                    "version_id": survey.current.id,
                    "reports": bytes(row),
                    "day": date(2026, 5, 1) + timedelta(days=day),
                    "stratum_id": leaves[link].stratum.id,
                }
                for row, link, day in zip(reports.tolist(), links, days, strict=True)
            ],
        )
    return slug


def cookie_of(served: factories.Served) -> str:
    """The cookie of a researcher who has signed in."""
    _status, headers, _body = factories.fill_in(served.sign_in_link, {})
    return str(headers["Set-Cookie"]).partition(";")[0]


def getter(served: factories.Served, cookie: str) -> Callable[[str], tuple[float, int]]:
    """Milliseconds and bytes of a page."""

    def get(path: str) -> tuple[float, int]:
        with closing(HTTPConnection(urlsplit(served.url).netloc, timeout=60)) as connection:
            begin = time.perf_counter()
            connection.request("GET", path, headers={"Cookie": cookie})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, answer.status
            return 1000 * (time.perf_counter() - begin), len(body)

    return get


def main() -> None:
    """Measure, pages in turns."""
    with tempfile.TemporaryDirectory() as folder:
        database_url = f"sqlite:///{Path(folder) / 'bench.sqlite3'}"
        engine = make_engine(database_url)
        migrate(engine)
        engine.dispose()
        slug = study(database_url)
        home = f"/manage/surveys/{slug}/results"
        pages = {
            "a bare page (the first page of the site)": "/",
            "the live page": home,
            "the same, a scale by stratum": f"{home}?question=mood",
            "the same, two questions together": f"{home}?row=party&column=trust",
            "the same, intervals for one look": f"{home}?interval=once",
        }
        with factories.serving(database_url) as served:
            get = getter(served, cookie_of(served))
            times: dict[str, list[float]] = {name: [] for name in pages}
            sizes = {}
            for _ in range(ROUNDS):
                for name, path in pages.items():
                    milliseconds, sizes[name] = get(path)
                    times[name].append(milliseconds)
    print(f"20 questions, 12 strata, {RESPONSES:,} responses; medians of {ROUNDS}, target {TARGET} ms")
    bare = statistics.median(next(iter(times.values())))
    for name, taken in times.items():
        median = statistics.median(taken)
        print(f"  {name:<44}{median:8.1f} ms   {median / bare:6.1f} times bare   {sizes[name]:>9,} bytes")


if __name__ == "__main__":
    main()
