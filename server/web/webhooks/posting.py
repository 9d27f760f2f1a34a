"""One request to a receiver: https to a public address, no redirect, and nothing read but the status.

The name is resolved once, every address that it has is checked, and the connection goes to one of those that were
checked; the certificate must be that of the name. So a name that is public for whoever checks and private for
whoever connects gains nothing. Proxies of the environment and cookies play no part: `http.client` knows neither.
"""

import http.client
import socket
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from threading import Lock, Timer
from typing import Any

from server.web.webhooks.receivers import Receiver, is_public

TIMEOUT = 10.0
"""Seconds for everything, from the connection to the status."""
LONGEST_LOOKUP = 40.0
"""Seconds after which an answer to who has a name comes too late."""
_ADDRESSES = 4
"""So many of a name's addresses are tried."""

SocketAddress = tuple[int, tuple[Any, ...]]
"""A family of addresses, and one of it."""
Resolve = Callable[[str, int], Sequence[SocketAddress]]


class Trouble(StrEnum):
    """Why a request failed; the value is stored."""

    NAME = "name"
    ADDRESS = "address"
    CONNECTION = "connection"
    CERTIFICATE = "certificate"
    TIME = "time"
    ANSWER = "answer"
    KEY = "key"


class PostingError(Exception):
    """A request that got no status."""

    def __init__(self, trouble: Trouble) -> None:
        super().__init__(str(trouble))
        self.trouble = trouble


def resolve_name(host: str, port: int) -> Sequence[SocketAddress]:
    """Every address of a name, from the system."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, address) for family, _kind, _protocol, _name, address in found]


class Poster:
    """Sends requests, one at a time.

    Parameters
    ----------
    trusted : ssl.SSLContext, optional
        Whose certificates count; those that the system trusts, unless given.
    resolve : callable
        From a name and a port to addresses.
    may_reach : callable
        Whether a numeric address may be connected to.
    timeout : float
        Seconds for a request.
    """

    def __init__(
        self,
        trusted: ssl.SSLContext | None = None,
        resolve: Resolve = resolve_name,
        may_reach: Callable[[str], bool] = is_public,
        timeout: float = TIMEOUT,
    ) -> None:
        self._trusted = trusted
        self._resolve = resolve
        self._may_reach = may_reach
        self._timeout = timeout
        self._lock = Lock()
        self._open: socket.socket | None = None
        self._cancelled = False
        self._began = 0.0

    def post(self, receiver: Receiver, headers: Mapping[str, str], body: bytes) -> int:
        """The status of the answer, of which nothing else is read.

        Raises
        ------
        PostingError
            If there is none.
        """
        addresses = self._find_addresses(receiver)
        timer = Timer(self._timeout, self._hang_up)
        timer.daemon = True
        self._began = time.monotonic()
        timer.start()
        try:
            return self._exchange(receiver, addresses, headers, body)
        except ssl.SSLCertVerificationError as error:
            raise PostingError(Trouble.CERTIFICATE) from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            late = time.monotonic() - self._began >= self._timeout
            if late or isinstance(error, TimeoutError):
                raise PostingError(Trouble.TIME) from error
            answered = isinstance(error, http.client.HTTPException) and not isinstance(error, ConnectionError)
            raise PostingError(Trouble.ANSWER if answered else Trouble.CONNECTION) from error
        finally:
            timer.cancel()
            with self._lock:
                self._open = None

    def cancel(self) -> None:
        """End what is going on, and send nothing any more."""
        self._cancelled = True
        self._hang_up()

    def _find_addresses(self, receiver: Receiver) -> Sequence[SocketAddress]:
        began = time.monotonic()
        try:
            found = self._resolve(receiver.host, receiver.port)
        except (OSError, UnicodeError) as error:
            raise PostingError(Trouble.NAME) from error
        if not found or time.monotonic() - began > LONGEST_LOOKUP:
            raise PostingError(Trouble.NAME)
        if not all(self._may_reach(str(address[0])) for _family, address in found):
            raise PostingError(Trouble.ADDRESS)
        return found[:_ADDRESSES]

    def _exchange(
        self,
        receiver: Receiver,
        addresses: Sequence[SocketAddress],
        headers: Mapping[str, str],
        body: bytes,
    ) -> int:
        context = self._trusted or ssl.create_default_context()
        connection = http.client.HTTPSConnection(receiver.host, receiver.port, context=context)
        plain = self._connect(addresses)
        try:
            wrapped = context.wrap_socket(plain, server_hostname=receiver.host, do_handshake_on_connect=False)
        except BaseException:
            plain.close()
            raise
        try:
            self._keep(wrapped)
            wrapped.settimeout(self._count_seconds_left())
            wrapped.do_handshake()
            connection.sock = wrapped
            connection.request("POST", receiver.path, body, dict(headers))
            status = connection.getresponse().status
            self._count_seconds_left()  # `http.client` takes headers that were cut off for whole ones
            return status
        finally:
            connection.close()
            wrapped.close()

    def _connect(self, addresses: Sequence[SocketAddress]) -> socket.socket:
        for place, (family, address) in enumerate(addresses, start=1):
            opened = socket.socket(family, socket.SOCK_STREAM)
            try:
                self._keep(opened)
                # So that one address that does not answer leaves time for the others.
                opened.settimeout(self._count_seconds_left() / (1 + len(addresses) - place))
                opened.connect(address)
            except OSError:
                opened.close()
                if place == len(addresses):
                    raise
            else:
                return opened
        raise PostingError(Trouble.NAME)

    def _keep(self, opened: socket.socket) -> None:
        """Know what to hang up."""
        with self._lock:
            self._open = opened
        if self._cancelled:
            raise ConnectionAbortedError

    def _count_seconds_left(self) -> float:
        """Seconds that are left."""
        left = self._timeout - (time.monotonic() - self._began)
        if left <= 0:
            raise TimeoutError
        return left

    def _hang_up(self) -> None:
        with self._lock:
            opened = self._open
        if opened is not None:
            with suppress(OSError):
                socket.socket.shutdown(opened, socket.SHUT_RDWR)
