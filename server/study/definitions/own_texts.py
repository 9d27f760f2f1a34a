"""A survey's own texts, and what they are called in other languages.

A translation is known by the text that it translates. So it follows a question or an answer wherever that is moved or
copied, and a text that was written anew is one without a translation.
"""

from collections.abc import Mapping
from typing import Any

from server.output.languages import RESPONDENT_LANGUAGES

Translations = Mapping[str, Mapping[str, str]]
"""By language, and then by the text in the survey's own language."""


def list_texts(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Whatever respondents read that its researcher wrote, in the order of the survey; each text once."""
    found = [document.get(name, "") for name in ("title", "introduction", "consent")]
    for entry in document.get("questions", ()):
        found += [entry.get("text", ""), entry.get("body", ""), entry.get("unit", "")]
        found += [option.get("text", "") for option in entry.get("options", ())]
        found += [entry.get("feedback", ""), entry.get("design", {}).get("innocuous", "")]
    return tuple(dict.fromkeys(text for text in found if text.strip()))


def find_untranslated(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The texts that each other language of a survey still lacks: respondents read them as they are."""
    texts = list_texts(document)
    return {
        language: tuple(text for text in texts if text not in known)
        for language, known in document.get("translations", {}).items()
        if language != document.get("language")
    }


def keep_readable(translations: object) -> dict[str, dict[str, str]]:
    """Of what somebody else's unfinished draft has in the place of translations, what can be one."""
    found: dict[str, dict[str, str]] = {}
    for language, known in translations.items() if isinstance(translations, dict) else ():
        if language in RESPONDENT_LANGUAGES and isinstance(known, dict):
            found[language] = {
                text: said for text, said in known.items() if isinstance(said, str) and said.strip()
            }
    return found


def keep_used(document: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The translations of texts that there are, into other languages than their own."""
    texts = list_texts(document)
    used = {
        language: {text: known[text] for text in texts if text in known}
        for language, known in document.get("translations", {}).items()
        if language != document["language"]
    }
    return {language: known for language, known in used.items() if known}
