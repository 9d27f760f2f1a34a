"""The study sheet in every state, for the walk over all pages."""

from typing import TYPE_CHECKING, Any

from server.study.study_sheets import parse_study_sheet
from server.study.study_sheets.sheet_forms import write_form
from tests.support.catalogue_words import pseudo
from tests.support.study_form import study_document

if TYPE_CHECKING:
    from tests.support.every_page import Reader

# In digits: a word of one's own would be taken for one of the page's.
WRONG = {
    "title.en": "1" * 301,
    "population.es": "1" * 4001,
    "sponsor": "1" * 301,
    "mode": "1\n2",
    "languages": "\u202e1",
    "sampling": "?",
    "field_begin": "2026-02-30",
    "planned_respondents": "0",
    "planned_margin": "?",
    "contact_email": "1",
    "authors[0].affiliation": "1",
    "authors[1].name": "1",
    "authors[1].orcid": "0000-0002-1825-0098",
    "doi": "10.1234",
    "preregistration": "10.1234",
}
_KEPT = {"sampling", "field_begin", "field_end", "preregistration"}


def _mark_own_words() -> dict[str, Any]:
    """A sheet that states everything, its words marked as those of a catalogue."""
    written = study_document()
    return {
        **{
            name: pseudo(text) if isinstance(text, str) and name not in _KEPT else text
            for name, text in written.items()
        },
        "title": {"es": pseudo("Title")},
        "population": {"es": pseudo("Everybody")},
        "authors": [
            {name: text if name == "orcid" else pseudo(text) for name, text in author.items()}
            for author in written["authors"]
        ],
        "keywords": [pseudo("Exams")],
        "contact_email": "1@2.34",
        "doi": "10.1234/5",
    }


def walk_study(owner: "Reader", database_url: str, slug: str) -> None:
    """Empty, filled in, with something wrong in each field, and in the archive; then what reports say of it."""
    home = f"/manage/surveys/{slug}"
    owner.get(f"{home}/study")
    owner.post(f"{home}/study", {"sponsor": "1"})
    for name, text in WRONG.items():
        owner.post(f"{home}/study", {name: text})
    again = {"field_begin": "2026-03-01", "field_end": "2026-02-01"}
    owner.post(f"{home}/study", again)
    owner.post(f"{home}/study", {**again, "field_end": "2026-03-01", "state": "7"})
    stated = _mark_own_words()
    for changes in (
        {},
        {"field_begin": "", "sampling": "nonprobability"},
        {"field_end": "", "sampling": "everyone"},
    ):
        owner.post(f"{home}/study", write_form(parse_study_sheet({**stated, **changes})))
        owner.get(f"{home}/report.html")
    owner.get(f"{home}/study/datacite.json")
    owner.get(f"{home}/log")
