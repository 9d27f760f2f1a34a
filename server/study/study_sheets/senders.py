"""Who asks, as respondents' pages say it: read from the study sheet, so that it can be mended while a survey runs."""

import hashlib
import re
from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from server.store.models import Survey
from server.study.study_sheets.identifiers import is_email, is_web_address
from server.study.study_sheets.sheet_rows import read_study_sheet
from server.study.study_sheets.sheet_values import choose_language

_OWN_WORDS = ("hand_over", "thanks", "help_lines")
_NUMBER = re.compile(r"\+?[0-9](?:[ ()./-]*[0-9])*\Z")


@dataclass(frozen=True)
class OwnWords:
    """A text of the researcher's, and the code of its language."""

    language: str = ""
    text: str = ""

    @property
    def lines(self) -> tuple[str, ...]:
        """Without those that are empty."""
        return tuple(line.strip() for line in self.text.splitlines() if line.strip())


@dataclass(frozen=True)
class SurveySender:
    """What respondents' pages say of who asks, and at the end; `logo` is the SHA-256 of the picture."""

    name: str = ""
    contact: str = ""
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
        return cls(**{**document, **words})


def read_sender(session: Session, survey: Survey, language: str) -> SurveySender:
    """What the pages of a survey say in a language; nothing of who asks before its researchers choose to show it."""
    stored = read_study_sheet(session, survey)
    sheet = stored.sheet
    hand_over, thanks, help_lines = (
        OwnWords(*(choose_language(getattr(sheet, name), language) or ())) for name in _OWN_WORDS
    )
    unnamed = SurveySender(
        hand_over=hand_over,
        thanks=thanks,
        help_lines=help_lines,
        completion_code=sheet.completion_code,
        completion_link=sheet.completion_link,
    )
    if not sheet.shown:
        return unnamed
    logo = "" if stored.logo is None else hashlib.sha256(stored.logo).hexdigest()
    return replace(
        unnamed, name=sheet.sponsor, contact=sheet.contact_name, email=sheet.contact_email, logo=logo
    )


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
