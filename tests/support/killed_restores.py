"""Restores that are killed in the middle, each before another step: a statement, a commit, or a row that is copied.

Run as `python -m tests.support.killed_restores FILE IDENTITY URL...`: the first of the empty databases gets all of
the backup, which says how many steps that takes; in each of the others the restore dies, at moments from early on to
the very last step. Every attempt is a fork of this process, as importing the program takes longer than restoring.
"""

import os
import signal
import sys

import psycopg
import sqlalchemy as sa

from server.cli import main

MOMENTS = (0.4, 0.945, -2, -1, 0)
"""Before which step: after these parts of all of them, or so many before the last. At the second, rows are written."""


def restore(file: str, identity: str, url: str, last: int | None) -> int:
    """The number of steps of a restore, which goes well; or minus the signal that ends it before the step `last`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        steps = _count_steps(last)
        os.environ["DATABASE_URL"] = url
        main(["restore", file, "--identity", identity], standalone_mode=False)
        os.write(writing, b"%d" % len(steps))
        os._exit(0)
    os.close(writing)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with open(reading, "rb") as said:
        return int(said.read()) if status == 0 else status


def _count_steps(last: int | None) -> list[None]:
    """A list that gets longer with each step of this process, which dies before the step `last`."""
    steps: list[None] = []

    def step(*_: object, **__: object) -> None:
        steps.append(None)
        if len(steps) == last:
            os.kill(os.getpid(), signal.SIGKILL)

    sa.event.listen(sa.Engine, "before_cursor_execute", step)
    sa.event.listen(sa.Engine, "commit", step)
    write_row = psycopg.Copy.write_row  # what is copied passes SQLAlchemy by

    def count_row(copy: psycopg.Copy, row: object) -> None:
        step()
        write_row(copy, row)

    psycopg.Copy.write_row = count_row
    return steps


if __name__ == "__main__":
    file, identity, whole, *others = sys.argv[1:]
    steps = restore(file, identity, whole, None)
    moments = [round(moment * steps) if 0 < moment < 1 else steps + int(moment) for moment in MOMENTS]
    print(*(restore(file, identity, url, moment) for url, moment in zip(others, moments, strict=True)))
