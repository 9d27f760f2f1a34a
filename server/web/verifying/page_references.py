"""What a page would have a browser load or run, whether or not its text is as expected."""

import re
from collections.abc import Collection, Iterator
from html.parser import HTMLParser

_LOADING = {
    "script": ("src", "href"),
    "link": ("href", "imagesrcset"),
    "img": ("src", "srcset"),
    "iframe": ("src", "srcdoc"),
    "frame": ("src",),
    "object": ("data",),
    "embed": ("src",),
    "video": ("src", "poster"),
    "audio": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "input": ("src",),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
    "base": ("href",),
    "form": ("action",),
    "a": ("ping",),
    "body": ("background",),
}
"""Attributes by which an element loads something, or sends something elsewhere."""
_DATA = re.compile(r"/s/[^/]+/survey\.json")
"""What a page may ask for early: it is text, and the page's script compares it with its fingerprint."""
_NEVER = ("style", "formaction", "background", "http-equiv")
"""Attributes that no page of ours has."""


def find_foreign_references(page: str, pinned: Collection[str]) -> list[str]:
    """What a page loads or runs beside the files that are `pinned`, in words."""
    parser = _Parser(pinned)
    parser.feed(page)
    parser.close()
    return list(dict.fromkeys(parser.found))


class _Parser(HTMLParser):
    """Elements of `<template>`, too: scripts take them from there."""

    def __init__(self, pinned: Collection[str]) -> None:
        super().__init__(convert_charrefs=True)
        self._pinned = pinned
        self._script = False
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += self._judge(tag, dict(attrs))
        self._script = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._script = False

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.found.append(f"runs what stands in the page itself: {data.strip()[:60]!r}")

    def _judge(self, tag: str, attributes: dict[str, str | None]) -> Iterator[str]:
        early = attributes.get("rel") == "preload" and attributes.get("as") == "fetch"
        for name, value in attributes.items():
            address = value or ""
            if early and name == "href" and _DATA.fullmatch(address):
                continue
            if name.startswith("on") or name in _NEVER:
                yield f"<{tag}> has {name}={address[:60]!r}"
            elif (
                name in _LOADING.get(tag, ()) and address not in self._pinned and not address.startswith("#")
            ):
                yield f"<{tag}> loads {address[:120]!r}, which is not in the manifest"
        if tag in ("script", "link") and (attributes.get("src") or attributes.get("href")) in self._pinned:
            icon = attributes.get("rel") == "icon"
            if not icon and not attributes.get("integrity"):
                yield f"<{tag}> loads a file without its fingerprint"
