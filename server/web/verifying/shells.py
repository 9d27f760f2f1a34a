"""Each page of this release as a *shell*: everything that is the same wherever it is served, with slots for data.

A shell is drawn by what the site itself draws with, with a mark where data go. Whatever stands there in a page that
was served must be text: an element, an attribute or a quotation mark fits no slot. Everything else must be the shell
byte for byte, and a slot that occurs again must hold the same again.
"""

import base64
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, replace
from functools import partial
from typing import Any

from flask import Flask

from server.inputs.decoding import parse_json
from server.study.definitions import version_of
from server.study.definitions.published_reader import parse_published
from server.study.ticket_keys import is_named, write_fingerprint
from server.web.respondent_page import PublishedSurvey, draw_receipt_page, draw_unknown_page
from server.web.sender_parts import draw_sender, read_stated_sender
from server.web.verifying.page_matches import Shell
from server.web.verifying.page_variants import (
    SENDER,
    Variants,
    list_how_pages,
    list_open_pages,
    list_screen_pages,
    list_shut_pages,
    list_tablet_pages,
    mark_populations,
)

_SURVEY = re.compile(
    rb'\{"definition":(.*?),(?:"ticket_key":"([\w-]{342})",)?(?:"completion_key":"([\w-]{342})",)?'
    rb'"version":"([0-9a-f]{64})"\}',
    re.DOTALL,
)
_ANY = "zqlinkqz"
"""Stands for the name of any link; no slot."""


def parse_survey(slug: str, body: bytes) -> PublishedSurvey:
    """What `survey.json` of a link holds; ValueError where its fingerprint is not its own, or its key another link's.

    What else is wrong with a document that a stranger made, whatever reads it may stumble over.
    """
    parts = _SURVEY.fullmatch(body)
    if parts is None or version_of(parts[1]) != parts[4].decode():
        raise ValueError("survey.json must be a definition with its own fingerprint; it is not")
    definition = parse_published(parse_json(parts[1], len(parts[1])))
    ticket_key, completion_key = (key and base64.urlsafe_b64decode(key + b"==") for key in parts.group(2, 3))
    if ticket_key is not None and not is_named(definition.ticket_keys, slug, ticket_key):
        raise ValueError("ticket_key must be the one that the definition gives this link; it is not")
    if completion_key is not None and write_fingerprint(completion_key) != definition.completion_key:
        raise ValueError("completion_key must be the one that the definition names; it is not")
    return PublishedSurvey(parts[1], parts[4].decode(), definition)


class _BegunShells:
    """Shells that are drawn as far as somebody looked: a page that agrees is found long before the last of them."""

    def __init__(
        self,
        variants: Variants,
        language: str,
        asking: Callable[[], AbstractContextManager[None]],
        likely: dict[tuple[Any, ...], None],
    ) -> None:
        self._variants = variants
        self._language = language
        self._asking = asking
        self._likely = likely
        self._drawn: dict[tuple[Any, ...], Shell] = {}

    def __iter__(self) -> Iterator[Shell]:
        """Those first that pages were which were met before, the last one foremost."""
        known: set[str] = set()
        first = [variant for variant in reversed(self._likely) if variant in self._variants]
        for variant in dict.fromkeys([*first, *self._variants]):
            shell = self._drawn.get(variant) or self._draw(variant)
            if shell.text not in known:
                known.add(shell.text)
                yield shell

    def _draw(self, variant: tuple[Any, ...]) -> Shell:
        with self._asking():
            drawn = self._variants[variant]()
        shell = Shell(drawn.state, mark_populations(drawn, self._language), variant)
        self._drawn[variant] = shell
        return shell


class ShellDrawer:
    """Draws shells with an application of this release, which answers no request."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._drawn: dict[tuple[str, ...], tuple[Shell, ...]] = {}
        self._begun: dict[tuple[str, ...], _BegunShells] = {}
        self._met: dict[tuple[Any, ...], None] = {}

    def draw_open(
        self, slug: str, language: str, survey: PublishedSurvey, *, forgets: bool
    ) -> Iterable[Shell]:
        """Every page that a link of this published survey may have while it takes responses."""
        variants = list_open_pages(slug, survey, language, forgets)
        return self._keep(("open", slug, language, survey.version, str(forgets)), variants, slug, language)

    def draw_shut(self, slug: str, language: str, *, forgets: bool) -> Iterable[Shell]:
        """Every page that a link may have which takes none; of which survey it is, nobody is told."""
        # They are many, and differ from one link to the next in nothing but its name.
        variants = list_shut_pages(_ANY, language, forgets)
        kept = self._keep(("shut", language, str(forgets)), variants, _ANY, language)
        return (replace(shell, text=shell.text.replace(_ANY, slug)) for shell in kept)

    def draw_how(self, slug: str, language: str, survey: PublishedSurvey) -> Iterable[Shell]:
        """The page that explains, of a link of this published survey while it takes responses."""
        variants = list_how_pages(slug, survey)
        return self._keep(("how", slug, language, survey.version), variants, slug, language, "/how")

    def draw_screens(self, slug: str, language: str, survey: PublishedSurvey) -> Iterable[Shell]:
        """What the page of a link loads once its first screen is there, while it takes responses."""
        variants = list_screen_pages(slug, survey, language)
        return self._keep(("screens", slug, language, survey.version), variants, slug, language, "/screens")

    def draw_tablet(self, slug: str, language: str, survey: PublishedSurvey) -> Iterable[Shell]:
        """The page for a tablet, of a link of this published survey while it takes responses."""
        variants = list_tablet_pages(slug, survey, language)
        return self._keep(("tablet", slug, language, survey.version), variants, slug, language, "/tablet")

    def _keep(
        self, key: tuple[str, ...], variants: Variants, slug: str, language: str, page: str = ""
    ) -> _BegunShells:
        """These shells of a page of a link, or those of the same key that were begun before."""
        if key not in self._begun:
            asking = partial(self._asking, slug, language, page)
            self._begun[key] = _BegunShells(variants, language, asking, self._met)
        return self._begun[key]

    def note_match(self, shell: Shell) -> None:
        """Look for a page first among shells like one that was met: of the same link, others are in other languages."""
        self._met.pop(shell.variant, None)
        self._met[shell.variant] = None

    def draw_receipt(self, slug: str, language: str) -> tuple[Shell, ...]:
        """Where a receipt is looked for: of a survey that is not closed, of one that is, and of none."""
        key = ("receipt", slug, language)
        if key not in self._drawn:
            with self._asking(slug, language, "/receipt"):
                self._drawn[key] = (
                    Shell("200", draw_receipt_page(slug, SENDER, takes_back=True)),
                    Shell("410", draw_receipt_page(slug, SENDER, takes_back=False)),
                    Shell("404", draw_unknown_page()),
                )
        return self._drawn[key]

    def name_sender(self, slug: str, language: str, page: str, shells: Iterable[Shell]) -> Iterator[Shell]:
        """Shells with who asks, drawn from what a served page states of that."""
        with self._asking(slug, language):
            drawn = draw_sender(slug, read_stated_sender(page))
        marked = list(zip(astuple(SENDER), astuple(drawn), strict=True))
        for shell in shells:
            text = shell.text
            for mark, line in marked:
                text = text.replace(mark, line)
            yield replace(shell, text=text)

    @contextmanager
    def _asking(self, slug: str, language: str, page: str = "") -> Iterator[None]:
        with self._app.test_request_context(f"/s/{slug}{page}", headers={"Accept-Language": language}):
            yield
