"""Looking for words in the sections of all chapters: SQLite's full-text index, in memory.

It folds accents and capitals, and finds the words that begin with what is asked for; where none does, those that
have it within them. Its stems are those of English: in Spanish, where few sections have a word, those count too that
have it with another ending.
"""

import re
import sqlite3
from dataclasses import dataclass
from functools import cache
from threading import Lock
from unicodedata import combining, normalize

from markupsafe import Markup, escape

from server.web.handbook.chapters import Chapter, ChapterSection, read_handbook

LONGEST_QUERY = 100
"""Characters that are looked for at most: what bounds the work for one request."""
MOST_HITS = 20

_LEAST_WITHIN, _MOST_WITHIN = 4, 20
"""Letters of what is looked for within words, and of how many words."""

_ENDINGS = {
    "es": re.compile(r"(?<=.{5})(?:ci[oó]n(?:es)?|[aeiou]?ndo|[ai]d[ao]s?|[aei]r|[aeo]s?)$"),
}
"""By language, what a word may end with behind five letters, of which it is known."""
_FEW = 5
"""Sections, of which fewer make other endings count."""

_SMALL = frozenset(
    "a an and are at be by can do does for from how i in is it my of on or the to what when where which who why with "
    "al como con cual cuando de del donde el en es hay la las lo los mi o para por que se su un una y".split()
)
"""Words that are in nearly every section, and tell none from another; folded."""

_BEGIN, _END = "\x02", "\x03"
_LOOKING = Lock()


@dataclass(frozen=True)
class Hit:
    """A section that has the words, and a piece of it with the words marked."""

    chapter: Chapter
    section: ChapterSection
    excerpt: Markup


@dataclass(frozen=True)
class Hits:
    """What was found: the first of it, and how much there is in all; `every` if each has every word."""

    first: tuple[Hit, ...]
    count: int
    every: bool


def list_words(query: str) -> list[str]:
    """The words that somebody looks for, each once: fifty times the same kept the server busy for seconds."""
    return list({_fold(word): word for word in re.findall(r"[^\W_]+", normalize("NFC", query))}.values())


def search_sections(words: list[str], language: str) -> Hits:
    """The sections that have every word, or else any; those in a language first, and of them the fittest.

    Small words count only where there are no others: nearly every section has words that begin like them.
    """
    words = [word for word in words if _fold(word) not in _SMALL] or words
    stems = [_ENDINGS[language].sub("", word.lower()) if language in _ENDINGS else word for word in words]
    for joined, asked, enough in (
        (" AND ", words, _FEW if stems != words else 1),
        (" AND ", stems, 1),
        (" OR ", stems, 1),
    ):
        found = _query_index(joined.join(map(_widen, asked)), language, every=joined == " AND ")
        if found.count >= enough:
            break
    return found


def _widen(word: str) -> str:
    """What begins with a word; where nothing does, the words that have it within them."""
    folded = _fold(word)
    if len(folded) < _LEAST_WITHIN or any(known.startswith(folded) for known in _list_known()):
        return f'"{word}"*'
    within = [known for known in _list_known() if folded in known][:_MOST_WITHIN]
    return "({})".format(" OR ".join([f'"{word}"*', *(f'"{known}"' for known in within)]))


def _fold(text: str) -> str:
    """A text in small letters, without accents."""
    return "".join(letter for letter in normalize("NFD", text.lower()) if not combining(letter))


@cache
def _list_known() -> tuple[str, ...]:
    """Every word of all chapters, folded."""
    texts = (
        f"{section.title} {section.text}"
        for chapter in read_handbook().chapters.values()
        for section in chapter.sections
    )
    return tuple(sorted({word for text in texts for word in list_words(_fold(text))}))


def _query_index(expression: str, language: str, *, every: bool) -> Hits:
    index = _fill_index()
    with _LOOKING:
        ((count,),) = index.execute("SELECT count(*) FROM sections WHERE sections MATCH ?", [expression])
        rows = index.execute(
            "SELECT name, place, snippet(sections, 4, ?, ?, '…', 30) FROM sections WHERE sections MATCH ? "
            "ORDER BY language <> ?, bm25(sections, 0, 0, 0, 8, 1) LIMIT ?",
            [_BEGIN, _END, expression, language, MOST_HITS],
        ).fetchall()
    chapters = read_handbook().chapters
    hits = (Hit(chapters[name], chapters[name].sections[place], _mark(text)) for name, place, text in rows)
    return Hits(tuple(hits), count, every)


def _mark(text: str) -> Markup:
    marked = str(escape(text)).replace(_BEGIN, "<mark>").replace(_END, "</mark>")
    return Markup(marked)  # noqa: S704 - escaped above


@cache
def _fill_index() -> sqlite3.Connection:
    index = sqlite3.connect(":memory:", check_same_thread=False)  # one thread at a time, by the lock
    index.execute(
        "CREATE VIRTUAL TABLE sections USING fts5(name UNINDEXED, place UNINDEXED, language UNINDEXED, "
        "title, text, tokenize='porter unicode61 remove_diacritics 2')"
    )
    index.executemany(
        "INSERT INTO sections VALUES (?, ?, ?, ?, ?)",
        [
            (chapter.name, place, chapter.language, section.title, section.text)
            for chapter in read_handbook().chapters.values()
            for place, section in enumerate(chapter.sections)
        ],
    )
    return index
