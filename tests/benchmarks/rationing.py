"""Servers that get a fixed part of a core each, so that they are what a load waits for, and not who sends it.

On a machine that sends the load and runs the database as well, one server has all cores busy, and a second can
take nothing more. Stopped for most of each period, servers leave the rest of the machine idle: what a second one
adds then is what it would add on a machine of its own, less what the two cost each other in the database. That is
shown at its worst: whoever is stopped holds its locks while the others run.
"""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import psutil

PERIOD = 0.04
"""Seconds."""
PART = 0.25
"""Of each period, in which a server may run; of several, one after the other."""


@contextmanager
def ration_processes(pid: int) -> Iterator[None]:
    """Let the processes that this one started run for their part of each period only."""
    workers = psutil.Process(pid).children()
    ended = threading.Event()
    turns = threading.Thread(target=_take_turns, args=(workers, ended))
    turns.start()
    try:
        yield
    finally:
        ended.set()
        turns.join()


def _take_turns(workers: list[psutil.Process], ended: threading.Event) -> None:
    assert len(workers) * PART <= 1
    pause = PERIOD / len(workers) - PERIOD * PART
    for worker in workers:
        worker.send_signal(signal.SIGSTOP)
    try:
        while not ended.is_set():
            for worker in workers:
                worker.send_signal(signal.SIGCONT)
                time.sleep(PERIOD * PART)
                worker.send_signal(signal.SIGSTOP)
                time.sleep(pause)
    finally:
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
