"""Processes that a command starts end when it does, whoever ends it and however."""

import fcntl
import multiprocessing
import os
import threading
from multiprocessing.connection import wait


def watch_parent() -> None:
    """End with whoever started this process: nobody tells it so where that one is killed, and it would wait forever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    # Linux ends a process by SIGIO when the pipe to its parent closes, also in the middle of a sum of huge numbers,
    # which lets no thread have its turn for many seconds; the thread is for other systems.
    fcntl.fcntl(parent.sentinel, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(parent.sentinel, fcntl.F_SETFL, fcntl.fcntl(parent.sentinel, fcntl.F_GETFL) | os.O_ASYNC)
    threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
