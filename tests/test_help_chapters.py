"""What chapters quote of the product is what it says, their numbers are the code's, and translations say the same."""

import re
from collections.abc import Iterator, Sequence

import pytest
from markdown_it.token import Token

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people import throttling
from server.people.colleague_invitations import INVITATION_LIFETIME
from server.people.sign_ins import LINK_LIFETIME, SIGN_IN_LIFETIME
from server.web.handbook import Chapter, read_handbook
from server.web.handbook.chapter_tokens import parse_chapter
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


# --- Translations ---------------------------------------------------------------------

PAIRS = [
    (chapter, read_handbook().chapters[chapter.others["es"]])
    for chapter in read_handbook().chapters.values()
    if "es" in chapter.others and not read_handbook().is_contents(chapter)
]
"""Chapters in English and the same in Spanish; the contents name what is in one language alone."""
ALPHABETICAL = "glossary"
"""What has its parts in another order in each language."""
OWN_NAMES = "paper"
"""Where code has names of files and places in the language of its reader."""
SAME_WORDS = "privacy"
"""The folder whose code stands in both languages, in the middle of a sentence too: names and formulas."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


def read_numbers(text: str, language: str) -> list[str]:
    """All numbers of a text, sorted: 1,024, 0.5 and Article 6(1) are 1024 or 1.024, 0,5 and artículo 6.1 in Spanish."""
    found = NUMBER.findall(re.sub(r"(\d)\((\d+)\)", r"\1.\2", text))
    if language == "es":
        whole = re.compile(r"[1-9]\d?\d?(\.\d{3})+")
        found = [one.replace(".", "") if whole.fullmatch(one) else one for one in found]
        return sorted(one.replace(",", ".") for one in found)
    return sorted(one.replace(",", "") for one in found)


def describe_words(token: Token, language: str, with_code: bool) -> tuple[object, ...]:
    """The numbers of a paragraph, a heading or a cell and, if asked for, its code."""
    parts = token.children or []
    text = " ".join(part.content for part in parts if part.type == "text")
    code = sorted(part.content for part in parts if part.type == "code_inline") if with_code else []
    return "inline", read_numbers(text, language), code


def describe(text: str, language: str, name: str) -> Iterator[tuple[object, ...]]:
    """What a chapter and its translation share, part by part: kinds of parts, code and numbers."""
    for token in parse_chapter(text):
        if token.type == "inline":
            yield describe_words(token, language, name.startswith(SAME_WORDS))
        elif token.type == "fence":
            yield token.type, token.info, "" if name == OWN_NAMES else token.content
        elif token.nesting >= 0:
            yield token.type, token.tag


def compare_translation(name: str, english: str, spanish: str) -> tuple[Sequence[object], Sequence[object]]:
    """The first parts of both that do not say the same; none where all do."""
    ours, theirs = (list(describe(text, code, name)) for text, code in ((english, "en"), (spanish, "es")))
    if name == ALPHABETICAL:
        ours, theirs = sorted(ours, key=str), sorted(theirs, key=str)
    places = range(max(len(ours), len(theirs)))
    place = next((place for place in places if ours[place : place + 1] != theirs[place : place + 1]), None)
    return ([], []) if place is None else (ours[place : place + 3], theirs[place : place + 3])


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda chapter: chapter.name)
def test_a_translation_has_the_same_parts_code_and_numbers(ours: Chapter, theirs: Chapter) -> None:
    one, other = compare_translation(ours.name, ours.source, theirs.source)
    assert one == other


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Of 1,024 rows 2.5 %.", "De 1024 filas, el 2,4 %."),
        ("Of 1,024 rows 2.5 %.", "De las filas, el 2,5 %."),
        ("One.\n\nTwo.", "Uno. Dos."),
        ("- One\n- Two", "- Uno"),
        ("## One", "### Uno"),
        ("| a |\n|---|\n| 1 |\n| 2 |", "| a |\n|---|\n| 1 |"),
        ("```python\n>>> 1\n1\n```", "```python\n>>> 2\n2\n```"),
        ("The function `count`.", "La función `contar`."),
    ],
)
def test_a_translation_that_says_something_else_is_noticed(said: str, told: str) -> None:
    one, other = compare_translation("privacy/queries", said, told)
    assert one != other


def test_numbers_as_each_language_writes_them_are_the_same() -> None:
    english, spanish = (
        "Of 1,024 and 20,000 rows 0.125 in `f(0.5)`",
        "De 1024 y 20.000 filas, 0,125 en `f(0.5)`",
    )
    assert compare_translation("privacy/queries", english, spanish) == ([], [])
