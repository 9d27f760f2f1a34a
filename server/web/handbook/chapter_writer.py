"""A chapter as HTML: anchors, tables and code that scroll in themselves, pictures with sizes, links that lead on."""

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from flask import url_for
from flask_babel import force_locale, gettext
from markdown_it.token import Token
from markupsafe import Markup

from server.output.languages import LANGUAGES
from server.web.handbook.chapter_tokens import ChapterHeading, list_headings, parse_chapter, write_html
from server.web.handbook.chapters import Chapter, name_chapter, read_handbook, resolve_link
from server.web.handbook.help_pictures import IMAGES, measure_picture, read_picture


@cache
def write_chapter(name: str, reading: str) -> Markup:
    """The chapter of a name, for somebody who reads the other pages in the language `reading`."""
    chapter = read_handbook().chapters[name]
    tokens = list(_arrange(parse_chapter(chapter.source)))
    with force_locale(chapter.language):
        for token in tokens:
            if token.children:
                token.children = list(_lead_on(token.children, chapter, reading))
    return Markup(write_html(tokens))  # noqa: S704 - all text is escaped, and HTML of a file is text


def find_address(chapter: Chapter, reading: str, anchor: str = "") -> str:
    """The address of a chapter or a section; it says the language where the name alone does not."""
    part: dict[str, Any] = {"_anchor": anchor} if anchor else {}
    if read_handbook().is_contents(chapter):
        return url_for("help.contents", lang=chapter.language, **part)
    if not chapter.others:
        part["lang"] = reading
    return url_for("help.chapter", name=chapter.name, **part)


def _arrange(tokens: Sequence[Token]) -> Iterator[Token]:
    """The blocks of a chapter: headings with anchors, tables and code each in a frame that scrolls."""
    headings = {heading.place: heading for heading in list_headings(tokens)}
    above: ChapterHeading | None = None
    for place, token in enumerate(tokens):
        if place in headings:
            above = headings[place]
            token.attrSet("id", above.anchor)
        if token.type == "table_open":
            attributes = {"class": "scroll", "role": "group", "tabindex": "0"}
            attributes["aria-label"] = above.title if above else ""
            yield Token("frame_open", "div", 1, attrs={**attributes}, block=True)
        if token.tag == "th" and not tokens[place + token.nesting].content:
            token.tag = "td"  # the corner of a table is the head of nothing
        if token.type == "fence":
            token.type, token.attrs = "code_block", {"tabindex": "0", "translate": "no"}
        yield token
        if token.type == "table_close":
            yield Token("frame_close", "div", -1, block=True)


def _lead_on(tokens: Sequence[Token], chapter: Chapter, reading: str) -> Iterator[Token]:
    """The words of a block, with links and pictures where the site has them."""
    unserved: PurePosixPath | None = None
    bracketed = False
    for place, token in enumerate(tokens):
        target = resolve_link(chapter.file, str(token.attrs.get("href", token.attrs.get("src", ""))))
        if token.type == "link_open" and target is not None:
            token.attrs = _follow(*target, chapter, reading)
            if not token.attrs:
                unserved, bracketed = target[0], tokens[max(place - 1, 0)].content.endswith("(")
                continue
            if tokens[place + 1].content in {language.name for language in LANGUAGES.values()}:
                token.attrs["lang"] = token.attrs["hreflang"]
        elif token.type == "image" and target is not None:
            _size(token, target[0])
        elif token.type == "link_close" and unserved is not None:
            text = gettext("file %(name)s of the source code", name=_seen_from_the_top(unserved))
            content = f", {text}" if bracketed else f" ({text})"
            token, unserved = Token("text", "", 0, content=content), None
        yield token


def _follow(file: PurePosixPath, anchor: str, chapter: Chapter, reading: str) -> dict[str, str | int | float]:
    """The attributes of a link to a file of docs/; none for a file that is not served."""
    if file.parent == IMAGES:
        return {"href": _address_picture(file)}
    target = read_handbook().chapters.get(name_chapter(file)) if file.suffix == ".md" else None
    if target is None:
        return {}
    if target is chapter:
        return {"href": f"#{anchor}"}
    elsewhere = {"hreflang": target.language} if target.language != chapter.language else {}
    return {"href": find_address(target, reading, anchor), **elsewhere}


def _size(token: Token, file: PurePosixPath) -> None:
    picture = measure_picture(read_picture(file.name))
    token.attrs = {
        "src": _address_picture(file),
        "alt": "",  # which the renderer fills with the words in brackets
        "width": picture.width,
        "height": picture.height,
        "loading": "lazy",
        "decoding": "async",
    }


def _address_picture(file: PurePosixPath) -> str:
    picture = measure_picture(read_picture(file.name))
    return url_for("help.picture", fingerprint=picture.fingerprint, name=file.name)


def _seen_from_the_top(file: PurePosixPath) -> str:
    """A file's path in the repository."""
    return str(file).removeprefix("../") if str(file).startswith("../") else f"docs/{file}"
