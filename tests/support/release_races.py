"""Releases from many processes at once, and from processes that are killed; run with what to do and a database.

    python -m tests.support.release_races race URL SLUG PROCESSES THREADS
    python -m tests.support.release_races kill URL SLUG TIMES together|apart

`race` forks so many processes, each of which releases a count from each of its threads: the same for every line
"same" on standard input, anew for every other line. It prints what those got who got something, on one line. `kill`
forks a process
for each time, which releases as fast as it can until it is killed at a random point of the first
two releases.
"""

import multiprocessing
import os
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from sqlalchemy import Engine
from sqlalchemy import insert as into

from server import releases
from server.inputs import InputError
from server.people import survey_access
from server.releases.plans.plan_reader import ReleasePlan, parse_plan
from server.store.engines import make_engine, open_session
from server.store.models import LedgerEntry, ReleasedValue


def _plan(anew: bool) -> ReleasePlan:
    item = {"kind": "count", "epsilon": "0.1", "anew": anew}
    return parse_plan({"format": 1, "division": "given", "items": [item]})


def _release(engine: Engine, slug: str, plan: ReleasePlan) -> int | None:
    """The released number; None where the budget was spent."""
    with open_session(engine, writes=True) as session, session.begin():
        survey = survey_access.find(session, slug)
        assert survey is not None
        survey_access.lock(session, survey)
        try:
            (made,) = releases.make(session, survey, plan, None)
        except InputError as error:
            if [problem.field for problem in error.problems] == ["epsilon"]:
                return None
            raise
    return int(made.figures[0].value or 0)


def race(url: str, slug: str, processes: int, threads: int) -> None:
    """Release from many threads of many processes at once, whenever a line comes in."""
    context = multiprocessing.get_context("fork")  # each copy has imported everything
    racing = []
    for _ in range(processes):
        here, there = context.Pipe()
        context.Process(target=_race, args=(url, slug, threads, there), daemon=True).start()
        racing.append(here)
    assert [each.recv() for each in racing] == ["ready"] * processes
    for line in sys.stdin:
        for process in racing:
            process.send(line != "same\n")
        print(*(value for process in racing for value in process.recv()))


def _race(url: str, slug: str, threads: int, told: Connection) -> None:
    engine = make_engine(url)
    told.send("ready")
    with ThreadPoolExecutor(threads) as pool:
        while True:
            plan = _plan(bool(told.recv()))
            got = pool.map(lambda _: _release(engine, slug, plan), range(threads))  # noqa: B023 - used up below
            told.send([value for value in got if value is not None])


def kill(url: str, slug: str, times: int, apart: bool) -> None:
    """Fork a process that releases, and kill it at a random point; so many times."""
    engine = make_engine(url)
    _release(engine, slug, _plan(True))  # loads what every child then has
    engine.dispose()
    chance, longest = random.Random(6), 0.05
    for _ in range(times):
        told, tells = os.pipe()
        begun = time.monotonic()
        child = os.fork()
        if not child:
            _release_for_ever(url, slug, tells, apart)
        os.close(tells)
        if chance.random() < 0.5:
            os.read(told, 1)
            longest = time.monotonic() - begun
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(told)


def _release_for_ever(url: str, slug: str, tells: int, apart: bool) -> None:
    try:
        engine = make_engine(url)
        while True:
            _release(engine, slug, _plan(True))
            os.write(tells, b".")
            if apart:
                _in_two_transactions(engine)
    finally:
        os._exit(1)


def _in_two_transactions(engine: Engine) -> None:
    """What must never be done: an entry in one transaction, its value in the next."""
    with open_session(engine, writes=True) as session, session.begin():
        last = session.query(LedgerEntry).order_by(LedgerEntry.id.desc()).first()
        assert last is not None
        copied = {name: getattr(last, name) for name in _COPIED}
        place = session.query(LedgerEntry).count() + 1
        made = session.scalar(into(LedgerEntry).values(**copied, position=place).returning(LedgerEntry.id))
    time.sleep(1)  # so that kills fall between the two on any machine, however fast it writes
    with open_session(engine, writes=True) as session, session.begin():
        session.add(ReleasedValue(entry_id=made, document="{}"))


_COPIED = ("release_id", "what", "asked", "mechanism", "epsilon", "delta", "neighbours", "strata")


if __name__ == "__main__":
    what, url, slug, number, more = sys.argv[1:]
    if what == "race":
        race(url, slug, int(number), int(more))
    else:
        kill(url, slug, int(number), more == "apart")
