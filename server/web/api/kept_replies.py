"""Idempotency keys: asked again with the key of an earlier request, a program gets its answer, and nothing is done.

After the `Idempotency-Key` header of the IETF's draft: a key belongs to a researcher, and is kept for a day.
"""

import hashlib
import json
import re

import sqlalchemy as sa
from flask import request

from server.inputs import N_, refuse, shorten_value
from server.people.reply_keeping import forget_old_replies
from server.store.models import KeptReply, Researcher, Survey
from server.study import surveys
from server.web.context import session

HEADER = "Idempotency-Key"
_KEY = re.compile(r"[\x21-\x7e]{1,100}")


def read_key() -> str:
    """The key of the request.

    Raises
    ------
    InputError
        422 without one, or where it is too long or holds more than printable ASCII.
    """
    key = request.headers.get(HEADER, "")
    if _KEY.fullmatch(key) is None:
        template = N_(
            "must have 1 to 100 characters of ASCII without spaces, new for each thing to be done; it is %(value)s"
        )
        raise refuse(422, HEADER, template, value=shorten_value(key) or "-")
    return key


def lock_replies(researcher: Researcher) -> None:
    """Let others of the same researcher wait: of two with one key the second finds what the first was answered."""
    session().execute(sa.select(Researcher.id).where(Researcher.id == researcher.id).with_for_update())


def find_reply(researcher: Researcher, key: str) -> KeptReply | None:
    """What was answered under this key within the day.

    Raises
    ------
    InputError
        422 if something else was asked under it.
    """
    forget_old_replies(session())
    found = session().get(KeptReply, (researcher.id, key), populate_existing=True)
    if found is not None and found.request_hash != _hash_request():
        raise refuse(422, HEADER, N_("must be new; something else was asked with this one"))
    return found


def keep_reply(researcher: Researcher, key: str, survey: Survey | None, status: int, body: object) -> None:
    """Keep what is answered, in the transaction of what was done."""
    session().add(
        KeptReply(
            researcher_id=researcher.id,
            key=key,
            survey_id=None if survey is None else survey.id,
            request_hash=_hash_request(),
            status=status,
            body=json.dumps(body, ensure_ascii=False),
            kept_at=surveys.now(),
        )
    )


def _hash_request() -> bytes:
    asked = f"{request.method} {request.path}\n".encode() + request.get_data()
    return hashlib.sha256(asked).digest()
