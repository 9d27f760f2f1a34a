"""Servers that begin in a process in which everything is imported and compiled already.

`python -m server serve` spends two seconds of processor time on imports and one on its templates, and hundreds of tests
start one. So one process imports and compiles it all and forks: what runs in the copy is the same
`python -m server`, with its own arguments, environment, standard streams, process group and end. Other modules that
tests run as processes of their own, to kill them or to let several race, begin in the same way.
`tests/test_start.py` and `tests/test_cli.py` start Python anew.

Run as `python -m tests.support.forked_servers DESCRIPTOR`: requests come through the socket of this number, each
with three descriptors: standard output, standard error, and a socket that is told the process id and, in the end,
the status.
"""

import array
import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn, TextIO

ROOT = Path(__file__).parent.parent.parent
_LONGEST = 1 << 20
"""Bytes of a request."""


class ForkedServer:
    """A running `python -m server`, or another `module`, with as much of `subprocess.Popen` as tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: TextIO | None = None,
        module: str = "server",
    ) -> None:
        reading, writing = os.pipe()
        self._status, status = socket.socketpair()
        asked = {"module": module, "arguments": list(arguments), "environment": dict(environment)}
        request = json.dumps(asked).encode()
        errors = 2 if log is None else log.fileno()
        descriptors = [writing, errors, status.fileno()]
        socket.send_fds(_importer(), [len(request).to_bytes(4, "big") + request], descriptors)
        os.close(writing)
        status.close()
        self.stdout = os.fdopen(reading, "r", encoding="utf-8")
        self.pid = int(self._read_line())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The status if it has ended: minus the signal that ended it."""
        return self._end(0)

    def wait(self, timeout: float | None = None) -> int:
        """The status once it has ended.

        Raises
        ------
        subprocess.TimeoutExpired
            After so many seconds.
        """
        status = self._end(timeout)
        if status is None:
            raise subprocess.TimeoutExpired("server", timeout or 0)
        return status

    def communicate(self, timeout: float | None = None) -> str:
        """What it writes to its standard output until it ends, which may take so many seconds from then on."""
        with self.stdout:
            written = self.stdout.read()
        self.wait(timeout)
        return written

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, if it has not ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it without asking."""
        self.send_signal(signal.SIGKILL)

    def _end(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            self.returncode = int(self._read_line())
            self._status.close()
        return self.returncode

    def _read_line(self) -> bytes:
        line = b""
        while not line.endswith(b"\n"):
            read = self._status.recv(1)
            if not read:
                raise RuntimeError("the process that imports and forks has ended")
            line += read
        return line


@cache
def _importer() -> socket.socket:
    """A process of this one's own that has imported everything, reached through a socket; it ends with this one."""
    here, there = socket.socketpair()
    with there:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_servers", str(there.fileno())],
            cwd=ROOT,
            pass_fds=[there.fileno()],
            stdin=subprocess.DEVNULL,
        )

    def end() -> None:
        here.close()
        process.wait()

    atexit.register(end)
    return here


def _serve_requests(requests: socket.socket) -> None:
    # Those that wait for a server are nobody's concern once they have said how it ended.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        head, descriptors, _, _ = socket.recv_fds(requests, 4, 3)
        if not head:
            return
        body = b""
        while len(body) < int.from_bytes(head, "big"):
            body += requests.recv(_LONGEST)
        if os.fork() == 0:
            _watch(json.loads(body), *array.array("i", descriptors), requests)
        for descriptor in descriptors:
            os.close(descriptor)


def _watch(
    request: Mapping[str, object], output: int, errors: int, status: int, requests: socket.socket
) -> NoReturn:
    """Start the program as a process below this one, and say its number and how it ends."""
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    number = os.fork()
    if number == 0:
        os.close(status)
        _become_program(request, output, errors)
    os.close(output)
    with suppress(BrokenPipeError), socket.socket(fileno=status) as told:
        told.sendall(b"%d\n" % number)
        told.sendall(b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
    os._exit(0)


def _become_program(request: Mapping[str, object], output: int, errors: int) -> NoReturn:
    module, arguments, environment = (request[key] for key in ("module", "arguments", "environment"))
    assert isinstance(module, str)
    assert isinstance(arguments, list)
    assert isinstance(environment, dict)
    os.setsid()
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [module, *arguments]
    code: object = 1
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 0 if code is None else 1)


def _prepare() -> None:
    """Import what commands and a server import by the time it has answered, and compile what it compiles.

    Those are its templates, its addresses, and the statements with which it looks at a new database: a second, a tenth
    and a tenth. Each server would do it anew, and whoever came to it first would wait.
    """
    from importlib import import_module

    from server.cli import MODULES
    from server.cli.check_command import check_at_start
    from server.config import Config
    from server.web.app import create_app
    from server.web.database_start import open_database
    from server.web.handbook import read_handbook
    from tests.support import cheap_hashes, shared_compilation

    for module in MODULES.values():
        import_module(f"server.cli.{module}")
    cheap_hashes.use()
    shared_compilation.keep()
    with tempfile.TemporaryDirectory(prefix="moneda-") as folder:
        database_url = f"sqlite:///{folder}/looked-at.sqlite3"
        engine = open_database(database_url, check=True)
        check_at_start(engine)
        engine.dispose()
        app = create_app(Config(database_url=database_url))
        shared_compilation.compile_templates(app)
        app.url_map.update()
        app.extensions["moneda.engine"].dispose()
    read_handbook()


def _keep_for_good(prepare: Callable[[], None]) -> None:
    """Let no search for garbage look at what is prepared, neither meanwhile nor in any copy of this process.

    Each server looks at all that it has once it has begun: that would take most of its start, and copy all of it.
    """
    gc.disable()
    prepare()
    gc.collect()
    gc.freeze()
    gc.enable()


if __name__ == "__main__":
    _keep_for_good(_prepare)
    _serve_requests(socket.socket(fileno=int(sys.argv[1])))
