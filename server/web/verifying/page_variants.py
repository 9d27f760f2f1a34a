"""Every page that a link may have, drawn with marks in the place of data."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import product

from markupsafe import Markup

from server.output.digits import write_digits
from server.output.formatting import integer
from server.output.languages import load_catalogue, split_reading
from server.privacy.planning import count_spent
from server.study.surveys import Shut, Standing
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
    draw_screens,
    draw_shut_page,
    draw_tablet_page,
    draw_unknown_page,
)
from server.web.sender_parts import SenderParts
from server.web.verifying.page_matches import Shell

SENDER = SenderParts(
    *map(Markup, ("zqheadqz", "zqhandoverqz", "zqthanksqz", "zqcompletionqz", "zqhelplinesqz"))
)
"""Lines that are drawn anew from what the page itself states, and must be the same then."""
_MANY = (8_192_016_303, 8_192_016_384, 8_192_016_400)
"""Populations that stand for any above 2, in each form of the plural; what they look like is
replaced by the mark of that slot."""

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


def _list_groups(language: str) -> tuple[LinkGroup, ...]:
    """A group of unknown population, and one for each form of the plural that the language has."""
    form_of = load_catalogue(split_reading(language)[0]).plural
    forms: dict[int, int] = {}
    for number in (*_MANY, 1, 2):
        forms.setdefault(form_of(number), number)
    return tuple(LinkGroup("zqgroupqz", number) for number in (None, *forms.values()))


def draw_open_pages(slug: str, survey: PublishedSurvey, language: str, forgets: bool) -> Iterator[Shell]:
    """While it takes responses."""
    family = json.loads(survey.published).get("family", _NOTE.family)
    note = Note(family, _NOTE.round, str(count_spent(survey.definition.loss)))
    for group, (invited, work), simulated, offline in product(
        (None, *_list_groups(language)), _ADMISSIONS, (False, True), (False, True)
    ):
        data = PageData(slug, survey.version, note, group, invited, simulated, SENDER, work, offline, forgets)
        state = "open" + ", by invitation" * invited + ", with work" * work + ", simulated" * simulated
        state += ", offline" * offline + ", without a note" * forgets
        yield Shell(state, draw_page(data, survey.published, survey.definition))


def draw_screen_pages(slug: str, survey: PublishedSurvey, language: str) -> Iterator[Shell]:
    """The texts that those load once their first screen is there."""
    for group, (invited, work), forgets in product(
        (None, *_list_groups(language)), _ADMISSIONS, (False, True)
    ):
        data = PageData(
            slug, survey.version, _NOTE, group, invited, False, SENDER, work, offline=False, forgets=forgets
        )
        yield Shell("later screens", draw_screens(data, survey.published, survey.definition))


def draw_tablet_pages(slug: str, survey: PublishedSurvey, language: str) -> Iterator[Shell]:
    """For a tablet, while it takes responses."""
    for group, refuses, work, simulated in product(
        (None, *_list_groups(language)), ("", "off", "invited"), (False, True), (False, True)
    ):
        data = TabletData(slug, survey.version, group, simulated, SENDER, work, refuses)
        yield Shell("for a tablet", draw_tablet_page(data, survey.published, survey.definition))


def draw_how_pages(slug: str, survey: PublishedSurvey) -> Iterator[Shell]:
    """That explains, while it takes responses."""
    choices = (False, True)
    for forgets, offline, stratum, kept in product(choices, choices, choices, _KEPT):
        left = LeftBehind(offline, forgets)
        drawn = draw_how_page(slug, survey, SENDER, kept, left, stratum=stratum, playable=True)
        yield Shell("explained", drawn)


def draw_shut_pages(slug: str, language: str, forgets: bool) -> Iterator[Shell]:
    """While it takes none, of whichever survey."""
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
            sender=SENDER,
        )
        yield Shell(reason, draw_shut_page(data))


def mark_populations(shells: Iterable[Shell], language: str) -> Iterator[Shell]:
    """Those that differ, with a mark where a number of people stands."""
    code, digits = split_reading(language)
    many = (write_digits(integer(number, code), digits) for number in _MANY)
    population = re.compile("|".join(map(re.escape, many)))
    known: set[str] = set()
    for shell in shells:
        text = population.sub("zqpopulationqz", shell.text)
        if text not in known:
            known.add(text)
            yield Shell(shell.state, text)
