"""A command that is ended takes the processes with it that it has started, whoever ends it and however."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import NewDatabase
from tests.support.factories import ROOT, environment

_PATIENCE = 60
"""Seconds; a worker that nobody ends is there for good."""


def list_children(process: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []


def is_running(process: int) -> bool:
    """Whether it is there, and not merely waiting for somebody to ask how it ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def list_workers(process: int) -> list[int]:
    """The children that try mechanisms: each spends processor time, and has a thread that waits for the command."""
    found = []
    for child in list_children(process):
        words = Path(f"/proc/{child}/cmdline").read_bytes()
        if b"spawn_main" in words and len(list(Path(f"/proc/{child}/task").iterdir())) > 1:
            found.append(child)
    return found


def wait_for(what: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE
    while not what():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT])
def test_an_audit_that_is_ended_leaves_no_worker(sqlite: NewDatabase, how: signal.Signals) -> None:
    """With Ctrl-C it does not wait for their trials either: here they are stopped, and would never end."""
    command = subprocess.Popen(
        [sys.executable, "-m", "server", "audit"],
        cwd=ROOT,
        env=environment(sqlite(False)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: bool(list_workers(command.pid)))
        everybody = list_children(command.pid)
        if how == signal.SIGINT:
            for worker in list_workers(command.pid):
                os.kill(worker, signal.SIGSTOP)
        command.send_signal(how)
        command.wait(_PATIENCE)
        wait_for(lambda: not any(map(is_running, everybody)))
    finally:
        for worker in list_children(command.pid):
            os.kill(worker, signal.SIGCONT)
        command.kill()
        command.wait()
