"""The languages of the site: one line of the table each, of the whole interface or of respondents' pages alone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from babel.support import NullTranslations, Translations

from server.config import TRANSLATIONS


@dataclass(frozen=True)
class Language:
    """A language of the site.

    Attributes
    ----------
    name : str
        As those who speak it call it.
    called : tuple of str
        By its code and otherwise, in small letters, in the files of others.
    guide : str
        The guide for researchers in it: a folder of docs/, and the beginning of its pictures' names. Without one, it is
        a language of respondents' pages alone.
    grouped_from : int
        The smallest whole number whose thousands are set apart. Babel does not know CLDR's
        minimumGroupingDigits; browsers do, and number the same page.
    direction : str
        "ltr" or "rtl": where its lines begin.
    digits : mapping of str to str
        Where respondents may choose: the numbering systems, as CLDR calls them, and what those who read them call
        them. The first is taken unless another is chosen: the digits of codes and addresses.
    """

    name: str
    called: tuple[str, ...]
    guide: str = ""
    grouped_from: int = 1_000
    direction: str = "ltr"
    digits: Mapping[str, str] = field(default_factory=dict)


_TABLE = {
    "en": Language("English", ("en", "eng", "english", "inglés", "ingles"), "guide"),
    "es": Language(
        "Español", ("es", "spa", "esp", "spanish", "español", "espanol", "castellano"), "guia", 10_000
    ),
    "fr": Language("Français", ("fr", "fra", "fre", "french", "français", "francais")),
    "pt": Language("Português", ("pt", "por", "portuguese", "português", "portugues")),
    "ar": Language(
        "العربية",
        ("ar", "ara", "arabic", "العربية"),
        direction="rtl",
        digits={"latn": "أرقام مغربية 012", "arab": "أرقام مشرقية ٠١٢"},
    ),
}
LANGUAGES = {code: language for code, language in _TABLE.items() if language.guide}
"""Of the whole interface, by their codes."""
DEFAULT_LANGUAGE = "en"
"""The language that the texts are written in; the others are translated."""
TRANSLATED = tuple(code for code in LANGUAGES if code != DEFAULT_LANGUAGE)
FOR_RESPONDENTS = tuple(code for code in _TABLE if code not in LANGUAGES)
"""Translated where respondents look. `make messages` compiles a catalogue of theirs only if it has no gap."""
RESPONDENT_LANGUAGES = {
    code: language
    for code, language in _TABLE.items()
    if code in LANGUAGES or (TRANSLATIONS / code / "LC_MESSAGES" / "messages.mo").is_file()
}
"""Of respondents' pages: each complete, or not offered. The schema of a survey names the same codes."""


def name_reading(code: str, system: str) -> str:
    """A language and digits that are not its first, as BCP 47 writes them: "ar-u-nu-arab"."""
    first = next(iter(RESPONDENT_LANGUAGES[code].digits), system)
    return code if system == first else f"{code}-u-nu-{system}"


def split_reading(reading: str) -> tuple[str, str]:
    """The language of a reading, and the numbering system of digits that are not its first."""
    code, _, system = reading.partition("-u-nu-")
    return code, system


def list_digit_readings() -> Iterator[tuple[str, str]]:
    """Each language of respondents' pages with each kind of digits that is not its first, and what that is called."""
    for code, language in RESPONDENT_LANGUAGES.items():
        for system, name in islice(language.digits.items(), 1, None):
            yield name_reading(code, system), f"{language.name} · {name}"


def list_readings() -> Iterator[tuple[str, str]]:
    """Each language of respondents' pages, and with each kind of digits where it has a choice."""
    for code, language in RESPONDENT_LANGUAGES.items():
        yield code, language.name
    yield from list_digit_readings()


@cache
def load_catalogue(code: str) -> NullTranslations:
    """The translations into a language; of the default one, the texts as they are."""
    return Translations.load(TRANSLATIONS, [code])
