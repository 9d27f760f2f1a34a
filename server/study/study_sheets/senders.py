"""Who asks, as respondents' pages say it: read from the study sheet, so that it can be mended while a survey runs."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from server.output.languages import RESPONDENT_LANGUAGES
from server.store.models import Survey
from server.study.study_sheets.identifiers import is_email, is_web_address
from server.study.study_sheets.sheet_rows import read_study_sheet
from server.study.study_sheets.sheet_values import choose_language

_OWN_WORDS = ("name", "contact", "hand_over", "thanks", "help_lines")
_NUMBER = re.compile(r"\+?[0-9](?:[ ()./-]*[0-9])*\Z")


@dataclass(frozen=True)
class OwnWords:
    """A text of the researcher's, and the code of its language; none where it may be in any."""

    language: str = ""
    text: str = ""

    @property
    def direction(self) -> str:
        """Where its lines begin, for `dir`."""
        spoken = RESPONDENT_LANGUAGES.get(self.language)
        return "auto" if spoken is None else spoken.direction

    @property
    def lines(self) -> tuple[str, ...]:
        """Without those that are empty."""
        return tuple(line.strip() for line in self.text.splitlines() if line.strip())


@dataclass(frozen=True)
class SurveySender:
    """What respondents' pages say of who asks, and at the end; `logo` is the SHA-256 of the picture."""

    name: OwnWords = OwnWords()
    contact: OwnWords = OwnWords()
    email: str = ""
    logo: str = ""
    hand_over: OwnWords = OwnWords()
    thanks: OwnWords = OwnWords()
    help_lines: OwnWords = OwnWords()
    completion_code: str = ""
    completion_link: str = ""

    def as_json(self) -> dict[str, Any]:
        """What `from_json` reads the same from."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> "SurveySender":
        """Raises TypeError or KeyError where it is none."""
        words = {name: OwnWords(**document[name]) for name in _OWN_WORDS}
        stated = [*(document[name] for name in _OWN_WORDS), {**document, **dict.fromkeys(_OWN_WORDS, "")}]
        if not all(isinstance(text, str) for texts in stated for text in texts.values()):
            raise TypeError("every text must be a string")
        return cls(**{**document, **words})


def read_sender(session: Session, survey: Survey, language: str, survey_language: str) -> SurveySender:
    """What the pages of a survey say in a language, or in the survey's own where that has no text.

    Nothing of who asks before its researchers choose to show it.
    """
    stored = read_study_sheet(session, survey)
    sheet = stored.sheet
    unnamed = SurveySender(
        hand_over=_choose_words(sheet.hand_over, language, survey_language),
        thanks=_choose_words(sheet.thanks, language, survey_language),
        help_lines=_choose_words(sheet.help_lines, language, survey_language),
        completion_code=sheet.completion_code,
        completion_link=sheet.completion_link,
    )
    if not sheet.shown:
        return unnamed
    logo = "" if stored.logo is None else hashlib.sha256(stored.logo).hexdigest()
    return replace(
        unnamed,
        name=_choose_name(sheet.shown_name, language, sheet.sponsor),
        contact=_choose_name(sheet.shown_contact, language, sheet.contact_name),
        email=sheet.contact_email,
        logo=logo,
    )


def _choose_words(texts: Mapping[str, str], language: str, survey_language: str) -> OwnWords:
    return OwnWords(*(choose_language(texts, language, survey_language) or ()))


def _choose_name(texts: Mapping[str, str], language: str, name: str) -> OwnWords:
    """A name in a language, else as it is stated for all: of which language that is, nobody said."""
    return OwnWords(language, texts[language]) if language in texts else OwnWords("", name)


def split_line(line: str) -> tuple[str, str, str]:
    """A line, split before the number or address that it ends with, and the link to that; both empty without one."""
    words = line.split()
    if is_web_address(words[-1]):
        return line.removesuffix(words[-1]), words[-1], words[-1]
    if is_email(words[-1]):
        return line.removesuffix(words[-1]), words[-1], f"mailto:{words[-1]}"
    found = _NUMBER.search(line)
    if found is None:
        return line, "", ""
    return line[: found.start()], found[0], "tel:" + re.sub(r"[^+0-9]", "", found[0])
