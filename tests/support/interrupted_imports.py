"""An import that shows when it is under way, and one that dies there.

Run as `python -m tests.support.interrupted_imports URL FILE TOLD`.
"""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from server import archives, people
from server.store.engines import TakingTurns, make_engine, open_session

PAUSE = 0.15
"""Seconds: more than those after which an import commits what it has."""


def bring(database_url: str, file: IO[bytes], meanwhile: Callable[[int], None], *, turns: bool = True) -> str:
    """Import an archive in parts that all take long; `meanwhile` is called after each. The new slug.

    Without `turns`, the twin: it keeps everything in one transaction.
    """
    engine = make_engine(database_url)
    told = 0

    def tell(_done: int, _of: int) -> None:
        nonlocal told
        told += 1
        meanwhile(told)

    try:
        with open_session(engine, writes=True) as session:
            owner = people.first_researcher(session)  # which is a transaction, as in the command
            taking = _Slow(session) if turns else _Selfish(session)
            survey = archives.unpack(session, owner, file, taking, tell).survey
            session.commit()
            return survey.slug
    finally:
        engine.dispose()


class _Slow(TakingTurns):
    def after_a_part(self) -> None:
        time.sleep(PAUSE)  # as long as it may take until others have a turn
        super().after_a_part()


class _Selfish(TakingTurns):
    def after_a_part(self) -> None:
        pass

    def give_way(self) -> None:
        pass


def _die_at(number: int) -> Callable[[int], None]:
    def meanwhile(told: int) -> None:
        if told == number:
            os.kill(os.getpid(), signal.SIGKILL)

    return meanwhile


if __name__ == "__main__":
    url, path, place = sys.argv[1:]
    with Path(path).open("rb") as stream:
        bring(url, stream, _die_at(int(place)))
