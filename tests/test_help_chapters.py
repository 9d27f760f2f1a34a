"""What chapters of the help quote of the product is what it says, and their numbers are those of the code."""

import re

import pytest

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people import throttling
from server.people.colleague_invitations import INVITATION_LIFETIME
from server.people.sign_ins import LINK_LIFETIME, SIGN_IN_LIFETIME
from server.web.handbook import Chapter
from tests.support.catalogue_words import messages, texts
from tests.support.help_reader import find_chapter

FILLED = r"%\(\w+\)(?:[sd]|\.\df)"


def list_sentences(language: str) -> list[str]:
    """Everything that pages say, as the catalogue has it."""
    return [
        text
        for message in messages("es")
        for text in texts(message.id if language == DEFAULT_LANGUAGE else message.string)
    ]


def list_quotes(chapter: Chapter) -> list[str]:
    return re.findall(r"^> (.+)$", chapter.source, re.MULTILINE)


def find_unsaid(quotes: list[str], language: str) -> list[str]:
    """Those that no page says."""
    said = {re.sub(FILLED, "…", text).replace("%%", "%") for text in list_sentences(language)}
    return [quote for quote in quotes if quote not in said]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sentence_of_troubleshooting_is_one_of_the_product(language: str) -> None:
    quotes = list_quotes(find_chapter("troubleshooting", language))
    assert len(set(quotes)) == len(quotes) >= 25
    assert find_unsaid(quotes, language) == []


def test_a_sentence_that_nobody_says_is_noticed() -> None:
    quotes = ["must be at least …; it is …", "must be somewhat larger"]
    assert find_unsaid(quotes, "en") == ["must be somewhat larger"]


def test_both_languages_explain_the_same_sentences() -> None:
    translated = {
        re.sub(FILLED, "…", one): re.sub(FILLED, "…", other)
        for message in messages("es")
        for one, other in zip(texts(message.id), texts(message.string), strict=False)
    }
    english, spanish = (list_quotes(find_chapter("troubleshooting", code)) for code in ("en", "es"))
    assert [translated[quote] for quote in english] == spanish


@pytest.mark.parametrize("language", LANGUAGES)
def test_how_long_things_are_kept_is_what_the_code_goes_by(language: str) -> None:
    rows = [line for line in find_chapter("ethics", language).source.splitlines() if " 14 d" in line]
    rows += [line for line in find_chapter("ethics", language).source.splitlines() if " 10 minut" in line]
    numbers = [int(number) for number in re.findall(r"\d+", " ".join(rows))]
    address, account = throttling.AttemptKind.ADDRESS.value, throttling.AttemptKind.ACCOUNT.value
    assert numbers == [
        SIGN_IN_LIFETIME.days,
        LINK_LIFETIME.total_seconds() // 3600,
        INVITATION_LIFETIME.days,
        address.longest // 60,
    ]
    assert account.longest == 24 * 3600, "a day"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_glossary_has_no_word_twice_and_a_line_for_each(language: str) -> None:
    _title, *words = find_chapter("glossary", language).sections
    assert len({word.title for word in words}) == len(words) > 20
    assert [word.title for word in words if len(word.text) < 40] == []
