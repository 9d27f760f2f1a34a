"""The languages of the interface: one line of `LANGUAGES` each."""

from dataclasses import dataclass
from functools import cache

from babel.support import NullTranslations, Translations

from server.config import TRANSLATIONS


@dataclass(frozen=True)
class Language:
    """A language of the interface.

    Attributes
    ----------
    name : str
        As those who speak it call it.
    called : tuple of str
        By its code and otherwise, in small letters, in the files of others.
    guide : str
        The guide for researchers in it: a file of docs/, and the beginning of its pictures' names.
    grouped_from : int
        The smallest whole number whose thousands are set apart. Babel does not know CLDR's
        minimumGroupingDigits; browsers do, and number the same page.
    """

    name: str
    called: tuple[str, ...]
    guide: str
    grouped_from: int = 1_000


LANGUAGES = {
    "en": Language("English", ("en", "eng", "english", "inglés", "ingles"), "guide"),
    "es": Language(
        "Español", ("es", "spa", "esp", "spanish", "español", "espanol", "castellano"), "guia", 10_000
    ),
}
"""By their codes. The schema of a survey names the same codes: what other programs check a file with."""
DEFAULT_LANGUAGE = "en"
"""The language that the texts are written in; the others are translated."""
TRANSLATED = tuple(code for code in LANGUAGES if code != DEFAULT_LANGUAGE)


@cache
def load_catalogue(code: str) -> NullTranslations:
    """The translations into a language; of the default one, the texts as they are."""
    return Translations.load(TRANSLATIONS, [code])
