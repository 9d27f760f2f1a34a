"""Deleting what is due, in a process that dies before it commits for the nth time.

Run as `python -m tests.support.killed_deletions URL N`. One that lives to its end prints the most rows that it
deleted in one transaction.
"""

import os
import signal
import sys
from typing import Any

import sqlalchemy as sa

from server import archives
from server.collect import tidying
from server.store.engines import make_engine
from server.study.surveys import now


def _delete(database_url: str, last: int) -> int:
    commits, rows = 0, [0]

    def before_commit(_connection: sa.Connection) -> None:
        nonlocal commits
        commits += 1
        if commits == last:
            os.kill(os.getpid(), signal.SIGKILL)
        rows.append(0)

    def after_statement(_connection: sa.Connection, cursor: Any, statement: str, *_: object) -> None:
        if statement.startswith("DELETE"):
            rows[-1] += cursor.rowcount

    engine = make_engine(database_url)
    sa.event.listen(engine, "commit", before_commit)
    sa.event.listen(engine, "after_cursor_execute", after_statement)
    archives.delete_due(engine, now(), tidying.Patience(tidying.LONG_PATIENCE))
    engine.dispose()
    return max(rows)


if __name__ == "__main__":
    print(_delete(sys.argv[1], int(sys.argv[2])))
