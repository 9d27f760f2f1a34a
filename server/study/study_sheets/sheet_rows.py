"""Study sheets as they are stored, one for each survey. Functions take a Session and never commit."""

import json
from dataclasses import dataclass

from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.store.models import StudySheetRow, Survey
from server.study.study_sheets.sheet_reader import parse_study_sheet
from server.study.study_sheets.sheet_values import UNSTATED, StudySheet, find_changes


@dataclass(frozen=True)
class StoredSheet:
    """A study sheet, the number of its state, 0 before it was ever saved, and the logo of who asks, a PNG."""

    sheet: StudySheet
    number: int
    logo: bytes | None = None


def read_study_sheet(session: Session, survey: Survey) -> StoredSheet:
    """The study sheet of a survey; an empty one where none was saved."""
    row = session.get(StudySheetRow, survey.id)
    if row is None:
        return StoredSheet(UNSTATED, 0)
    return StoredSheet(parse_study_sheet(json.loads(row.document)), row.number, row.logo)


def save_study_sheet(
    session: Session, survey: Survey, sheet: StudySheet, base: int | None = None
) -> list[str]:
    """Make this the study sheet of a survey, and give the names of the fields that changed.

    The same again is no new state. `base` is the number of the state that it was made from; without it, nothing is
    compared.

    Raises
    ------
    InputError
        409 if another state stands meanwhile.
    """
    stored = read_study_sheet(session, survey)
    if base is not None and base != stored.number:
        template = N_("was changed in another window or by somebody else meanwhile")
        raise refuse(409, "study", template)
    changed = find_changes(stored.sheet, sheet)
    if not changed:
        return changed
    row = _begin_change(session, survey)
    row.document = json.dumps(sheet.as_json(), ensure_ascii=False)
    session.flush()
    return changed


def save_logo(session: Session, survey: Survey, logo: bytes | None) -> list[str]:
    """Make this PNG of `server.inputs.logos`, or none, the logo; the name of its field if that is new."""
    if logo == read_study_sheet(session, survey).logo:
        return []
    _begin_change(session, survey).logo = logo
    session.flush()
    return ["logo"]


def _begin_change(session: Session, survey: Survey) -> StudySheetRow:
    row = session.get(StudySheetRow, survey.id)
    if row is None:
        row = StudySheetRow(survey_id=survey.id, number=0, document="{}")
        session.add(row)
    row.number += 1
    return row
