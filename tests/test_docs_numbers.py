"""The numbers on the page for operators are those that the code goes by."""

from pathlib import Path

import pytest

from server.collect.batches import merging
from server.collect.tidying import pieces, waiting
from server.people.sign_ins import SIGN_IN_LIFETIME
from server.people.throttling import MOST_ROWS, AttemptKind
from server.store.engines import CONNECTIONS, SERVING_PATIENCE
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.web import serving
from server.web.fleet import LINGERING
from server.web.front import address_memory, arrival_limits, bridge, intake, messages, receipts
from server.web.front.look_limits import MINUTES, MOST_LOOKS
from server.web.views.imports import ARCHIVE_LIMIT
from server.web.watching import readiness
from tests.conftest import NewDatabase
from tests.support.factories import ROOT

OPERATING = (ROOT / "docs" / "operating.md").read_text("utf-8")


def limit_of(kind: AttemptKind, place: int = 0) -> str:
    """So many in so many minutes, or in a day."""
    most, seconds = kind.value.each[place]
    return f"{most} in {seconds // 60} minutes" if seconds < 86400 else f"{most} in a day"


SAID = [
    f"Up to {serving.CONNECTIONS:,} connections of a process",
    f"fewer than {2 * serving.CONNECTIONS:,} files",
    f"Beyond {messages.ROOM >> 20} MB of bodies",
    f"not signed in may take {messages.Sender.STRANGER.value >> 20} MB together, and responses "
    f"{messages.Sender.RESPONDENT.value >> 20} MB",
    f"a size for its address and {messages.DEADLINE:.0f} seconds",
    f"one more for each {messages.SLOWEST_UPLOAD >> 10} KB",
    f"after {SERVING_PATIENCE:.0f} to {2 * SERVING_PATIENCE:.0f} seconds if it waits for a lock",
    f"others have waited for {intake.PATIENCE:.0f} seconds already",
    f"Stopping takes up to {serving.STOP_TIMEOUT + 1} seconds",
    f"end after {SIGN_IN_LIFETIME.days} days",
    f"on it together: {limit_of(AttemptKind.ADDRESS)} for an address",
    f"{limit_of(AttemptKind.ACCOUNT).replace(' in ', ' wrong codes or passwords in ', 1)} and "
    f"{limit_of(AttemptKind.ACCOUNT, 1)} for an account",
    f"whatever they find: {MOST_LOOKS} in {MINUTES} minutes for an address",
    f"of {address_memory.MOST:,} addresses at most",
    f"{arrival_limits.AT_ONCE} responses at once",
    f"drawn anew after {arrival_limits.KEPT / 60:.0f} minutes",
    f"refused only while {receipts.PLACES // 2:,} of them wait",
    f"{MOST_ROWS:,} are kept at most",
    f"takes up to {CONNECTIONS} connections",
    f"refused after {LINGERING:.0f} seconds",
    {2: "Two"}[bridge.SIGNERS] + " passwords are checked at once",
    f"up to {intake.GROUP}; on a quiet day",
    f"pieces of at most {pieces.PIECE:,} rows",
    f"or of {pieces.SMALL >> 20} MB of what is counted",
    f"more than {pieces.LOG_LEFT * 4096 // 10**6} MB, tidying waits",
    f"a batch may have {merging.PIECE >> 20} MB",
    f"waited for for {waiting.BRIEFLY} seconds, kept for at most {waiting.HELD_UP} more",
    f"it did not answer within {readiness.LONGEST:.0f} seconds",
    f"less than {readiness.ROOM >> 20} MB free",
    {16: "sixteen"}[merging.FEW] + " of one week become one of the next size",
]


@pytest.mark.parametrize("said", SAID)
def test_a_number_on_the_page_for_operators_is_that_of_the_code(said: str) -> None:
    assert said in OPERATING


def test_a_proxy_that_does_as_the_page_says_lets_every_archive_through() -> None:
    allowed = int(OPERATING.split("client_max_body_size ")[1].split("m;")[0]) << 20
    assert allowed >= ARCHIVE_LIMIT + DEFINITION_LIMIT


def test_an_empty_database_takes_as_much_as_the_page_says(sqlite: NewDatabase) -> None:
    taken = Path(sqlite(True).removeprefix("sqlite:///")).stat().st_size
    assert f"{taken / 1e6:.1f} MB for an empty database" in OPERATING
