"""Every page that a link may have, each drawn when it is asked for, with marks in the place of data."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

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

Variants = Mapping[tuple[Any, ...], Callable[[], Shell]]
"""By all in which they differ: what draws each, within a request for the page."""
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


def list_open_pages(slug: str, survey: PublishedSurvey, language: str, forgets: bool) -> Variants:
    """While it takes responses."""
    family = json.loads(survey.published).get("family", _NOTE.family)
    note = Note(family, _NOTE.round, str(count_spent(survey.definition.loss)))

    def draw(group: LinkGroup | None, admission: tuple[bool, bool], simulated: bool, offline: bool) -> Shell:
        invited, work = admission
        data = PageData(slug, survey.version, note, group, invited, simulated, SENDER, work, offline, forgets)
        state = "open" + ", by invitation" * invited + ", with work" * work + ", simulated" * simulated
        state += ", offline" * offline + ", without a note" * forgets
        return Shell(state, draw_page(data, survey.published, survey.definition))

    choices = (False, True)
    return _list_variants(draw, (None, *_list_groups(language)), _ADMISSIONS, choices, choices)


def list_screen_pages(slug: str, survey: PublishedSurvey, language: str) -> Variants:
    """The texts that those load once their first screen is there."""

    def draw(group: LinkGroup | None, admission: tuple[bool, bool], forgets: bool) -> Shell:
        invited, work = admission
        data = PageData(
            slug, survey.version, _NOTE, group, invited, False, SENDER, work, offline=False, forgets=forgets
        )
        return Shell("later screens", draw_screens(data, survey.published, survey.definition))

    return _list_variants(draw, (None, *_list_groups(language)), _ADMISSIONS, (False, True))


def list_tablet_pages(slug: str, survey: PublishedSurvey, language: str) -> Variants:
    """For a tablet, while it takes responses."""

    def draw(group: LinkGroup | None, refuses: str, work: bool, simulated: bool) -> Shell:
        data = TabletData(slug, survey.version, group, simulated, SENDER, work, refuses)
        return Shell("for a tablet", draw_tablet_page(data, survey.published, survey.definition))

    choices = (False, True)
    return _list_variants(draw, (None, *_list_groups(language)), ("", "off", "invited"), choices, choices)


def list_how_pages(slug: str, survey: PublishedSurvey) -> Variants:
    """That explains, while it takes responses."""

    def draw(forgets: bool, offline: bool, stratum: bool, kept: KeptDays) -> Shell:
        left = LeftBehind(offline, forgets)
        return Shell(
            "explained", draw_how_page(slug, survey, SENDER, kept, left, stratum=stratum, playable=True)
        )

    choices = (False, True)
    return _list_variants(draw, choices, choices, choices, _KEPT)


def list_shut_pages(slug: str, language: str, forgets: bool) -> Variants:
    """While it takes none, of whichever survey."""

    def draw(
        completions: bool,
        reason: Standing | Shut,
        link: tuple[LinkGroup | None, bool],
        codes: tuple[bool, bool],
        work: bool,
        routed: bool,
        reports: int,
    ) -> Shell:
        (group, stratum), (invited, ticketed) = link, codes
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
        return Shell(reason, draw_shut_page(data))

    # Which group a link names, and whether it belongs to one: others may have taken its place.
    links = ((None, False), (None, True), *((group, True) for group in _list_groups(language)))
    choices = (False, True)
    shut = _list_variants(draw, choices, _REASONS, links, _CODES, choices, choices, (1, 2))
    return {("unknown",): lambda: Shell("unknown", draw_unknown_page())} | {
        chosen: drawn
        for chosen, drawn in shut.items()
        if not isinstance(chosen[1], Shut) or chosen[2] == (None, True)  # of a group, which it does not name
    }


def _list_variants(draw: Callable[..., Shell], *choices: Sequence[Any]) -> Variants:
    return {chosen: partial(draw, *chosen) for chosen in product(*choices)}


def mark_populations(shell: Shell, language: str) -> str:
    """The text of a shell with a mark where a number of people stands."""
    return _find_populations(language).sub("zqpopulationqz", shell.text)


@lru_cache
def _find_populations(language: str) -> re.Pattern[str]:
    code, digits = split_reading(language)
    many = (write_digits(integer(number, code), digits) for number in _MANY)
    return re.compile("|".join(map(re.escape, many)))
