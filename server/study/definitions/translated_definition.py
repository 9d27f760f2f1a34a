"""A definition with its own texts in another of its languages."""

from collections.abc import Callable
from dataclasses import fields, replace

from server.study.definitions.definition import Definition
from server.study.definitions.entries import Entry, Option

_WORDED = ("text", "body", "unit", "feedback")
"""Fields of entries that hold a text of the researcher's."""


def list_languages(definition: Definition) -> tuple[str, ...]:
    """The languages that a survey's own texts are in, that which it was written in first."""
    return (definition.language, *(code for code in definition.translations if code != definition.language))


def translate_definition(definition: Definition, language: str) -> Definition:
    """The definition as respondents read it in a language; what was not translated is left as it is.

    For reading alone: nothing that counts is changed, but its hash is another.
    """
    known = definition.translations.get(language, {})
    if language == definition.language or not known:
        return definition

    def say(text: str) -> str:
        return known.get(text, text)

    return replace(
        definition,
        language=language,
        title=say(definition.title),
        introduction=say(definition.introduction),
        consent=say(definition.consent),
        entries=tuple(_translate_entry(entry, say) for entry in definition.entries),
    )


def _translate_entry(entry: Entry, say: Callable[[str], str]) -> Entry:
    changed: dict[str, object] = {}
    for name in {each.name for each in fields(entry)}.intersection(_WORDED):
        if text := getattr(entry, name):
            changed[name] = say(text)
    if options := getattr(entry, "options", ()):
        changed["options"] = tuple(Option(option.name, say(option.text)) for option in options)
    return replace(entry, **changed)  # type: ignore[arg-type]
