"""What a study sheet says, as a value."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

BY_LANGUAGE = ("title", "population", "hand_over", "thanks", "help_lines")
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
    hand_over : mapping of str to str
        What stands on a tablet that is handed to the next person, by the code of any language of respondents' pages.
    thanks, help_lines : mapping of str to str
        What respondents read at the end, by the code of a language; of the second each line is one to turn to.
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
        return replace(
            self, shown=False, hand_over={}, thanks={}, help_lines={}, completion_code="", completion_link=""
        )

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


def choose_language(texts: Mapping[str, str], language: str) -> tuple[str, str] | None:
    """The code and the text in a language, else in the first that it was written in; None where in none."""
    if language in texts:
        return language, texts[language]
    return next(iter(texts.items()), None)


UNSTATED = StudySheet()
"""A sheet that says nothing."""


def find_changes(before: StudySheet, after: StudySheet) -> list[str]:
    """The names of the fields in which two sheets differ."""
    return [
        each.name for each in fields(StudySheet) if getattr(before, each.name) != getattr(after, each.name)
    ]
