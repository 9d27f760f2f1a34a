"""What stands in a file of docs/: its headings with their anchors, its links and its words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from markdown_it import MarkdownIt
from markdown_it.token import Token

_MARKDOWN = MarkdownIt("commonmark", {"html": False, "typographer": True}).enable(["table", "smartquotes"])
_WORDS = ("text", "code_inline", "image")


@dataclass(frozen=True)
class ChapterHeading:
    """A heading: where its token stands, its level, its words, and what follows the `#` of its address."""

    place: int
    level: int
    title: str
    anchor: str


def parse_chapter(text: str) -> list[Token]:
    """The tokens of a file. HTML has no meaning: what stands in a file can at worst be read."""
    return _MARKDOWN.parse(text)


def write_html(tokens: Sequence[Token]) -> str:
    """Tokens as HTML, all text of them escaped."""
    return str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def list_headings(tokens: Sequence[Token]) -> Iterator[ChapterHeading]:
    """All headings, with the anchors that GitHub makes: the second of a name ends in `-1`."""
    known: dict[str, int] = {}
    for place, token in enumerate(tokens):
        if token.type == "heading_open":
            title = read_words(tokens[place + 1])
            anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            same = known[anchor] = known.get(anchor, -1) + 1
            yield ChapterHeading(place, int(token.tag[1]), title, f"{anchor}-{same}" if same else anchor)


def list_links(tokens: Sequence[Token]) -> Iterator[tuple[str, str]]:
    """The words and the address of each link."""
    for token in tokens:
        children = token.children or []
        for place, child in enumerate(children):
            if child.type == "link_open":
                after = children[place + 1 :]
                end = next(number for number, other in enumerate(after) if other.type == "link_close")
                yield _join(after[:end]), str(child.attrs["href"])


def read_words(token: Token) -> str:
    """What a piece of text says, without what makes its words look different; of a picture what it shows."""
    return token.content if token.children is None else _join(token.children)


def _join(tokens: Sequence[Token]) -> str:
    return "".join(
        token.content if token.type in _WORDS else " " if token.type.endswith("break") else ""
        for token in tokens
    )
