"""Wrong sign-ins are counted in the database, for minutes, so that nobody tries passwords by the thousand.

All processes and machines on one database count together. They count for the address that a failure comes from. For
an account only wrong codes, and wrong passwords of somebody who is signed in already, are counted: who knows neither
its password nor its cookie can lock nobody out.

Stored are no addresses, but numbers of 24 bits, which many addresses have in common, made under a key that is outside
the database (`server.store.sealed_secrets`) and differently every `AttemptLimits.longest` seconds; they are deleted
when they count no more. Nothing that a respondent does is counted here.
"""

import hashlib
import hmac
import ipaddress
import logging
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.store.models import FailedAttempt
from server.store.sealed_secrets import LostKeyError, derive_key

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MOST_ROWS: Final = 100_000
"""Rows that are kept; those that would end first go first."""
_BITS: Final = 24
_IPV4: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}", re.ASCII)
_WITH_PORT: Final = re.compile(r"([0-9.]+):[0-9]+|\[([0-9A-Fa-f:.]+)\](?::[0-9]+)?")
"""An address as some proxies name it."""
_MINUTE, _DAY = 60, 24 * 60 * 60

_OWN_KEY: Final = secrets.token_bytes(32)
"""For a process that has no key: it counts by itself, and stores no more than others do."""


@dataclass(frozen=True)
class AttemptLimits:
    """How many are let through within how many seconds: all of these."""

    each: tuple[tuple[int, int], ...]

    @property
    def longest(self) -> int:
        """Seconds for which a failure counts."""
        return max(seconds for _most, seconds in self.each)


class AttemptKind(Enum):
    """What is counted."""

    # Generous: behind a proxy that does not say whom it asks for, everybody has one address.
    ADDRESS = AttemptLimits(((100, 10 * _MINUTE),))
    # A code is one of a million, three are right at a time: 50 tries a day find one in eighteen years.
    ACCOUNT = AttemptLimits(((10, 15 * _MINUTE), (50, _DAY)))


def refuses_attempts(session: Session, kind: AttemptKind, who: str) -> bool:
    """Whether there were too many failures."""
    now = time.time()
    rows = FailedAttempt
    # Of the key before, too: it changed in the middle of what counts.
    slots = [_find_slot(kind, who, now - before) for before in (0, kind.value.longest)]
    for most, seconds in kind.value.each:
        query = sa.select(sa.func.coalesce(sa.func.sum(rows.n), 0))
        counted = session.scalar(query.where(rows.slot.in_(slots), rows.at >= int(now) - seconds))
        if (counted or 0) >= most:
            return True
    return False


def count_attempt(session: Session, kind: AttemptKind, who: str) -> None:
    """Count one more failure, and forget what counts no more."""
    now = time.time()
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    slot, until = _find_slot(kind, who, now), int(now) + kind.value.longest + 1
    added = insert(FailedAttempt).values(slot=slot, at=int(now), until=until, n=1)
    session.execute(
        added.on_conflict_do_update(
            index_elements=[FailedAttempt.slot, FailedAttempt.at], set_={"n": FailedAttempt.n + 1}
        )
    )
    forget_attempts(session)
    newest = sa.select(FailedAttempt.until).order_by(FailedAttempt.until.desc())
    least = newest.offset(MOST_ROWS).limit(1).scalar_subquery()
    session.execute(sa.delete(FailedAttempt).where(FailedAttempt.until <= least))


def may_forget(session: Session) -> bool:
    """Whether there is something that counts no more."""
    return bool(session.scalar(sa.select(sa.exists().where(FailedAttempt.until <= int(time.time())))))


def forget_attempts(session: Session) -> None:
    """Delete what counts no more."""
    session.execute(sa.delete(FailedAttempt).where(FailedAttempt.until <= int(time.time())))


def _find_slot(kind: AttemptKind, who: str, at: float) -> int:
    """The number under which somebody's failures are counted at a time."""
    try:
        key = derive_key("failed attempts")
    except FileNotFoundError:
        key = _OWN_KEY
    except (OSError, LostKeyError) as error:
        logging.getLogger(__name__).error("failures are counted by this process alone: %s", error)
        key = _OWN_KEY
    named = f"{kind.name} {int(at) // kind.value.longest} {who}".encode("utf-8", "replace")
    return int.from_bytes(hmac.digest(key, named, hashlib.sha256)[: _BITS // 8], "big")


def find_client(peer: str, named: Sequence[str], proxies: Sequence[Network]) -> str:
    """Whom failures are counted for; the many addresses of one IPv6 network are one.

    Parameters
    ----------
    peer : str
        The address that the connection comes from.
    named : sequence of str
        Whom the request says that it comes from (`X-Forwarded-For`): each proxy adds at the end.
    proxies : sequence of networks
        Whose word counts: read from its end, the first address that is none of theirs.
    """
    if not proxies and _IPV4.fullmatch(peer):
        return peer  # as a socket names it, there is one way to write it
    left, direct = list(named), _address(peer)
    while left and direct is not None and any(direct in proxy for proxy in proxies):
        behind = _address(left.pop().strip())
        if behind is None:
            break
        direct = behind
    if isinstance(direct, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((direct, 64), strict=False))
    return str(direct)


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    parts = _WITH_PORT.fullmatch(text)
    try:
        found = ipaddress.ip_address(text if parts is None else parts[1] or parts[2])
    except ValueError:
        return None
    # A socket for both protocols names those of the older one in the newer's way.
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found
