"""Run the application under granian, in ASGI mode, until Ctrl-C."""

import gc
import logging.config
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Sequence

import click
import scipy.linalg
import scipy.optimize.elementwise
import scipy.sparse.csgraph
import scipy.special  # noqa: F401 - SciPy loads these when they are used, and nobody shall wait for that
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.http import HTTP1Settings
from granian.log import LogLevels

from server.config import Config, from_environment
from server.web.front import Front, create_front
from server.web.watching.log_lines import configure_log, log_uncaught
from server.web.watching.metrics_port import open_metrics_port

CONNECTIONS = 8192
"""Connections that a process keeps at once; each takes a file descriptor, and idle ones hardly anything else."""
HEADER_TIMEOUT = 10_000
"""Milliseconds for the headers of a request."""
_PARENT = "MONEDA_SERVING_PROCESS"
_PROCESSES = "MONEDA_SERVING_PROCESSES"
_LOOK = 0.05
"""Seconds between two looks whether a process listens."""
_SEARCHED_AFTER = 20_000
"""Objects more than before, after which the youngest are searched for garbage."""
STOP_TIMEOUT = 4
"""Seconds after which a process that does not stop is ended. Nothing it has not acknowledged is promised."""


def serve(config: Config, host: str, port: int, lines: Sequence[str], workers: int = 1) -> None:
    """Serve `server.web.front:create_front`; print the lines once somebody who comes is let in.

    There is no access log, for any address: it would hold the times and addresses that the
    database refuses to know.

    Raises
    ------
    ValueError
        If an address is taken or cannot be used.
    """
    log = configure_log(config)
    logging.config.dictConfig(log)
    _check_free(host, port, "with --port")
    for place in range(workers if config.metrics else 0):
        assert config.metrics is not None
        taken = config.metrics.port + place
        if taken == port:
            raise ValueError(
                "MONEDA_METRICS must leave the port of --port free, and each of --workers takes one from it on; "
                f"{port} is both"
            )
        _check_free(config.metrics.host, taken, "in MONEDA_METRICS")
    _raise_limit_of_files()
    os.environ[_PARENT] = str(os.getpid())
    os.environ[_PROCESSES] = str(workers)
    server = Granian(
        "server.web.serving:create_worker",
        factory=True,
        interface=Interfaces.ASGI,
        # What "the end of a body" means is plainest there; a proxy in front speaks it too.
        http=HTTPModes.http1,
        http1_settings=HTTP1Settings(header_read_timeout=HEADER_TIMEOUT),
        address=host,
        port=port,
        workers=workers,
        backlog=1024,
        backpressure=CONNECTIONS,
        workers_kill_timeout=STOP_TIMEOUT,
        respawn_failed_workers=True,
        websockets=False,
        log_level=LogLevels.error,
        log_dictconfig=log,
        log_access=False,
    )
    threading.Thread(
        target=_tell_when_reached, args=(host, port, [*lines, "Ctrl-C stops it."]), daemon=True
    ).start()
    server.serve()


def _tell_when_reached(host: str, port: int, lines: Sequence[str]) -> None:
    """Processes listen for themselves, one sooner than another; whoever comes is given to one that does."""
    while not _is_reached(host, port):
        time.sleep(_LOOK)
    for line in lines:
        click.echo(line)


def _is_reached(host: str, port: int) -> bool:
    with socket.socket(_family(host)) as visitor:
        # Where nobody listens, the system may give the visitor this very port, and he meets himself.
        return visitor.connect_ex((host, port)) == 0 and visitor.getsockname() != visitor.getpeername()


def create_worker() -> Front:
    """The application of a process that granian starts; it ends when the one that started it has ended."""
    parent = int(os.environ[_PARENT])
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    log_uncaught()
    config = from_environment()
    processes = int(os.environ[_PROCESSES])
    front = create_front(config, processes)
    if config.metrics is not None:
        open_metrics_port(config.metrics, processes, front.metrics)
    _keep_for_good()
    return front


def _end_with(parent: int) -> None:
    # On Linux a signal could tell (PR_SET_PDEATHSIG), but only if the thread that started this process is the one
    # that ends; looking works everywhere.
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(STOP_TIMEOUT)
    os._exit(1)


def _keep_for_good() -> None:
    """Let the search for garbage pass over what is there now, which stays as long as the process.

    It would look at all of it every few thousand responses, and nobody is answered for a tenth of a second then.
    """
    gc.collect()
    gc.freeze()
    # What a response leaves is let go of at once: searching after every 700 objects took a twentieth of all time.
    gc.set_threshold(_SEARCHED_AFTER)


def _raise_limit_of_files() -> None:
    """Every connection takes a file descriptor; most systems give a process 1,024 unless it asks for more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 2 * CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _check_free(host: str, port: int, elsewhere: str) -> None:
    with socket.socket(_family(host)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ValueError(
                f"cannot serve on {host} port {port}: {error.strerror}; choose another {elsewhere}"
            ) from None


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
