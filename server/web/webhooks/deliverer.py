"""The job of a process that looks once a day what there is to tell, and sends it."""

import json
import logging
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event as Signal
from threading import Thread

import sqlalchemy as sa

from server import __version__
from server.config import Config
from server.store.engines import open_session
from server.store.failures import describe_failure
from server.store.sealed_secrets import LostKeyError, unseal
from server.study import surveys
from server.web.webhooks import deliveries, webhook_events
from server.web.webhooks.deliveries import TakenMessage
from server.web.webhooks.posting import Poster, PostingError, Trouble
from server.web.webhooks.receivers import split_receiver
from server.web.webhooks.signatures import sign

LOOK = 5.0
"""Seconds between two looks."""
LAST = 1.0
"""Seconds that a request which is cut off may take to end when the server stops."""


class Deliverer:
    """Sends the webhooks of an installation. It does nothing until it is started.

    Parameters
    ----------
    engine : Engine
        Of the database; no transaction is open on it while something is sent.
    config : Config
        Says where people reach the site.
    poster : Poster, optional
        What sends; unless given, one that connects to public addresses alone.
    """

    def __init__(self, engine: sa.Engine, config: Config, poster: Poster | None = None) -> None:
        self._engine = engine
        self._config = config
        self._poster = poster or Poster()
        self._wake = Signal()
        self._ending = Signal()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to look."""
        self._thread = Thread(target=self._run, name="webhooks", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Look at once: there is something to send."""
        self._wake.set()

    def stop(self) -> None:
        """Cut off what is being sent, which is sent again later, and end."""
        self._ending.set()
        self._poster.cancel()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(
                LAST
            )  # a name that is looked up cannot be cut off; the thread ends with the process
            self._thread = None

    def look_for_events(self, now: datetime) -> None:
        """Have sent what there is to tell, if the hour has come since the last time."""
        with open_session(self._engine, writes=False) as session:
            due = webhook_events.list_due(session, now)
        for number in due:
            try:
                with open_session(self._engine, writes=True) as session, session.begin():
                    webhook_events.add_events(session, number, now)
            except Exception as error:
                # One survey that cannot be read keeps no other from being told of; it is looked at the next day.
                logging.getLogger(__name__).error("%s while looking what to tell", describe_failure(error))
                with open_session(self._engine, writes=True) as session, session.begin():
                    webhook_events.put_off(session, number, now)

    def send_waiting(self, now: Callable[[], datetime]) -> int:
        """Send everything whose time has come, once each; how many there were."""
        number = 0
        while not self._ending.is_set():
            with open_session(self._engine, writes=False) as session:
                if not deliveries.is_waiting(session, now()):
                    break
            with open_session(self._engine, writes=True) as session, session.begin():
                message = deliveries.take_message(session, now())
            if message is None:
                break
            status, trouble = self._send(message, now())
            if self._ending.is_set() and trouble is not None:
                break  # it was cut off, which says nothing of the receiver
            with open_session(self._engine, writes=True) as session, session.begin():
                deliveries.note_result(session, message, now(), status, trouble)
            number += 1
        return number

    def _send(self, message: TakenMessage, now: datetime) -> tuple[int | None, Trouble | None]:
        body = write_body(message, next(iter(self._config.public_urls), None))
        try:
            secret = unseal(message.secret_sealed, message.webhook_id)
        except (LostKeyError, OSError) as error:
            logging.getLogger(__name__).error("webhooks cannot be signed: %s", error)
            return None, Trouble.KEY
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"Moneda/{__version__}",
            **sign(secret, message.id, int(now.replace(tzinfo=UTC).timestamp()), body),
        }
        try:
            return self._poster.post(split_receiver(message.url), headers, body), None
        except PostingError as error:
            return None, error.trouble

    def _run(self) -> None:
        while not self._ending.is_set():
            try:
                self.look_for_events(surveys.now())
                self.send_waiting(surveys.now)
            except Exception as error:
                # Whatever it was, the next look comes; the log says nothing of what was sent, nor to whom.
                logging.getLogger(__name__).error("%s while sending webhooks", describe_failure(error))
            self._wake.wait(LOOK)
            self._wake.clear()


def write_body(message: TakenMessage, site: str | None) -> bytes:
    """What is sent: what happened to which survey, as of which hour; nothing of its responses."""
    data = {"survey": message.slug}
    if site is not None:
        data["address"] = f"{site}/manage/surveys/{message.slug}"
    told = {"type": message.event, "timestamp": f"{message.at:%Y-%m-%dT%H:%M:%S}Z", "data": data}
    return json.dumps(told, separators=(",", ":")).encode()
