"""What looking at a large survey costs, beside a bare page of the same server: `make bench-live`.

Two surveys, each of ten thousand, a million and ten million responses: ten yes/no questions; and 20 questions
of every kind with 12 strata in a three-level tree. One reader after the other, over HTTP; then each file once,
with the memory that the server has taken by then. And 500 and 1,960 strata. Nothing here passes or fails: what
is asked for is printed beside what was measured. MONEDA_BENCH_MOST is the largest size.
"""

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from server.store.engines import make_engine, migrate
from tests.benchmarks.filling import fill
from tests.support import every_kind, factories

SIZES = tuple(
    (responses, most)
    for responses, most in ((10_000, 1), (1_000_000, 2), (10_000_000, 3))
    if responses <= int(os.environ.get("MONEDA_BENCH_MOST", "10000000"))
)
"""Responses, and how many times as long as with the first the live page may take."""
ROUNDS = 11
MEMORY = 300
"""Megabytes that no process may exceed."""
FILES = ("report.json", "report.html", "report.xlsx", "report.pdf", "responses.csv", "microdata.zip")
TREE = "\n".join(
    f"{country} > {region} > Plant {plant}, {1000 * plant + 500 * len(region)}"
    for country in ("Mexico", "Peru", "Spain")
    for region in ("North", "South")
    for plant in (1, 2)
)
MANY = (
    ("20 questions of every kind", 500, 60_000),
    ("20 questions of every kind", 500, 20_000),
    ("10 yes/no questions", 500, 60_000),
    ("10 yes/no questions", 1_960, 200_000),
)
"""Surveys of many strata: what they ask, how many smallest strata and responses; where few, limits are exact."""


def document() -> dict[str, Any]:
    """Twenty questions."""
    made = every_kind.document(others=False)
    more = [factories.question(name, f"Yes by {name} of coins?") for name in ("pair", "handful")]
    return {**made, "questions": [*made["questions"], *more]}


def tree_of(leaves: int) -> str:
    """So many strata in twenty regions, with their populations."""
    return "\n".join(f"Region {place % 20} > Plant {place}, {1000 + place}" for place in range(leaves))


def study(folder: Path, definition: Mapping[str, Any], tree: str, responses: int) -> tuple[str, str]:
    """A survey that so many have answered; its database, and its slug."""
    database_url = f"sqlite:///{folder / f'{responses}.sqlite3'}"
    engine = make_engine(database_url)
    migrate(engine)
    engine.dispose()
    slug = factories.publish(database_url, definition, minimum=10).slug
    if tree:
        factories.plant(database_url, slug, tree)
    fill(database_url, slug, responses)
    return database_url, slug


def cookie_of(served: factories.Served) -> str:
    """The cookie of a researcher who has signed in."""
    _status, headers, _body = factories.fill_in(served.sign_in_link, {})
    return str(headers["Set-Cookie"]).partition(";")[0]


def getter(served: factories.Served, cookie: str) -> Callable[[str], tuple[float, int]]:
    """Milliseconds and bytes of a page."""

    def get(path: str) -> tuple[float, int]:
        with closing(HTTPConnection(urlsplit(served.url).netloc, timeout=300)) as connection:
            begin = time.perf_counter()
            connection.request("GET", path, headers={"Cookie": cookie})
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, answer.status
            return 1000 * (time.perf_counter() - begin), len(body)

    return get


def memory_of(served: factories.Served) -> float:
    """The most memory, in megabytes, that a process of the server has ever had."""
    group, most = os.getpgid(served.process.pid), 0
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            if os.getpgid(int(status.parent.name)) == group:
                (line,) = (each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
                most = max(most, int(line.split()[1]))
        except (OSError, ValueError):
            continue  # it has ended, or is of the system's own
    return most / 1024


def measure(database_url: str, slug: str, pages: Mapping[str, str]) -> float:
    """Pages in turns, then files; the median of the first page but the bare one, in milliseconds."""
    home = f"/manage/surveys/{slug}"
    with factories.serving(database_url) as served:
        get = getter(served, cookie_of(served))
        times: dict[str, list[float]] = {name: [] for name in ("a bare page", *pages)}
        sizes = {}
        for _ in range(ROUNDS):
            for name, path in {"a bare page": "/", **pages}.items():
                milliseconds, sizes[name] = get(path if path == "/" else f"{home}/{path}")
                times[name].append(milliseconds)
        bare = statistics.median(times["a bare page"])
        for name, taken in times.items():
            median = statistics.median(taken)
            print(f"    {name:<34}{median:9.1f} ms {median / bare:7.1f} times bare {sizes[name]:>12,} bytes")
        for name in FILES:
            milliseconds, size = get(f"{home}/{name}")
            memory = memory_of(served)
            print(
                f"    {name:<34}{milliseconds:9.0f} ms, up to here {memory:5.0f} MB of {MEMORY} {size:>12,} bytes"
            )
    return statistics.median(times["the live page"])


def main() -> None:
    """Each survey at each size."""
    pages = {"the live page": "results", "two questions together": "results?row=party&column=trust"}
    for title, definition, tree, looked in (
        ("10 yes/no questions", factories.definition([0.25] * 10), "", {"the live page": "results"}),
        ("20 questions, 12 strata", document(), TREE, pages),
    ):
        first = 0.0
        for responses, most in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                print(f"{title}, {responses:,} responses")
                took = measure(*study(Path(folder), definition, tree, responses), looked)
                first = first or took
                print(f"    {took / first:.2f} times the live page of {SIZES[0][0]:,}, asked {most}")
    for title, leaves, responses in MANY:
        every = title.startswith("20")
        looked = {"the live page": "results", "at every look": "results?interval=anytime"}
        looked |= {
            "the strata": "strata",
            "every stratum": f"strata.csv?question={'party' if every else 'q1'}",
        }
        if every:
            # These take longest: many levels, many options, and means among those who answered.
            looked |= {
                f"every stratum: {name}": f"strata.csv?question={name}" for name in ("mood", "city", "trust")
            }
            looked |= {"two questions together": pages["two questions together"]}
        with tempfile.TemporaryDirectory() as folder:
            print(f"{title}, {leaves:,} strata, {responses:,} responses, closed")
            print("    asked of 500 strata: 1,000 ms and 3,000,000 bytes, but for files of responses")
            definition = document() if every else factories.definition([0.25] * 10)
            database_url, slug = study(Path(folder), definition, tree_of(leaves), responses)
            factories.close(database_url, slug)
            measure(database_url, slug, looked)


if __name__ == "__main__":
    main()
