"""Run the application under granian, in WSGI mode, until Ctrl-C."""

import socket
from collections.abc import Sequence

import click
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from server.config import Config

THREADS = 32
"""Requests answered at once. Most wait for others: responses that arrive together are stored together."""


def address(config: Config, host: str, port: int) -> str:
    """Where the site is reached from this machine or, if set, by the public."""
    shown = f"[{host}]" if ":" in host else host
    return config.public_url or f"http://{shown}:{port}"


def serve(host: str, port: int, lines: Sequence[str]) -> None:
    """Serve `server.app:create_app`; print the lines once the address is known to be free.

    There is no access log, for any address: it would hold the times and addresses that the
    database refuses to know.

    Raises
    ------
    ValueError
        If the address is taken or cannot be used.
    """
    _check_free(host, port)
    server = Granian(
        "server.app:create_app",
        factory=True,
        interface=Interfaces.WSGI,
        address=host,
        port=port,
        workers=1,
        blocking_threads=THREADS,
        websockets=False,
        log_level=LogLevels.error,
        log_access=False,
    )
    for line in [*lines, "Ctrl-C stops it."]:
        click.echo(line)
    server.serve()


def _check_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise ValueError(
                f"cannot serve on {host} port {port}: {error.strerror}; choose another with --port"
            ) from None
