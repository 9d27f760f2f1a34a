"""What a study sheet says, as a value."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

FOR_RESPONDENTS_ALONE = ("shown_name", "shown_contact", "hand_over", "thanks", "help_lines")
"""Fields that hold a text for each language of respondents' pages, which no report has."""
BY_LANGUAGE = ("title", "population", *FOR_RESPONDENTS_ALONE)
"""Fields that hold a text for each language."""


@dataclass(frozen=True)
class Author:
    """Somebody who is cited; `orcid` is a bare identifier."""

    name: str
    orcid: str = ""
    affiliation: str = ""

    def as_json(self) -> dict[str, str]:
        """What is stated of them."""
        return {name: text for name, text in vars(self).items() if text}


@dataclass(frozen=True)
class StudySheet:
    """A study as its researchers describe it; what is empty was not stated.

    Attributes
    ----------
    title, population : mapping of str to str
        By the code of a language of the interface.
    sampling : str
        "probability", "nonprobability", "everyone", or nothing.
    field_begin, field_end : str
        Days as 2026-03-01.
    planned_margin : float or None
        Half the width of an interval, as a fraction.
    doi : str
        Without an address before it.
    public : bool
        Whether everybody may read it.
    shown : bool
        Whether respondents' pages say who asks and whom to ask, from `sponsor`, `contact_name` and `contact_email`.
    shown_name, shown_contact : mapping of str to str
        `sponsor` and `contact_name` as respondents read them, by the code of any language of respondents' pages; these
        two themselves where it has none.
    hand_over : mapping of str to str
        What stands on a tablet that is handed to the next person, by the same codes.
    thanks, help_lines : mapping of str to str
        What respondents read at the end, by the same codes; of the second each line is one to turn to.
    completion_code, completion_link : str
        What everybody reads at the end alike: a panel's proof that somebody finished, and where it wants them back.
    """

    title: Mapping[str, str] = field(default_factory=dict)
    sponsor: str = ""
    funder: str = ""
    conductor: str = ""
    population: Mapping[str, str] = field(default_factory=dict)
    frame: str = ""
    sampling: str = ""
    recruitment: str = ""
    mode: str = ""
    languages: str = ""
    field_begin: str = ""
    field_end: str = ""
    planned_respondents: int | None = None
    planned_margin: float | None = None
    quality: str = ""
    limitations: str = ""
    ethics_board: str = ""
    ethics_number: str = ""
    contact_name: str = ""
    contact_email: str = ""
    authors: tuple[Author, ...] = ()
    doi: str = ""
    keywords: tuple[str, ...] = ()
    preregistration: str = ""
    licence: str = ""
    public: bool = False
    shown: bool = False
    shown_name: Mapping[str, str] = field(default_factory=dict)
    shown_contact: Mapping[str, str] = field(default_factory=dict)
    hand_over: Mapping[str, str] = field(default_factory=dict)
    thanks: Mapping[str, str] = field(default_factory=dict)
    help_lines: Mapping[str, str] = field(default_factory=dict)
    completion_code: str = ""
    completion_link: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is stated."""
        return replace(self.for_reports, public=False) == UNSTATED

    @property
    def for_reports(self) -> "StudySheet":
        """Without what is for respondents' pages alone."""
        nothing: dict[str, Any] = {name: {} for name in FOR_RESPONDENTS_ALONE}
        return replace(self, **nothing, shown=False, completion_code="", completion_link="")

    @property
    def for_everybody(self) -> "StudySheet":
        """What the public may read: all that is for reports or nothing, as it is marked."""
        return self.for_reports if self.public else UNSTATED

    def as_json(self) -> dict[str, Any]:
        """What is stated, in the order of the schema; `parse_study_sheet` reads the same from it."""
        stated = {each.name: getattr(self, each.name) for each in fields(self)}
        stated |= {
            **{name: dict(getattr(self, name)) for name in BY_LANGUAGE},
            "authors": [author.as_json() for author in self.authors],
            "keywords": list(self.keywords),
        }
        return {name: value for name, value in stated.items() if value not in ("", None, False, [], {})}

    def copy_for_another(self) -> "StudySheet":
        """What holds of a copy of the survey too: neither its dates, what names it alone, nor that it is public."""
        undated = replace(self, field_begin="", field_end="", doi="", preregistration="", public=False)
        return replace(undated, completion_code="", completion_link="")


def choose_language(texts: Mapping[str, str], *languages: str) -> tuple[str, str] | None:
    """The code and the text in the first of these languages that has one, else in the first that has; None in none."""
    found = next((code for code in (*languages, *texts) if code in texts), None)
    return None if found is None else (found, texts[found])


def find_unwritten(sheet: StudySheet, languages: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The fields of which respondents read a text in another language than theirs, for each of some languages.

    Names are none of them: what is stated of whoever asks stands on every page.
    """
    written = [name for name in ("hand_over", "thanks", "help_lines") if getattr(sheet, name)]
    return {code: tuple(name for name in written if code not in getattr(sheet, name)) for code in languages}


UNSTATED = StudySheet()
"""A sheet that says nothing."""


def find_changes(before: StudySheet, after: StudySheet) -> list[str]:
    """The names of the fields in which two sheets differ."""
    return [
        each.name for each in fields(StudySheet) if getattr(before, each.name) != getattr(after, each.name)
    ]
