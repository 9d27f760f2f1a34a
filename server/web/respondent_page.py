"""What respondents see at a link: templates of this release, filled in from `PageData` or `ShutData` and nothing else.

The survey's own words are in none of them: they come from `survey.json`, whose hash the page names. So a page that
was served can be drawn anew by anybody who has this release and that file, and compared (`server.web.verifying`).
"""

from dataclasses import dataclass

from flask import render_template, request, url_for

from server.study.definitions import Definition
from server.study.study_sheets import SurveySender
from server.study.surveys import Shut, Standing
from server.web.context import answer_names
from server.web.language_choice import choose_reading
from server.web.page_parts import PageParts, parts_of
from server.web.sender_parts import SenderParts, draw_sender


@dataclass(frozen=True)
class LinkGroup:
    """The group of people whose link it is."""

    path: str
    population: int | None


@dataclass(frozen=True)
class Note:
    """What a browser notes once it has answered (`server.study.surveys.note_of`)."""

    family: str
    round: str
    spends: str


@dataclass(frozen=True)
class KeptDays:
    """After how many days from closing the server deletes what, in digits; of a part that it keeps, nothing."""

    rows: str = ""
    counts: str = ""
    rest: str = ""


@dataclass(frozen=True)
class LeftBehind:
    """What a device keeps: the page, until the visit ends, and a note that the survey was answered, or none."""

    offline: bool = False
    forgets: bool = False


@dataclass(frozen=True)
class PublishedSurvey:
    """A definition as it was hashed, its SHA-256, and the same, read."""

    published: bytes
    version: str
    definition: Definition


@dataclass(frozen=True)
class PageData:
    """All that differs between two links which take responses, in one language."""

    slug: str
    version: str
    note: Note
    group: LinkGroup | None
    invited: bool
    simulated: bool
    sender: SenderParts
    work: bool
    """Whether work is asked for, of who needs no code."""
    offline: bool
    forgets: bool


@dataclass(frozen=True)
class TabletData:
    """All that differs between two links' pages for a tablet that is handed round, in one language."""

    slug: str
    version: str
    group: LinkGroup | None
    simulated: bool
    sender: SenderParts
    work: bool
    refuses: str
    """Why nobody is asked there: the survey is "closed"; it is "off"; everybody needs a code, "invited"; or nothing."""


@dataclass(frozen=True)
class ShutData:
    """All that differs between two links which take none; when it `opens`, where that is to come."""

    slug: str
    reason: Standing | Shut
    version: str
    note: Note
    group: LinkGroup | None
    parts: PageParts
    opens: str
    zone: str
    sender: SenderParts


def draw_page(data: PageData, published: bytes, definition: Definition) -> str:
    """The page of a link that takes responses, within a request for it; it has the published definition."""
    screens_url = url_for("respond.screens", slug=data.slug, lang=choose_reading(request))
    return _draw_survey(
        data, _parts_of_page(data, published), definition, note=data.note, screens_url=screens_url
    )


def draw_screens(data: PageData, published: bytes, definition: Definition) -> str:
    """The texts of that page which nobody needs before *Start*, within a request for them."""
    return render_template(
        "respond/screens.html",
        slug=data.slug,
        version=data.version,
        parts=_parts_of_page(data, published),
        guesses=definition.guesses,
        group=data.group,
        sender=data.sender,
        preview=False,
    )


def _parts_of_page(data: PageData, published: bytes) -> PageParts:
    return parts_of(
        published,
        invited=data.invited,
        stratum=data.group is not None,
        work=data.work,
        offline=data.offline,
        forgets=data.forgets,
    )


def draw_tablet_page(data: TabletData, published: bytes, definition: Definition) -> str:
    """The page of a link for a tablet that is handed round, within a request for it."""
    parts = parts_of(published, stratum=data.group is not None, work=data.work, tablet=True)
    return _draw_survey(data, parts, definition, refuses=data.refuses)


def _draw_survey(
    data: PageData | TabletData, parts: PageParts, definition: Definition, **more: object
) -> str:
    """What both have in common; the template asks for `more` by the parts of each."""
    return render_template(
        "respond/survey.html",
        slug=data.slug,
        version=data.version,
        definition_url=url_for("respond.definition", slug=data.slug),
        responses_url=url_for("respond.store", slug=data.slug),
        parts=parts,
        names=answer_names(parts),
        guesses=definition.guesses,
        rooms=definition.rooms,
        group=data.group,
        simulated=data.simulated,
        sender=data.sender,
        preview=False,
        **more,
    )


def draw_shut_page(data: ShutData) -> str:
    """The page of a link that takes no responses now, within a request for it."""
    return render_template(
        "respond/closed.html",
        known=True,
        slug=data.slug,
        reason=data.reason,
        version=data.version,
        responses_url=url_for("respond.store", slug=data.slug),
        parts=data.parts,
        group=data.group,
        note=data.note,
        preview=False,
        opens=data.opens,
        zone=data.zone,
        sender=data.sender,
    )


def draw_how_page(
    slug: str,
    survey: PublishedSurvey,
    sender: SenderParts,
    kept: KeptDays,
    left: LeftBehind,
    *,
    stratum: bool,
    playable: bool,
) -> str:
    """The page that explains, within a request for it; with the coin to play with while the survey takes responses."""
    parts = parts_of(survey.published, stratum=stratum, offline=left.offline, forgets=left.forgets)
    return render_template(
        "respond/how.html",
        slug=slug,
        parts=parts,
        group=stratum,
        names=answer_names(parts),
        guesses=survey.definition.guesses,
        sender=sender,
        kept=kept,
        version=survey.version,
        definition_url=url_for("respond.definition", slug=slug) if playable else "",
    )


def draw_receipt_page(slug: str, sender: SenderParts, *, takes_back: bool) -> str:
    """Where a response is looked for and taken back, or, once its survey is closed, that this is over."""
    return render_template("respond/receipt.html", slug=slug, sender=sender, open=takes_back)


def draw_unknown_page() -> str:
    """The page of a link that leads nowhere."""
    return render_template(
        "respond/closed.html", known=False, reason="unknown", sender=draw_sender("", SurveySender())
    )
