"""What docs/ holds: chapters, their sections and languages, and the order in which they are read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import PurePosixPath
from posixpath import normpath

from markdown_it.token import Token

from server.config import DOCS
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.web.handbook.chapter_tokens import list_headings, list_links, parse_chapter, read_words

CONTENTS = ""
"""The name of the chapter that leads to all others: docs/README.md."""

_INDEX = "README"
_ENDING = ".md"


@dataclass(frozen=True)
class ChapterSection:
    """A heading and what stands below it, up to the next.

    Attributes
    ----------
    anchor : str
        What follows the `#` of its address.
    level : int
        1 for the title of a chapter.
    text : str
        The words below the heading, without what makes them look different.
    """

    anchor: str
    level: int
    title: str
    text: str


@dataclass(frozen=True)
class Chapter:
    """A file of docs/.

    Attributes
    ----------
    name : str
        As its address under /help has it: `guide`, `privacy/designs`; of a README that of its folder.
    file : PurePosixPath
        Seen from docs/.
    others : mapping
        Names of the same chapter in other languages, by their codes.
    leads_to : tuple of str
        Names of the chapters that it links to.
    source : str
        The file as it is.
    """

    name: str
    file: PurePosixPath
    language: str
    others: Mapping[str, str]
    sections: tuple[ChapterSection, ...]
    leads_to: tuple[str, ...]
    source: str

    @property
    def title(self) -> str:
        """What it is called."""
        return self.sections[0].title


@dataclass(frozen=True)
class Handbook:
    """All chapters, by their names."""

    chapters: Mapping[str, Chapter]

    def find_contents(self, language: str) -> Chapter:
        """The chapter that leads to all others, in a language."""
        first = self.chapters[CONTENTS]
        return self.chapters[first.others.get(language, CONTENTS)]

    def is_contents(self, chapter: Chapter) -> bool:
        """Whether a chapter is that one, in whatever language."""
        return CONTENTS in (chapter.name, *chapter.others.values())

    @cached_property
    def orders(self) -> Mapping[str, tuple[str, ...]]:
        """For each language the names in the order of reading: that of the contents, a folder's after its contents."""
        return {code: tuple(dict.fromkeys(self._follow(self.find_contents(code)))) for code in LANGUAGES}

    def _follow(self, chapter: Chapter) -> Iterator[str]:
        yield chapter.name
        for name in chapter.leads_to:
            below = self.chapters[name]
            if self.is_contents(below) or name in chapter.others.values():
                continue
            if any(self.chapters[one].file.stem == _INDEX for one in (name, *below.others.values())):
                yield from self._follow(below)
            else:
                yield name


@cache
def read_handbook() -> Handbook:
    """Every Markdown file of docs/, as they are when somebody first asks."""
    files = {
        name_chapter(file): file
        for file in (
            PurePosixPath(path.relative_to(DOCS).as_posix()) for path in sorted(DOCS.rglob(f"*{_ENDING}"))
        )
    }
    sources = {name: (DOCS / file).read_text("utf-8") for name, file in files.items()}
    parsed = {name: parse_chapter(source) for name, source in sources.items()}
    links = {name: list(_lead(files[name], parsed[name])) for name in files}
    codes = {language.name: code for code, language in LANGUAGES.items()}
    others = {
        name: {codes[words]: target for words, target in links[name] if words in codes and target in files}
        for name in files
    }
    return Handbook(
        {
            name: Chapter(
                name,
                files[name],
                _find_language(name, others),
                others[name],
                tuple(_list_sections(parsed[name])),
                tuple(target for _words, target in links[name] if target in files),
                sources[name],
            )
            for name in files
        }
    )


def name_chapter(file: PurePosixPath) -> str:
    """What a file, seen from docs/, is called under /help."""
    return str(file.parent).removeprefix(".") if file.stem == _INDEX else str(file.with_suffix(""))


def resolve_link(file: PurePosixPath, href: str) -> tuple[PurePosixPath, str] | None:
    """Where a link of a file leads, seen from docs/, and the anchor there; None for another site."""
    path, _, anchor = href.partition("#")
    if ":" in path:
        return None
    return (PurePosixPath(normpath(file.parent / path)) if path else file), anchor


def _lead(file: PurePosixPath, tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """The words of each link to a Markdown file, and the name of its chapter, if it is one."""
    for words, href in list_links(tokens):
        target = resolve_link(file, href)
        if target is not None and target[0].suffix == _ENDING:
            yield words, name_chapter(target[0])


def _find_language(name: str, others: Mapping[str, Mapping[str, str]]) -> str:
    """The language in which the chapters that are the same in others name this one; that of the texts for one alone."""
    for other in others[name].values():
        for code, back in others[other].items():
            if back == name:
                return code
    return DEFAULT_LANGUAGE


def _list_sections(tokens: Sequence[Token]) -> Iterator[ChapterSection]:
    headings = list(list_headings(tokens))
    ends = [heading.place for heading in headings[1:]] + [len(tokens)]
    for heading, end in zip(headings, ends, strict=True):
        below = tokens[heading.place + 3 : end]
        words = " ".join(read_words(token) for token in below if token.type in ("inline", "fence"))
        yield ChapterSection(heading.anchor, heading.level, heading.title, words)
