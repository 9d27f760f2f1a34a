"""Responses that were thrown by hand on paper and are keyed in: a batch of sheets is stored as a whole, or not at all.

A sheet is stored as what a browser sends: its reports, under the design that its form was printed for. Its id is made
of the batch's own name and of its place in it, so that a batch that is sent again meets itself. That is its place once
the sheets are sorted by what they say: so neither whoever knows that name nor a file tells in which order they lay. No
receipt leads to a sheet: it is not taken back, and nobody can send something in its place before.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import acceptance
from server.collect.responses.open_links import (
    Links,
    ResponseLink,
    check_content,
    check_room,
    check_standing,
    count_room,
    find,
    find_link_standing,
)
from server.collect.responses.storing import StoredKey, store
from server.collect.submissions import ID_LENGTH, Submission, hash_receipt
from server.inputs import N_, refuse, shorten_value
from server.store.models import Mode, Stratum, Survey, SurveyVersion
from server.store.own_tables import group_by_survey, responses_of
from server.store.revisions import raise_revisions

_HEX_NAME = re.compile(r"[0-9a-f]{32}\Z")


@dataclass(frozen=True)
class PaperBatch:
    """Sheets that are keyed in together.

    `name` is the batch's own, so that it is stored once; `stratum` that whose link they count for, None for the
    survey's own; `reports` are a byte string for each sheet.
    """

    name: bytes
    version: SurveyVersion
    stratum: Stratum | None
    reports: Sequence[bytes]


def parse_batch_name(text: str) -> bytes:
    """The name that a page or a program gives a batch: 32 hexadecimal digits, drawn at random.

    Raises
    ------
    InputError
        If it is none.
    """
    if not _HEX_NAME.match(text):
        template = N_("must be 32 hexadecimal digits in lower case; it is %(value)s")
        raise refuse(422, "batch", template, value=shorten_value(text) or "–")
    return bytes.fromhex(text)


def enter_batch(session: Session, survey: Survey, batch: PaperBatch, now: datetime) -> int:
    """Store a batch; how many sheets were new: all of them, or none where it is stored already.

    The caller holds the survey, and commits.

    Raises
    ------
    InputError
        Naming what is in the way. Nothing was stored.
    """
    connection = session.connection()
    link = _find_link(connection, survey, batch)
    rows = _list_rows(survey, batch, sorted(batch.reports), _make_id)
    former = _list_rows(survey, batch, batch.reports, _make_former_id)
    if _is_stored(connection, rows, batch) or _is_stored(connection, former, batch):
        return 0
    check_standing(find_link_standing(link, now))
    if link.invited:
        raise refuse(
            409,
            "link",
            N_(
                "must ask for no code: a sheet of paper has none. Let this link, or a stratum for paper, be open"
            ),
        )
    for submission in rows.values():
        check_content(link, submission)
    _check_room(session, survey, len(rows))
    store(connection, [(key, link, submission) for key, submission in rows.items()], now, Mode.PAPER)
    if count_room(session, survey) == 0:  # from now on its links show another page
        raise_revisions(connection, [survey.id])
    return len(rows)


def _find_link(connection: sa.Connection, survey: Survey, batch: PaperBatch) -> ResponseLink:
    """The link that a batch counts for, with the version that its form was printed for."""
    slug = survey.link if batch.stratum is None else batch.stratum.slug
    link = find(Links().look_up(connection, {slug}), slug)
    columns = SurveyVersion.survey_id, SurveyVersion.id, SurveyVersion.sha256, SurveyVersion.reports
    version = connection.execute(sa.select(*columns).where(SurveyVersion.id == batch.version.id)).one()
    return replace(link, version=version)


def _list_rows(
    survey: Survey, batch: PaperBatch, reports: Sequence[bytes], make_id: Callable[[bytes], bytes]
) -> dict[StoredKey, Submission]:
    named = hashlib.sha256(b"\0".join([batch.version.sha256.encode(), batch.name])).digest()
    ids = [make_id(named + place.to_bytes(4, "big")) for place in range(len(reports))]
    sheets = zip(ids, reports, strict=True)
    return {(survey.id, row_id): Submission(row_id, batch.version.sha256, said) for row_id, said in sheets}


def _make_id(named: bytes) -> bytes:
    """The hash of something that is longer than a receipt, so that it is that of none."""
    return hashlib.sha256(b"sheet of paper\0" + named).digest()[:ID_LENGTH]


def _make_former_id(named: bytes) -> bytes:
    """As 0.1.0 stored a sheet, in the order of the pile: that of a receipt, which whoever knows the name can send."""
    return hash_receipt(hashlib.sha256(named).digest()[:ID_LENGTH])


def _is_stored(connection: sa.Connection, rows: dict[StoredKey, Submission], batch: PaperBatch) -> bool:
    """Whether this very batch is stored; an error if another one is, under its name."""
    stored = _find_sheets(connection, rows)
    if not stored:
        return False
    stratum = None if batch.stratum is None else batch.stratum.id
    same = {key: (row.reports, row.version, stratum) for key, row in rows.items()}
    if stored != same:
        raise refuse(
            409, "batch", N_("must be new; another batch with this name was keyed in, with other sheets")
        )
    return True


def _find_sheets(
    connection: sa.Connection, keys: Iterable[StoredKey]
) -> dict[StoredKey, tuple[bytes, str, int | None]]:
    """Sheets that are stored: reports, hash of the version, stratum. Browsers may have sent former ids of sheets."""
    sheets = {}
    for survey_id, ids in group_by_survey(keys):
        rows = responses_of(survey_id).c
        found = (
            sa.select(rows.id, rows.reports, SurveyVersion.sha256, rows.stratum_id)
            .join(SurveyVersion, rows.version_id == SurveyVersion.id)
            .where(rows.mode == Mode.PAPER, rows.id.in_(ids))
        )
        for row_id, reports, sha256, stratum in connection.execute(found):
            sheets[survey_id, bytes(row_id)] = bytes(reports), sha256, stratum
    return sheets


def _check_room(session: Session, survey: Survey, number: int) -> None:
    """Refuse where a batch might not fit under the cap: by what is shown, so that it tells no exact number."""
    if survey.cap is None:
        return
    most = survey.cap - acceptance.count_most_stored(session, survey)
    if number > most:
        if most <= 0:
            check_room(count_room(session, survey))
        raise refuse(
            409,
            "cap",
            N_(
                "must leave room for all that may be stored by now and for these %(number)d sheets; it is %(value)d"
            ),
            number=number,
            value=survey.cap,
        )
