"""From the event loop to Flask and back: whole bodies in, whole answers or files out.

asgiref's `WsgiToAsgi` works in one thread and a2wsgi streams bodies into threads, so that who sends
slowly holds one; neither frees the thread of an answer that is read slowly. Here a thread is taken
when the request is there in whole, and freed when the answer is made: a large one (an export) goes to
a temporary file as it is made, and is sent from there at the reader's own pace.
"""

import asyncio
import logging
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from server.store.failures import describe_failure
from server.web.front.group_commits import OverloadedError
from server.web.front.messages import Receive, Send
from server.web.front.replies import choose_status
from server.web.security import SAFE_METHODS, SIGN_IN

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

READERS = 16
"""Requests that only look, answered at once."""
WRITERS = 8
"""Requests that change something, at once: where they wait for a lock, pages go on being answered."""
SIGNERS = 2
"""Passwords checked at once: each takes 64 MiB and some 50 ms of two cores, and who floods the sign-in waits there."""
WAITING = 512
"""Requests of a kind that wait for a thread; more of it are sent away."""
LONGEST_WAIT = 5.0
"""Seconds that a request waits for a thread; then it is sent away. With a lock it waits for as long again."""
FILES = 128
"""Answers that are on their way from a file; more are sent away."""
PIECE = 64 * 1024
"""Bytes that are sent at a time from a file."""
WHOLE = 1024 * 1024
"""Bytes up to which an answer is kept in memory."""
SLOWEST_PIECE = 300.0
"""Seconds after which a reader who did not take a piece is left."""

Headers = list[tuple[str, str]]
Start = Callable[[int, Headers], None]


class FlaskAnswer:
    """What Flask answers, as it is made in a thread: whole, or in a file that grows."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.status = 500
        self.headers: Headers = []
        self.body: bytes | None = None
        self.failed = False
        self._loop = loop
        self._file: Any = None
        self._written = 0
        self._ended = False
        self._abandoned = False
        self._news = asyncio.Event()
        self._started: asyncio.Future[None] = loop.create_future()

    async def wait_until_started(self) -> None:
        """Wait until status and headers are known, and whether the body is whole."""
        await self._started

    def give_up(self, work: Future[None]) -> None:
        """Stop waiting for a thread, if none has begun with it."""
        if work.cancel():
            self._started.set_exception(OverloadedError)

    def make(self, site: "WSGIApplication", environ: dict[str, Any]) -> None:
        """In a thread: ask the site."""
        try:
            self._make(site, environ)
        except Exception as error:
            # Flask answers for what fails in a view; this is a body that failed while it was made.
            self.failed, self.status = True, choose_status(error)
            logging.getLogger(__name__).error("%s while an answer was made", describe_failure(error))
        finally:
            self._ended = True
            if self._abandoned:
                self._close()
            self._tell()

    def _make(self, site: "WSGIApplication", environ: dict[str, Any]) -> None:
        def start_response(status: str, headers: Headers, _failure: Any = None) -> Callable[[bytes], object]:
            self.status, self.headers = int(status[:3]), headers
            return pieces.append

        pieces: list[bytes] = []
        size = 0
        made: Iterable[bytes] = site(environ, start_response)
        try:
            for piece in made:
                if self._file is not None:
                    self._write(piece)
                    if self._abandoned:
                        break
                    continue
                pieces.append(piece)
                size += len(piece)
                if size > WHOLE and not hasattr(made, "__len__"):
                    self._file = tempfile.TemporaryFile()  # noqa: SIM115 (see _close)
                    self._write(b"".join(pieces))
        finally:
            close = getattr(made, "close", None)
            if close is not None:
                close()
        if self._file is None:
            self.body = b"".join(pieces)

    def _write(self, piece: bytes) -> None:
        self._file.write(piece)
        self._file.flush()
        self._written += len(piece)
        self._tell()

    def _close(self) -> None:
        if self._file is not None:
            with suppress(OSError):  # on a full disk, of what could not be written before
                self._file.close()

    def _tell(self) -> None:
        self._loop.call_soon_threadsafe(self._hear)

    def _hear(self) -> None:
        self._news.set()
        if not self._started.done() and (self._ended or self._written):
            self._started.set_result(None)

    async def send_from_file(self, send: Send) -> bool:
        """Send the file as it grows; whether all of it was made."""
        sent = 0
        try:
            while True:
                self._news.clear()
                ended, written = self._ended, self._written
                while sent < written:
                    piece = os.pread(self._file.fileno(), min(PIECE, written - sent), sent)
                    async with asyncio.timeout(SLOWEST_PIECE):
                        await send({"type": "http.response.body", "body": piece, "more_body": True})
                    sent += len(piece)
                if ended:
                    return not self.failed
                await self._news.wait()
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Let go of the file, if there is one: nobody sends any more of it."""
        self._abandoned = True
        if self._ended:  # otherwise the thread, which looks after it has ended whether anybody is there
            self._close()


class Bridge:
    """Flask in a pool of threads."""

    def __init__(self, site: "WSGIApplication") -> None:
        self._site = site
        self._readers = ThreadPoolExecutor(READERS)
        self._writers = ThreadPoolExecutor(WRITERS)
        self._signers = ThreadPoolExecutor(SIGNERS)
        self._waiting: Counter[ThreadPoolExecutor] = Counter()
        self._files = 0

    async def ask(self, environ: dict[str, Any]) -> FlaskAnswer:
        """What the site answers, as soon as it has begun to.

        Raises
        ------
        OverloadedError
            If too many requests wait already, or this one has waited too long for a thread. Nothing was done.
        """
        pool = self._find_pool(environ)
        if self._waiting[pool] >= WAITING or self._files >= FILES:
            raise OverloadedError
        loop = asyncio.get_running_loop()
        answer = FlaskAnswer(loop)
        self._waiting[pool] += 1
        work = pool.submit(answer.make, self._site, environ)
        giving_up = loop.call_later(LONGEST_WAIT, answer.give_up, work)
        try:
            await answer.wait_until_started()
        finally:
            giving_up.cancel()
            self._waiting[pool] -= 1
        return answer

    def _find_pool(self, environ: dict[str, Any]) -> ThreadPoolExecutor:
        if environ["REQUEST_METHOD"] in SAFE_METHODS:
            return self._readers
        return self._signers if environ["PATH_INFO"] == SIGN_IN else self._writers

    async def relay(self, answer: FlaskAnswer, receive: Receive, send: Send) -> None:
        """Send an answer to whoever asked, as long as they are there."""
        headers = [
            (name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers
        ]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        if answer.body is not None:
            await send({"type": "http.response.body", "body": answer.body})
            return
        self._files += 1
        gone = asyncio.ensure_future(_wait_until_gone(receive))
        sending = asyncio.ensure_future(answer.send_from_file(send))
        try:
            await asyncio.wait((gone, sending), return_when=asyncio.FIRST_COMPLETED)
            # An answer that broke off half-way must not look whole: the connection is ended instead.
            if sending.done() and sending.result():
                await send({"type": "http.response.body", "body": b""})
        finally:
            self._files -= 1
            for task in (gone, sending):
                task.cancel()

    async def run(self, work: Callable[..., Any], *arguments: Any) -> Any:
        """Run something that only looks, in a thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, work, *arguments)

    def close(self) -> None:
        """Begin nothing more, and wait for nothing."""
        for pool in (self._readers, self._writers, self._signers):
            pool.shutdown(wait=False, cancel_futures=True)


async def _wait_until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
