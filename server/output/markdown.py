"""The researcher's texts: paragraphs, lists, bold, italic and links, as values: what `client/markdown.js` draws.

Nothing else of Markdown has a meaning, and there is no HTML. Both are held equal by `tests/vectors/markdown.json`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

# White space as JavaScript has it.
_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_ANY = r"[^\n\r\u2028\u2029]"
_ITEM = re.compile(rf"[{_SPACE}]*- +({_ANY}+)")
_BLANK = re.compile(rf"[{_SPACE}]*")
_INLINE = re.compile(
    rf"\*\*([^{_SPACE}]|[^{_SPACE}]{_ANY}*?[^{_SPACE}])\*\*"
    rf"|\*([^{_SPACE}*]|[^{_SPACE}*]{_ANY}*?[^{_SPACE}*])\*"
    rf'|\[([^\][]+)\]\(((?:https://|mailto:)[^{_SPACE}()<>"]+)\)'
)


@dataclass(frozen=True)
class Run:
    """Some words that look alike; with `href`, those of a link."""

    text: str
    strong: bool = False
    emphasis: bool = False
    href: str = ""

    @property
    def plain_text(self) -> str:
        """As they are read where nothing can be followed: a link with its address."""
        address = self.href.removeprefix("mailto:")
        return f"{self.text} ({address})" if address and address != self.text else self.text


Line = tuple[Run, ...]


@dataclass(frozen=True)
class Passage:
    """A paragraph of lines, or a list of items."""

    lines: tuple[Line, ...]
    items: bool = False

    @property
    def text(self) -> str:
        """Without what makes words look different."""
        before = "• " if self.items else ""
        return "\n".join(before + "".join(run.plain_text for run in line) for line in self.lines)


def parse_markdown(text: str) -> tuple[Passage, ...]:
    """Paragraphs and lists, separated by empty lines; a list may also follow a paragraph at once."""
    found: list[tuple[bool, list[Line]]] = []
    begun = False
    for line in text.split("\n"):
        if _BLANK.fullmatch(line):
            begun = False
            continue
        item = _ITEM.match(line)
        if not begun or found[-1][0] != bool(item):
            found.append((bool(item), []))
            begun = True
        found[-1][1].append(tuple(_inline(item[1] if item else line)))
    return tuple(Passage(tuple(lines), items) for items, lines in found)


def strip_marks(text: str) -> str:
    """The words on one line, without what makes them look different: for a list of what a survey holds."""
    return " ".join(passage.text.replace("\n", " ") for passage in parse_markdown(text))


def _inline(text: str) -> Iterator[Run]:
    while text:
        match = _INLINE.search(text)
        if match is None:
            yield Run(text)
            return
        if match.start():
            yield Run(text[: match.start()])
        bold, italic, words, href = match.groups()
        if bold:
            yield from (replace(run, strong=True) for run in _inline(bold))
        elif italic:
            yield from (replace(run, emphasis=True) for run in _inline(italic))
        else:
            yield Run(words, href=href)
        text = text[match.end() :]
