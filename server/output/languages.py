"""The languages of the interface: one line of `LANGUAGES` each, and which of them a request asks for."""

from dataclasses import dataclass
from functools import cache

from babel.support import NullTranslations, Translations
from werkzeug.wrappers import Request

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
LANGUAGE_COOKIE = "moneda_language"
VARIES = "Accept-Language, Cookie"
"""By what the language of an answer is chosen."""


def choose_language(asked: Request) -> str:
    """The language to answer in: by the address, the cookie or what the browser prefers."""
    for wanted in (asked.args.get("lang"), asked.cookies.get(LANGUAGE_COOKIE)):
        if wanted in LANGUAGES:
            return wanted
    return asked.accept_languages.best_match(LANGUAGES) or DEFAULT_LANGUAGE


@cache
def load_catalogue(code: str) -> NullTranslations:
    """The translations into a language; of the default one, the texts as they are."""
    return Translations.load(TRANSLATIONS, [code])
