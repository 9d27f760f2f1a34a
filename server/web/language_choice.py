"""Which language a request asks for, of those that its page is offered in."""

from collections.abc import Mapping

from werkzeug.wrappers import Request

from server.output.languages import (
    DEFAULT_LANGUAGE,
    LANGUAGES,
    RESPONDENT_LANGUAGES,
    Language,
    name_reading,
    split_reading,
)

LANGUAGE_COOKIE = "moneda_language"
VARIES = "Accept-Language, Cookie"
"""By what the language of an answer is chosen."""
RESPONDENTS = "/s/"
"""How the addresses of respondents' pages begin."""


def find_offered(path: str) -> Mapping[str, Language]:
    """The languages of a page: more for respondents, and for whoever previews what they see."""
    return RESPONDENT_LANGUAGES if path.startswith(RESPONDENTS) or path.endswith("/preview") else LANGUAGES


def choose_language(incoming: Request, offered: Mapping[str, Language] | None = None) -> str:
    """The language to answer in: by the address, the cookie or what the browser prefers."""
    return split_reading(choose_reading(incoming, offered))[0]


def choose_reading(incoming: Request, offered: Mapping[str, Language] | None = None) -> str:
    """The language, with the digits that go with it where they are not its first (`name_reading`)."""
    offered = find_offered(incoming.path) if offered is None else offered
    readings = [*offered]
    for code, language in offered.items():
        readings += [name_reading(code, system) for system in language.digits]
    for wanted in (incoming.args.get("lang"), incoming.cookies.get(LANGUAGE_COOKIE)):
        if wanted is not None and wanted in readings:
            return wanted
    return incoming.accept_languages.best_match(readings) or DEFAULT_LANGUAGE
