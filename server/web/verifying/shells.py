"""Each page of this release as a *shell*: everything that is the same wherever it is served, with slots for data.

A shell is drawn by what the site itself draws with, with a mark where data go. Whatever stands there in a page that
was served must be text: an element, an attribute or a quotation mark fits no slot. Everything else must be the shell
byte for byte, and a slot that occurs again must hold the same again.
"""

import base64
import html
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import astuple, dataclass
from functools import lru_cache
from itertools import islice, product, zip_longest

from flask import Flask
from markupsafe import Markup

from server.inputs.decoding import parse_json
from server.output.formatting import integer
from server.output.languages import load_catalogue
from server.privacy.planning import count_spent
from server.study.definitions import version_of
from server.study.definitions.published import parse_published
from server.study.surveys import Shut, Standing
from server.study.ticket_keys import write_fingerprint
from server.web.page_parts import PageParts
from server.web.respondent_page import (
    KeptDays,
    LeftBehind,
    LinkGroup,
    Note,
    PageData,
    PublishedSurvey,
    ShutData,
    TabletData,
    draw_how_page,
    draw_page,
    draw_receipt_page,
    draw_shut_page,
    draw_tablet_page,
    draw_unknown_page,
)
from server.web.sender_parts import SenderParts, draw_sender, read_stated

_TEXT = r"""(?:[^<>&"'\n]|&(?:amp|lt|gt|#34|#39);)+"""
_NUMBER = r"[0-9]{1,3}(?:[.,\u202f]?[0-9]{3})*"
_DAYS = "[1-9][0-9]{0,4}"
_SLOTS = {
    "version": "[0-9a-f]{64}",
    "family": "[0-9a-f]{32}",
    "round": "[0-9a-f]{32}",
    "spends": "[0-9]{1,16}",
    "group": _TEXT,
    "population": _NUMBER,
    "opens": _TEXT,
    "zone": _TEXT,
    "rows": _DAYS,
    "counts": _DAYS,
    "rest": _DAYS,
}
"""What may stand in each slot."""
_SURVEY = re.compile(
    rb'\{"definition":(.*?),(?:"ticket_key":"([\w-]{342})",)?(?:"completion_key":"([\w-]{342})",)?'
    rb'"version":"([0-9a-f]{64})"\}',
    re.DOTALL,
)
_MARK = re.compile("zq([a-z]+)qz")
_MANY = (8_192_016_303, 8_192_016_384, 8_192_016_400)
"""Populations that stand for any above 2, in each form of the plural; what they look like is
replaced by the mark of that slot."""

_SENDER = SenderParts(*map(Markup, ("zqheadqz", "zqthanksqz", "zqcompletionqz", "zqhelplinesqz")))
"""Lines that are drawn anew from what the page itself states, and must be the same then."""
_ANY = "zqlinkqz"
"""Stands for the name of any link; no slot."""
_NOTE = Note("zqfamilyqz", "zqroundqz", "zqspendsqz")
_KEPT = tuple(KeptDays(*("zqrowsqz", "zqcountsqz", "zqrestqz")[:parts]) for parts in range(4))
"""What is deleted after so many days: nothing, or some of the parts, in order."""
_ADMISSIONS = ((False, False), (False, True), (True, False))
"""Whether a code is asked for, and whether work."""
_CODES = ((False, False), (True, False), (True, True))
"""Whether a code is asked for, and whether it buys a ticket."""
_REASONS: tuple[Standing | Shut, ...] = (
    Standing.CLOSED,
    Standing.FULL,
    Standing.PAUSED,
    Standing.EARLY,
    Shut.DIVIDED,
    Shut.REPLACED,
)
"""Why a link takes nothing, as far as its pages differ."""


@dataclass(frozen=True)
class Shell:
    """A page with marks where data go, and what it says of the survey."""

    state: str
    text: str


@dataclass(frozen=True)
class PageDifference:
    """The first line of a page that the nearest shell does not have."""

    line: int
    served: str
    expected: str

    @property
    def same(self) -> int:
        """How many letters of the line do not differ yet."""
        pairs = enumerate(zip_longest(self.served, self.expected))
        return next((place for place, (ours, theirs) in pairs if ours != theirs), 0)

    def describe(self) -> str:
        """Where it is, and both from a little before the first letter that differs."""
        begin = max(0, self.same - 20)
        served, expected = (text[begin : begin + 100] for text in (self.served, self.expected))
        return f"line {self.line} has {served!r} instead of {expected!r}"


def parse_survey(body: bytes) -> PublishedSurvey:
    """What `survey.json` holds; ValueError where its fingerprint is not its own.

    What else is wrong with a document that a stranger made, whatever reads it may stumble over.
    """
    parts = _SURVEY.fullmatch(body)
    if parts is None or version_of(parts[1]) != parts[4].decode():
        raise ValueError("survey.json must be a definition with its own fingerprint; it is not")
    definition = parse_published(parse_json(parts[1], len(parts[1])))
    for name, key, named in (
        ("ticket_key", parts[2], definition.ticket_keys),
        ("completion_key", parts[3], (definition.completion_key,)),
    ):
        if key is not None and write_fingerprint(base64.urlsafe_b64decode(key + b"==")) not in named:
            raise ValueError(f"{name} must be one that the definition names; it is not")
    return PublishedSurvey(parts[1], parts[4].decode(), definition)


class _BegunShells:
    """Shells that are drawn as far as somebody looked: a page that agrees is found long before the last of them."""

    def __init__(self, shells: Iterator[Shell], asking: Callable[[], AbstractContextManager[None]]) -> None:
        self._shells = shells
        self._asking = asking
        self._drawn: list[Shell] = []

    def __iter__(self) -> Iterator[Shell]:
        place = 0
        while place < len(self._drawn) or self._draw_next():
            yield self._drawn[place]
            place += 1

    def _draw_next(self) -> bool:
        with self._asking():
            found = list(islice(self._shells, 1))
        self._drawn += found
        return bool(found)


class ShellDrawer:
    """Draws shells with an application of this release, which answers no request."""

    def __init__(self, app: Flask) -> None:
        self._app = app
        self._drawn: dict[tuple[str, ...], tuple[Shell, ...]] = {}
        self._begun: dict[tuple[str, ...], _BegunShells] = {}

    def draw_open(
        self, slug: str, language: str, survey: PublishedSurvey, *, forgets: bool
    ) -> Iterable[Shell]:
        """Every page that a link of this published survey may have while it takes responses."""
        key = ("open", slug, language, survey.version, str(forgets))
        if key not in self._begun:
            drawn = _mark(_draw_open(slug, survey, language, forgets), language)
            self._begun[key] = _BegunShells(drawn, lambda: self._asking(slug, language))
        return self._begun[key]

    def draw_shut(self, slug: str, language: str, *, forgets: bool) -> Iterable[Shell]:
        """Every page that a link may have which takes none; of which survey it is, nobody is told."""
        # They are many, and differ from one link to the next in nothing but its name.
        key = ("shut", language, str(forgets))
        if key not in self._begun:
            drawn = _mark(_draw_shut(_ANY, language, forgets), language)
            self._begun[key] = _BegunShells(drawn, lambda: self._asking(_ANY, language))
        return (Shell(shell.state, shell.text.replace(_ANY, slug)) for shell in self._begun[key])

    def draw_how(self, slug: str, language: str, survey: PublishedSurvey) -> Iterable[Shell]:
        """The page that explains, of a link of this published survey while it takes responses."""
        key = ("how", slug, language, survey.version)
        if key not in self._begun:
            self._begun[key] = _BegunShells(
                _draw_how(slug, survey), lambda: self._asking(slug, language, "/how")
            )
        return self._begun[key]

    def draw_tablet(self, slug: str, language: str, survey: PublishedSurvey) -> Iterable[Shell]:
        """The page for a tablet, of a link of this published survey while it takes responses."""
        key = ("tablet", slug, language, survey.version)
        if key not in self._begun:
            drawn = _mark(_draw_tablet(slug, survey, language), language)
            self._begun[key] = _BegunShells(drawn, lambda: self._asking(slug, language, "/tablet"))
        return self._begun[key]

    def draw_receipt(self, slug: str, language: str) -> tuple[Shell, ...]:
        """Where a receipt is looked for: of a survey that is not closed, of one that is, and of none."""
        key = ("receipt", slug, language)
        if key not in self._drawn:
            with self._asking(slug, language, "/receipt"):
                self._drawn[key] = (
                    Shell("200", draw_receipt_page(slug, _SENDER, takes_back=True)),
                    Shell("410", draw_receipt_page(slug, _SENDER, takes_back=False)),
                    Shell("404", draw_unknown_page()),
                )
        return self._drawn[key]

    def name_sender(self, slug: str, language: str, page: str, shells: Iterable[Shell]) -> Iterator[Shell]:
        """Shells with who asks, drawn from what a served page states of that."""
        with self._asking(slug, language):
            drawn = draw_sender(slug, read_stated(page))
        marked = list(zip(astuple(_SENDER), astuple(drawn), strict=True))
        for shell in shells:
            text = shell.text
            for mark, line in marked:
                text = text.replace(mark, line)
            yield Shell(shell.state, text)

    @contextmanager
    def _asking(self, slug: str, language: str, page: str = "") -> Iterator[None]:
        with self._app.test_request_context(f"/s/{slug}{page}", headers={"Accept-Language": language}):
            yield


def _list_groups(language: str) -> tuple[LinkGroup, ...]:
    """A group of unknown population, and one for each form of the plural that the language has."""
    form_of = load_catalogue(language).plural
    forms: dict[int, int] = {}
    for number in (*_MANY, 1, 2):
        forms.setdefault(form_of(number), number)
    return tuple(LinkGroup("zqgroupqz", number) for number in (None, *forms.values()))


def _draw_open(slug: str, survey: PublishedSurvey, language: str, forgets: bool) -> Iterator[Shell]:
    family = json.loads(survey.published).get("family", _NOTE.family)
    note = Note(family, _NOTE.round, str(count_spent(survey.definition.loss)))
    for group, (invited, work), simulated, offline in product(
        (None, *_list_groups(language)), _ADMISSIONS, (False, True), (False, True)
    ):
        data = PageData(
            slug, survey.version, note, group, invited, simulated, _SENDER, work, offline, forgets
        )
        state = "open" + ", by invitation" * invited + ", with work" * work + ", simulated" * simulated
        state += ", offline" * offline + ", without a note" * forgets
        yield Shell(state, draw_page(data, survey.published, survey.definition))


def _draw_tablet(slug: str, survey: PublishedSurvey, language: str) -> Iterator[Shell]:
    for group, refuses, work, simulated in product(
        (None, *_list_groups(language)), ("", "off", "invited"), (False, True), (False, True)
    ):
        data = TabletData(slug, survey.version, group, simulated, _SENDER, work, refuses)
        yield Shell("for a tablet", draw_tablet_page(data, survey.published, survey.definition))


def _draw_how(slug: str, survey: PublishedSurvey) -> Iterator[Shell]:
    choices = (False, True)
    for forgets, offline, stratum, kept in product(choices, choices, choices, _KEPT):
        left = LeftBehind(offline, forgets)
        drawn = draw_how_page(slug, survey, _SENDER, kept, left, stratum=stratum, playable=True)
        yield Shell("explained", drawn)


def _draw_shut(slug: str, language: str, forgets: bool) -> Iterator[Shell]:
    yield Shell("unknown", draw_unknown_page())
    # Which group a link names, and whether it belongs to one: others may have taken its place.
    links = ((None, False), (None, True), *((group, True) for group in _list_groups(language)))
    for completions, reason, (group, stratum), (invited, ticketed), work, routed, reports in product(
        (False, True), _REASONS, links, _CODES, (False, True), (False, True), (1, 2)
    ):
        if isinstance(reason, Shut) and (group is not None or not stratum):
            continue  # that of a group, which it does not name
        present = {
            "invited": invited,
            "ticketed": ticketed,
            "show_if": routed,
            "stratum": stratum,
            "work": work,
            "forgets": forgets,
            "completions": completions,
        }
        names = frozenset(name for name, held in present.items() if held)
        parts = PageParts(names, questions=reports, reports=reports, language="en")
        data = ShutData(
            slug,
            reason,
            "zqversionqz",
            _NOTE,
            group,
            parts,
            opens="zqopensqz",
            zone="zqzoneqz",
            sender=_SENDER,
        )
        yield Shell(reason, draw_shut_page(data))


def _mark(shells: Iterable[Shell], language: str) -> Iterator[Shell]:
    """Those that differ, with a mark where a number of people stands."""
    population = re.compile("|".join(re.escape(integer(number, language)) for number in _MANY))
    known: set[str] = set()
    for shell in shells:
        text = population.sub("zqpopulationqz", shell.text)
        if text not in known:
            known.add(text)
            yield Shell(shell.state, text)


def match_page(served: str, shells: Iterable[Shell]) -> dict[str, str] | PageDifference:
    """The data of a page, by slot, and its state, where it is one of the shells; else how the nearest differs."""
    nearest = PageDifference(0, "", "")
    for shell in shells:
        found = _match_lines(served.split("\n"), shell.text.split("\n"))
        if isinstance(found, dict):
            return {"state": shell.state, **found}
        if (found.line, found.same) > (nearest.line, nearest.same):
            nearest = found
    return nearest


def _match_lines(served: list[str], shell: list[str]) -> dict[str, str] | PageDifference:
    data: dict[str, str] = {}
    for number, (line, expected) in enumerate(zip_longest(served, shell, fillvalue=""), start=1):
        if line == expected and number <= min(len(served), len(shell)):
            continue
        names = _MARK.findall(expected)
        matched = _compile_line(expected).fullmatch(line) if names else None
        if matched is None:
            return PageDifference(number, line, expected)
        for name, value in zip(names, matched.groups(), strict=True):
            if data.setdefault(name, value) != value:
                return PageDifference(number, line, expected)
    return {name: html.unescape(value) for name, value in data.items()}


@lru_cache(maxsize=4096)
def _compile_line(expected: str) -> re.Pattern[str]:
    pieces = _MARK.split(expected)
    texts, names = pieces[::2], pieces[1::2]
    slots = [f"({_SLOTS[name]})" for name in names]
    return re.compile(
        "".join(text + slot for text, slot in zip(map(re.escape, texts), [*slots, ""], strict=True))
    )
