"""Completion codes that a panel hands in: which are good, each once. Functions take a Session and never commit."""

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, InputError, refuse
from server.store.models import AcceptedCode, Survey
from server.store.sealed_secrets import LostKeyError
from server.study.blind_signatures import SigningKey, open_signer
from server.study.completion_codes import is_genuine, read_code
from server.study.ticket_keys import find_completion_modulus, open_key

MOST_AT_ONCE = 2_000
"""Codes: some seconds of one core."""
_LONGEST = 60
"""Characters of what is repeated of one that is none."""


class CodeVerdict(StrEnum):
    """What becomes of a code that is handed in."""

    GOOD = "good"
    REPEATED = "repeated"
    ACCEPTED = "accepted"
    FALSE = "false"


@dataclass(frozen=True)
class CheckedCode:
    """A code in its normal form, or what was pasted if it can be none, and what became of it."""

    code: str
    verdict: CodeVerdict


def check_number(pasted: Sequence[str]) -> None:
    """Hold what somebody who waits for the answer hands in to so many at once.

    Raises
    ------
    InputError
        If there are none or too many of them.
    """
    if not 1 <= len(pasted) <= MOST_AT_ONCE:
        template = N_("must be from 1 to %(limit)s at once; there are %(value)s")
        raise refuse(422, "codes", template, limit=MOST_AT_ONCE, value=len(pasted))


def open_checker(session: Session, survey: Survey) -> Callable[[Iterable[str]], set[str]]:
    """What finds those of some codes that were made with the survey's key, in their normal form.

    It takes about a millisecond for each, and needs no session: whoever calls it ends the transaction first, so that
    nobody waits to write.

    Raises
    ------
    InputError
        If the survey has no such codes, or the server has lost their key.
    """
    sign = open_signer(_open_key(session, survey))
    return lambda pasted: {
        code for code in set(map(read_code, pasted)) if code is not None and is_genuine(code, sign)
    }


def can_check(session: Session, survey: Survey) -> bool:
    """Whether the key of the codes is here and can be opened: no archive has it, nor has every backup."""
    try:
        _open_key(session, survey)
    except InputError:
        return False
    return True


def _open_key(session: Session, survey: Survey) -> SigningKey:
    modulus = find_completion_modulus(session, survey.id)
    if modulus is None:
        raise refuse(
            409, "codes", N_("must be of a survey that gives codes; here is no key for any of this one")
        )
    try:
        return open_key(session.connection(), modulus)
    except LostKeyError:
        template = N_("cannot be checked: the server has lost its key for secrets, or it never came here")
        raise refuse(503, "codes", template) from None


def note_codes(
    session: Session, survey: Survey, pasted: Sequence[str], genuine: Set[str]
) -> list[CheckedCode]:
    """Say of each whether it is good, knowing which are genuine, and note those that are: another time they are not.

    The caller holds the survey's row, so that of two who check the same code one is told so.
    """
    accepted = set(list_accepted(session, survey))
    checked: list[CheckedCode] = []
    good: set[str] = set()
    for text in pasted:
        code = read_code(text)
        if code is None or code not in genuine:
            checked.append(CheckedCode(code or text[:_LONGEST], CodeVerdict.FALSE))
        elif code in accepted:
            checked.append(CheckedCode(code, CodeVerdict.ACCEPTED))
        else:
            checked.append(CheckedCode(code, CodeVerdict.REPEATED if code in good else CodeVerdict.GOOD))
            good.add(code)
    if good:  # all anew: the order of the rows in the file would tell which were checked on which day
        session.execute(sa.delete(AcceptedCode).where(AcceptedCode.survey_id == survey.id))
        rows = [{"survey_id": survey.id, "code": code} for code in sorted(accepted | good)]
        session.execute(sa.insert(AcceptedCode), rows)
    return checked


def list_accepted(session: Session, survey: Survey) -> list[str]:
    """The codes that were found good, in their own order."""
    query = sa.select(AcceptedCode.code).where(AcceptedCode.survey_id == survey.id)
    return sorted(session.scalars(query))
