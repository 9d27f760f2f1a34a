"""Which language of the interface a request asks for."""

from werkzeug.wrappers import Request

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES

LANGUAGE_COOKIE = "moneda_language"
VARIES = "Accept-Language, Cookie"
"""By what the language of an answer is chosen."""


def choose_language(asked: Request) -> str:
    """The language to answer in: by the address, the cookie or what the browser prefers."""
    for wanted in (asked.args.get("lang"), asked.cookies.get(LANGUAGE_COOKIE)):
        if wanted in LANGUAGES:
            return wanted
    return asked.accept_languages.best_match(LANGUAGES) or DEFAULT_LANGUAGE
