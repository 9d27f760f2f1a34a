"""What a survey's releases spent, carried along, and what its copy may release: copying never refills a budget."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from server.archives.layout import Document
from server.releases.budgets import read_released_document
from server.releases.rights import right_json
from server.store.models import GivenRight, LedgerEntry, PrivacyBudget, Release, ReleasedValue, Survey


def ledger_of(
    session: Session, survey: Survey, numbers: Mapping[int | None, int | None], right: GivenRight | None
) -> Document:
    """A survey's budget and releases, and what goes along; `numbers` are those of strata, by their ids here."""
    budget = session.get(PrivacyBudget, survey.id)
    query = (
        sa.select(Release)
        .where(Release.survey_id == survey.id)
        .order_by(Release.number)
        .options(
            selectinload(Release.entries).selectinload(LedgerEntry.released),
            selectinload(Release.entries).selectinload(LedgerEntry.answers),
        )
    )
    # A deleted stratum has no number, and its releases still count apart from those of all others.
    known = {stratum: number for stratum, number in numbers.items() if stratum is not None}
    stated: Document = {
        "right": right_json(right),
        "releases": [_release(release, known) for release in session.scalars(query)],
    }
    if budget is None:
        return stated
    said = {
        "epsilon": budget.epsilon,
        "delta": budget.delta,
        "neighbours": budget.neighbours,
        "set_at": budget.set_at.isoformat(),
    }
    return {"budget": said, **stated}


def _release(release: Release, numbers: dict[int, int | None]) -> Document:
    return {
        "made_at": release.made_at.isoformat(),
        "made_by": release.made_by,
        "software": release.software,
        "covers": json.loads(release.covers),
        "entries": [_entry(entry, numbers) for entry in release.entries],
    }


def _entry(entry: LedgerEntry, numbers: dict[int, int | None]) -> Document:
    strata = json.loads(entry.strata)
    for gone in (stratum for stratum in strata or () if stratum not in numbers):
        numbers[gone] = min(0, *(number or 0 for number in numbers.values())) - 1
    places = {} if strata is None else {"strata": [numbers[stratum] for stratum in strata]}
    return {
        "what": json.loads(entry.what),
        "asked": entry.asked.hex(),
        "mechanism": entry.mechanism,
        "epsilon": entry.epsilon,
        "delta": entry.delta,
        "neighbours": entry.neighbours,
        **places,
        "released": read_released_document(entry),
    }


def store_ledger(
    session: Session, survey: Survey, ledger: Document, ids: Mapping[int | None, int | None]
) -> None:
    """Keep a checked ledger with a new survey; `ids` are those of strata here, by their numbers in the archive."""
    stated = ledger.get("budget")
    if stated is None:
        return
    session.add(
        PrivacyBudget(
            survey_id=survey.id,
            epsilon=stated["epsilon"],
            delta=stated["delta"],
            neighbours=stated["neighbours"],
            set_at=datetime.fromisoformat(stated["set_at"]),
        )
    )
    for release in releases_of(ledger, ids):
        release.survey_id = survey.id
        session.add(release)
    session.flush()


def releases_of(ledger: Document, ids: Mapping[int | None, int | None]) -> list[Release]:
    """The releases of a ledger, oldest first, as they are stored."""
    return [
        Release(
            number=number,
            made_at=datetime.fromisoformat(release["made_at"]),
            researcher_id=None,  # who made it may be nobody here; the name says it
            made_by=release["made_by"],
            software=release["software"],
            covers=_text(release["covers"]),
            entries=[
                _make_entry(position, entry, ids) for position, entry in enumerate(release["entries"], 1)
            ],
        )
        for number, release in enumerate(ledger["releases"], 1)
    ]


def _make_entry(position: int, entry: Document, ids: Mapping[int | None, int | None]) -> LedgerEntry:
    strata = entry.get("strata")
    return LedgerEntry(
        position=position,
        what=_text(entry["what"]),
        asked=bytes.fromhex(entry["asked"]),
        mechanism=entry["mechanism"],
        epsilon=entry["epsilon"],
        delta=entry["delta"],
        neighbours=entry["neighbours"],
        strata=_text(None if strata is None else [ids.get(number, number) for number in strata]),
        released=ReleasedValue(document=_text(entry["released"])),
    )


def _text(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False)
