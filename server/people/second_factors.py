"""The second thing that signs in: six digits from an app (TOTP, RFC 6238), or a recovery code in their place."""

import hmac
import logging
import secrets
import time

import pyotp
import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.config import secrets_key
from server.inputs import N_, refuse
from server.people.tokens import hash_of
from server.store.models import RecoveryCode, Researcher
from server.store.sealed_secrets import LostKeyError, seal, unseal

RECOVERY_CODES = 10
_STEP = 30  # seconds; every app knows only this
_SLACK = 1  # steps before and after: clocks differ, and typing takes a while
# No vowels and no look-alikes; 16 of these are 76 random bits.
_ALPHABET = "23456789bcdfghjkmnpqrstvwxz"


def new_totp_secret() -> str:
    """160 random bits in base32, as apps take them."""
    return pyotp.random_base32()


def totp_address(secret: str, researcher: Researcher) -> str:
    """What the QR code holds."""
    return pyotp.TOTP(secret).provisioning_uri(name=researcher.login, issuer_name="Moneda")


def turn_on_codes(session: Session, researcher: Researcher, secret: str, code: str) -> list[str] | None:
    """Ask for codes from now on, if this is one: the recovery codes, shown once; None if it is not.

    Raises
    ------
    InputError
        503 on `key` if the file of the key cannot be read or made.
    """
    step = step_of(secret, code, time.time())
    if step is None:
        return None
    session.refresh(researcher, with_for_update=True)  # which waits while the key is changed
    try:
        sealed = seal(secret, researcher.id)
    except (OSError, LostKeyError) as error:
        template = N_("must be a file that can be written; %(value)s is not: %(reason)s")
        reason = error.strerror if isinstance(error, OSError) else error
        raise refuse(503, "key", template, value=str(secrets_key()), reason=str(reason)) from error
    researcher.totp_sealed, researcher.totp_step = sealed, step
    return new_recovery_codes(session, researcher)


def turn_off_codes(session: Session, researcher: Researcher) -> None:
    """Ask for no codes any more."""
    researcher.totp_sealed = researcher.totp_step = None
    session.execute(sa.delete(RecoveryCode).where(RecoveryCode.researcher_id == researcher.id))


def new_recovery_codes(session: Session, researcher: Researcher) -> list[str]:
    """Codes that stand in once each for the app; those given out earlier stop working."""
    session.execute(sa.delete(RecoveryCode).where(RecoveryCode.researcher_id == researcher.id))
    codes = ["".join(secrets.choice(_ALPHABET) for _ in range(16)) for _ in range(RECOVERY_CODES)]
    session.add_all(RecoveryCode(secret_hash=hash_of(code), researcher_id=researcher.id) for code in codes)
    return ["-".join(code[place : place + 4] for place in range(0, 16, 4)) for code in codes]


def recovery_codes_left(session: Session, researcher: Researcher) -> int:
    """How many were not used yet."""
    query = sa.select(sa.func.count()).where(RecoveryCode.researcher_id == researcher.id)
    return session.scalar(query) or 0


def is_right_code(session: Session, researcher: Researcher, code: str) -> bool:
    """Use a code up: whether it was the app's, and newer than the last one used, or a recovery code.

    Where the key of the app's secret is lost, recovery codes go on, and the log says so.
    """
    typed = "".join(code[:100].split()).replace("-", "").lower()
    if researcher.totp_sealed is None:
        return False
    try:
        step = step_of(unseal(researcher.totp_sealed, researcher.id), typed, time.time())
    except LostKeyError as error:
        logging.getLogger(__name__).error("codes of apps cannot be checked: %s", error)
        step = None
    if step is not None:
        # One statement: of two browsers with the same code only one changes the row.
        query = sa.update(Researcher).where(
            Researcher.id == researcher.id,
            Researcher.totp_step.is_(None) | (Researcher.totp_step < step),
        )
        used = session.execute(query.values(totp_step=step).returning(Researcher.id)).first()
        return used is not None
    given = sa.delete(RecoveryCode).where(
        RecoveryCode.researcher_id == researcher.id, RecoveryCode.secret_hash == hash_of(typed)
    )
    return session.execute(given.returning(RecoveryCode.secret_hash)).first() is not None


def step_of(secret: str, code: str, seconds: float) -> int | None:
    """The time step whose code this is, near a time in seconds since 1970; None if it is none's."""
    app = pyotp.TOTP(secret)
    now = int(seconds) // _STEP
    typed = "".join(code[:100].split()).encode("utf-8", "replace")
    # Every step is tried, whatever the first ones gave: the time taken tells nothing.
    right = [
        step
        for step in range(max(now - _SLACK, 0), now + _SLACK + 1)
        if hmac.compare_digest(app.generate_otp(step).encode(), typed)
    ]
    return right[0] if right else None
