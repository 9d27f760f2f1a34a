"""A survey -> the bytes of its archive. The same content gives the same bytes."""

import json
import zipfile
from collections.abc import Iterable, Iterator
from typing import IO

import sqlalchemy as sa
from babel.support import NullTranslations
from sqlalchemy.orm import Session

from server.archives import layout
from server.archives.ledger_writer import ledger_of
from server.archives.manifests import batches_of, manifest_of, stratum_numbers
from server.archives.readme_text import readme
from server.archives.response_files import read_responses
from server.inputs import N_, refuse
from server.output.languages import load_catalogue
from server.output.progress import ProgressReporter, report_no_progress
from server.people import change_log
from server.reports import codebook_csv
from server.reports.csv_cells import csv_text
from server.store.models import GivenRight, InvitationBatch, State, Survey, SurveyVersion
from server.store.own_tables import invitations_of
from server.study import strata, surveys
from server.study.retention import require_counts
from server.study.smallest_group import hides_responses

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can state; the time of packing would make each one different."""


def check_packable(session: Session, survey: Survey) -> None:
    """Refuse to pack a survey that is open.

    An archive is everything of it. Two of them would differ by the responses that arrived in between, and
    by the invitations that these used up.

    Raises
    ------
    InputError
        409 if it is open and has invitations, tickets or completion codes, or responses may wait that are not shown;
        410 if those were deleted.
    """
    require_counts(survey)
    invited = sa.select(sa.exists().where(InvitationBatch.survey_id == survey.id))
    signs = survey.tickets or survey.completions
    if survey.state == State.OPEN and (hides_responses(survey) or signs or session.scalar(invited)):
        template = N_(
            "must be closed first, and a pause is not enough: an archive holds all responses, so that two of them "
            "would tell what somebody sent who is known to have answered in between"
        )
        raise refuse(409, "survey", template)


def pack(
    session: Session,
    survey: Survey,
    file: IO[bytes],
    language: str = "en",
    report_progress: ProgressReporter = report_no_progress,
    right: GivenRight | None = None,
) -> None:
    """Write everything of a survey into a file as a ZIP archive.

    Parameters
    ----------
    session : Session
        Best a `db.snapshot`, so that nothing changes meanwhile.
    language : str
        Of what is written for people to read; import does not look at it.
    report_progress : callable
        Called with how many responses are done, and of how many.
    right : GivenRight or None
        What the copy may release; it is debited already.
    """
    translations = load_catalogue(language)
    nodes = tuple(strata.walk(strata.tree(session, survey)))
    numbers = stratum_numbers(nodes)
    by_path = {node.path: place for place, node in enumerate(nodes, 1)}
    responses = read_responses(session, survey)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        _add(archive, layout.MANIFEST, [_json(manifest_of(session, survey, nodes, responses))])
        _add(archive, layout.README, [readme(survey, translations)])
        _add(archive, layout.DRAFT, [_json(surveys.draft_document(survey))])
        done = 0
        for version in survey.versions:
            _add(archive, layout.PUBLISHED.format(version.number), [version.published])
            definition = surveys.definition_of(version)
            columns = [column for question in definition.questions for column in question.columns]
            name, expected = layout.RESPONSES.format(version.number), responses.sizes.get(version.number, 0)
            with archive.open(_entry(name), "w", force_zip64=_is_long(version, expected)) as raw:
                for lines, count in responses.lines(version.number, columns, by_path):
                    raw.write(lines)
                    report_progress(done := done + count, responses.n)
            _add(archive, layout.CODEBOOK.format(version.number), [codebook_csv(definition, strata=False)])
        rows = [
            (
                place,
                node.path,
                node.population,
                node.stratum.slug,
                strata.write_access(node.stratum.by_invitation),
            )
            for place, node in enumerate(nodes, 1)
        ]
        _add(archive, layout.STRATA, [csv_text([("stratum", "path", "population", "link", "access"), *rows])])
        batches = batches_of(session, survey)
        _add(archive, layout.BATCHES, [_batches(batches, numbers)])
        _add(archive, layout.INVITATIONS, _invitations(session, survey, batches))
        _add(archive, layout.RELEASES, [_json(ledger_of(session, survey, numbers, right))])
        _add(archive, layout.LOG, [_log(session, survey, translations)])


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3  # whatever the system is
    entry.external_attr = 0o600 << 16
    return entry


def _add(archive: zipfile.ZipFile, name: str, parts: Iterable[str | bytes]) -> None:
    with archive.open(_entry(name), "w") as raw:
        for part in parts:
            raw.write(part.encode() if isinstance(part, str) else part)


def _json(document: layout.Document) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _is_long(version: SurveyVersion, responses: int) -> bool:
    """Whether the table may need the larger numbers of ZIP64, which must be known before it is written."""
    longest = len(layout.RESPONSES) + 2000 + 4 * len(version.reports)  # bytes of a row, its path included
    return responses * longest > zipfile.ZIP64_LIMIT


def _batches(batches: list[InvitationBatch], numbers: dict[int | None, int | None]) -> str:
    header = ("batch", "stratum", "label", "issued_on", "size", "withdrawn_on")
    rows = [
        (place, numbers[batch.stratum_id], batch.label, batch.issued_on, batch.size, batch.withdrawn_on)
        for place, batch in enumerate(batches, 1)
    ]
    return csv_text([header, *rows])


def _invitations(session: Session, survey: Survey, batches: list[InvitationBatch]) -> Iterator[str]:
    """In the order of the hashes, which are as good as random; none of a closed survey, which lets nobody in.

    How many of a batch were used would tell how many of its stratum have responded.
    """
    yield csv_text([layout.INVITATION_CELLS])
    if survey.state == State.CLOSED:
        return
    places = {batch.id: place for place, batch in enumerate(batches, 1)}
    stored = invitations_of(survey.id)
    query = sa.select(*stored.c).order_by(stored.c.code_hash)
    found = session.execute(query, execution_options={"yield_per": 10_000})
    for rows in found.partitions():
        yield "".join(f"{code.hex()},{places[batch]},{str(spent).lower()}\r\n" for code, batch, spent in rows)


def _log(session: Session, survey: Survey, translations: NullTranslations) -> str:
    """What was changed, oldest first, as sentences."""
    rows = []
    for entry in reversed(change_log.list_entries(session, survey, limit=100_000)):
        who = entry.researcher.name or entry.researcher.login if entry.researcher else None
        sentence = translations.gettext(change_log.SENTENCES[change_log.Action(entry.action)])
        what = sentence % change_log.details_of(entry)
        rows.append((entry.at.isoformat(" ", "seconds"), who or "-", what))
    return csv_text([("at_utc", "who", "what"), *rows])
