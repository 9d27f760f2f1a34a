"""What reports are written with: words that pages have as well."""

from functools import cache
from html import unescape
from typing import Any

from jinja2 import Environment

from server.output.documents import Words, environment_of
from server.releases.kinds import title_of
from server.study.answer_texts import FOR_TEMPLATES


class ReportWords(Words):
    """Words, and macros of `templates/words/`, which pages and documents share."""

    def macro(self, template: str, name: str, *arguments: Any) -> str:
        """What a template's macro writes, as plain text."""
        module: Any = self.environment.get_template(template).module
        # What was escaped is unescaped again: these macros write no element.
        return unescape(str(getattr(module, name)(*arguments))).strip()

    @property
    def environment(self) -> Environment:
        """Templates in this language, that word answers."""
        return _environment(self.locale)


@cache
def _environment(locale: str) -> Environment:
    environment = environment_of(locale).overlay()
    environment.globals = {**environment.globals, **FOR_TEMPLATES, "title_of": title_of}
    return environment
