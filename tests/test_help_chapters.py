"""What chapters quote of the product is what it says, their numbers are the code's, and translations say the same."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from urllib.parse import unquote

import pytest
from markdown_it.token import Token

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.people import throttling
from server.people.colleague_invitations import INVITATION_LIFETIME
from server.people.sign_ins import LINK_LIFETIME, SIGN_IN_LIFETIME
from server.web.handbook import Chapter, read_handbook
from server.web.handbook.chapter_tokens import list_links, parse_chapter
from server.web.handbook.chapters import name_chapter, resolve_link
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


def list_places(chapter: Chapter) -> Iterator[tuple[str, str, int]]:
    """Where links lead: a chapter's English name, its language, the section's number; others as they are."""
    for words, href in list_links(parse_chapter(chapter.source)):
        target = resolve_link(chapter.file, unquote(href))
        below = read_handbook().chapters.get(name_chapter(target[0])) if target else None
        if target is None or below is None:
            yield href.replace("/guia-", "/guide-"), "", 0
        elif words not in {language.name for language in LANGUAGES.values()}:
            name = below.others.get(DEFAULT_LANGUAGE, below.name)
            counted = target[1] and name != ALPHABETICAL
            anchors = [section.anchor for section in below.sections]
            yield name, below.language, anchors.index(target[1]) if counted else 0


def find_strays(ours: Chapter, theirs: Chapter) -> list[tuple[str, str, int]]:
    """Links of a translation that lead elsewhere than the original's, or to the original of what is translated."""
    translated = {name for name, chapter in read_handbook().chapters.items() if "es" in chapter.others}
    expected = [
        (name, theirs.language if name in translated else language, number)
        for name, language, number in list_places(ours)
    ]
    found = list(list_places(theirs))
    if ours.name == ALPHABETICAL:
        expected, found = sorted(expected), sorted(found)
    pairs = itertools.zip_longest(expected, found, fillvalue=("none", "", 0))
    return [place for meant, place in pairs if meant != place]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=lambda chapter: chapter.name)
def test_links_of_a_translation_lead_to_the_same_places_in_its_language(
    ours: Chapter, theirs: Chapter
) -> None:
    assert find_strays(ours, theirs) == []


@pytest.mark.parametrize(
    "link",
    [
        "designs.md",
        "estimadores.md",
        "disenos.md#redondeo",
        "disenos.md) y [otra vez](disenos.md",
        "https://x.org",
    ],
)
def test_a_link_of_a_translation_that_leads_elsewhere_is_noticed(link: str) -> None:
    english, spanish = (read_handbook().chapters[f"privacy/{name}"] for name in ("intervals", "intervalos"))
    ours = replace(english, source="See [there](designs.md).")
    assert find_strays(ours, replace(spanish, source="Mira [allí](disenos.md).")) == []
    assert find_strays(ours, replace(spanish, source=f"Mira [allí]({link}).")) != []
