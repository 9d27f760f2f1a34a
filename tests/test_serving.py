"""A process that serves, from within."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.forked_servers import ForkedServer

COUNT = """
import gc
from server.web.serving import create_worker
front = create_worker()
print(gc.get_freeze_count(), len(gc.get_objects()))
front.close()
"""


def test_what_is_there_at_the_start_is_not_searched_for_garbage(sqlite: NewDatabase) -> None:
    """Looking through all of it takes a tenth of a second, in which nobody is answered."""
    parent = {"MONEDA_SERVING_PROCESS": str(os.getpid()), "MONEDA_SERVING_PROCESSES": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=factories.ROOT,
        env={**factories.environment(sqlite(True)), **parent},
        capture_output=True,
        text=True,
        check=True,
    )
    kept, searched = map(int, done.stdout.split())
    assert kept > 50_000
    assert searched < kept / 10


@pytest.mark.parametrize("workers", [1, 3])
def test_an_address_is_printed_once_somebody_listens_there(postgresql: NewDatabase, workers: int) -> None:
    """Whoever reads it may come at once: with a worker that has still to import all, nobody would be let in."""
    port = factories.free_port()
    command = ["serve", "--port", str(port), "--workers", str(workers)]
    process = ForkedServer(command, factories.environment(postgresql(True)), None)
    try:
        with socket.socket() as visitor, process.stdout as said:
            first = said.readline()  # which may be a warning
            met = visitor.connect_ex(("127.0.0.1", port))
            lines = [first]
            while lines[-1] not in ("Ctrl-C stops it.\n", ""):
                lines.append(said.readline())
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
    finally:
        process.kill()
        process.wait(30)
    assert met == 0
    assert any(line.endswith(f" is on http://127.0.0.1:{port}\n") for line in lines)
