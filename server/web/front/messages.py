"""Requests, read whole or refused: what is cut, late, too long or of no length is acted on by nobody."""

import asyncio
import io
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager, suppress
from enum import IntEnum
from typing import Any, BinaryIO

from server.inputs import N_, Problem
from server.web.body_limits import BodyLimit
from server.web.front.timeouts import Timeouts

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

DEADLINE = 10.0
"""Seconds for the body of a response or of a form."""
SLOWEST_UPLOAD = 256 * 1024
"""Bytes a second; an upload that is slower on the whole is given up."""
DRAINED = 16 * 1024 * 1024
"""Bytes at most that are read of a refused request after it was answered, and kept nowhere."""
ROOM = 64 * 1024 * 1024
"""Bytes in memory of all bodies together, from their first byte until they are answered."""


class Sender(IntEnum):
    """Who sends a body, and how much of the room all of them together may take up: so they leave some to others."""

    RESPONDENT = ROOM // 2
    STRANGER = ROOM // 4
    """Sends a form without being signed in."""
    RESEARCHER = ROOM


UPLOADS = 4
"""Uploads at once; each may take its limit on the disk."""

_TOO_MANY = N_("cannot be taken at this moment, as too much else is on its way; send it again in a while")


class RefusedError(Exception):
    """A request that is answered without being acted on; `after` so many seconds, if any, it may come again."""

    def __init__(self, status: int, problem: Problem, after: int = 0) -> None:
        super().__init__(status)
        self.status = status
        self.problem = problem
        self.after = after


class Room:
    """Counts what bodies take up, for all connections together, and ends those that take too long.

    Attributes
    ----------
    timeouts : Timeouts
        For the bodies on their way.
    """

    def __init__(self) -> None:
        self.timeouts = Timeouts()
        self._held = dict.fromkeys(Sender, 0)
        self._all_held = 0
        self._uploads = 0

    def take(self, size: int, sender: Sender) -> None:
        """Hold some bytes more.

        Raises
        ------
        RefusedError
            503, if there is no room for them.
        """
        if self._held[sender] + size > sender or self._all_held + size > ROOM:
            raise RefusedError(503, Problem("request", _TOO_MANY, {}))
        self._held[sender] += size
        self._all_held += size

    def give_back(self, size: int, sender: Sender) -> None:
        """Hold as many bytes less."""
        self._held[sender] -= size
        self._all_held -= size

    @contextmanager
    def upload(self) -> Iterator[None]:
        """A place for a file on its way.

        Raises
        ------
        RefusedError
            503, if all places are taken.
        """
        if self._uploads >= UPLOADS:
            raise RefusedError(503, Problem("request", _TOO_MANY, {}))
        self._uploads += 1
        try:
            yield
        finally:
            self._uploads -= 1


def index_headers(scope: Scope) -> dict[bytes, bytes]:
    """The headers of a request by their names in lower case; those that stand twice are joined, as in WSGI."""
    headers: dict[bytes, bytes] = {}
    for name, value in scope["headers"]:
        headers[name] = headers[name] + b"," + value if name in headers else value
    return headers


def declared_length(headers: Mapping[bytes, bytes]) -> int | None:
    """How long a request says its body is; None for one that comes in chunks.

    Raises
    ------
    RefusedError
        411, if it says neither, or that the chunks have to be decoded further; 400, if what it says is no length.
    """
    if headers.get(b"transfer-encoding", b"").strip().lower() == b"chunked":
        return None
    stated = headers.get(b"content-length")
    if stated is None or b"transfer-encoding" in headers:
        raise RefusedError(
            411, Problem("Content-Length", N_("is required: the length of what is sent, in bytes"), {})
        )
    if not stated.isdigit():
        raise RefusedError(400, Problem("Content-Length", N_("must be a whole number of bytes"), {}))
    return int(stated)


class Incoming:
    """What a request receives; knows whether more of its body may be on its way."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._more = True

    async def __call__(self) -> MutableMapping[str, Any]:
        """The next message."""
        message = await self._receive()
        self._more = bool(message.get("more_body"))
        return message

    def give_up(self) -> None:
        """Read nothing more."""
        self._more = False

    async def drain(self, timeouts: Timeouts) -> None:
        """Of a request that was answered before all of it had come, read on, for as long as a form may take.

        Whoever sends often looks at the answer only afterwards. A connection that is closed while they send takes the
        answer away, and a proxy says something of its own in its place (502).
        """
        drained = 0
        with suppress(TimeoutError), timeouts.after(DEADLINE):
            while self._more and drained < DRAINED:
                drained += len((await self()).get("body", b""))


class Body:
    """The body of a request: in memory, or as an upload on the disk. For `with`, which gives back what it takes up."""

    def __init__(self, room: Room, sender: Sender) -> None:
        self._room = room
        self._sender = sender
        self._pieces: list[bytes] = []
        self._held = 0
        self._file: BinaryIO | None = None

    async def read(self, length: int | None, receive: Receive, limit: BodyLimit) -> None:
        """Read all of it.

        Raises
        ------
        RefusedError
            400 for one that ends early, 408 for one that takes too long, 413 for one that is too long,
            503 where there is no room.
        """
        if length is not None and length > limit.size:
            raise _too_long(limit)
        seconds = DEADLINE + (limit.size if length is None else length) / SLOWEST_UPLOAD * limit.upload
        try:
            with self._room.timeouts.after(seconds):
                total = await (self._to_disk if limit.upload else self._to_memory)(receive, limit, length)
        except TimeoutError:
            template = N_("must arrive within %(limit)d seconds; it did not. Nothing was changed")
            raise RefusedError(408, Problem("body", template, {"limit": int(seconds)})) from None
        if length is not None and total != length:
            raise _cut()

    async def _to_memory(self, receive: Receive, limit: BodyLimit, length: int | None) -> int:
        more = True
        # Where all bytes are there, the message that only says so is not waited for.
        while more and self._held != length:
            piece, more = _read_piece(await receive())
            self._room.take(len(piece), self._sender)
            self._held += len(piece)
            self._pieces.append(piece)
            if self._held > limit.size:
                raise _too_long(limit)
        return self._held

    async def _to_disk(self, receive: Receive, limit: BodyLimit, length: int | None) -> int:
        with self._room.upload():
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
            more, total = True, 0
            while more and total != length:
                piece, more = _read_piece(await receive())
                total += len(piece)
                if total > limit.size:
                    raise _too_long(limit)
                await asyncio.to_thread(self._file.write, piece)
        return total

    def bytes(self) -> bytes:
        """The whole body, where it is in memory."""
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def stream(self) -> tuple[BinaryIO, int]:
        """The whole body as a file at its beginning, and its length."""
        if self._file is None:
            whole = self.bytes()
            return io.BytesIO(whole), len(whole)
        length = self._file.tell()
        self._file.seek(0)
        return self._file, length

    def __enter__(self) -> "Body":
        return self

    def __exit__(self, *_: object) -> None:
        self._room.give_back(self._held, self._sender)
        self._held = 0
        if self._file is not None:
            self._file.close()


def _read_piece(message: MutableMapping[str, Any]) -> tuple[bytes, bool]:
    """The piece of a body that came, and whether there are more."""
    if message["type"] != "http.request":
        raise _cut()
    return message.get("body", b""), message.get("more_body", False)


def _cut() -> RefusedError:
    return RefusedError(400, Problem("body", N_("ended before its end. Nothing was changed"), {}))


def _too_long(limit: BodyLimit) -> RefusedError:
    template = N_("must be at most %(limit)d bytes; it has more")
    return RefusedError(413, Problem("body", template, {"limit": limit.size}))
