"""What a respondent meets: the page, the definition, and where responses go."""

import base64
import hashlib
from datetime import datetime

from flask import Blueprint, Response, g
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server.collect import responses
from server.inputs import N_, InputError, refuse
from server.output.digits import write_digits
from server.output.formatting import moment
from server.store.models import Stratum, Survey, SurveyVersion
from server.study import strata, study_sheets, surveys
from server.study.retention import retention_of
from server.study.ticket_keys import find_completion_modulus, find_modulus
from server.web.context import allow_keeping, config, session
from server.web.digit_choice import find_digits
from server.web.page_parts import PageParts, parts_of
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
    draw_screens,
    draw_shut_page,
    draw_tablet_page,
    draw_unknown_page,
)
from server.web.sender_parts import draw_sender_of

blueprint = Blueprint("respond", __name__, url_prefix="/s/<slug>")


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The page; its texts come from survey.json, whose hash it pins."""
    found = _find_published(slug)
    if found is None:
        return _show_shut(slug)
    survey, stratum, current = found
    invited = strata.is_invited(session(), survey, stratum)
    group = _group_of(survey, stratum)
    standing = responses.find_standing(session(), survey, surveys.now())
    try:
        responses.check_standing(standing)
    except InputError as refusal:
        parts = parts_of(
            current.published,
            invited=invited,
            stratum=stratum is not None,
            work=config().proof_of_work.is_asked(survey.works),
            forgets=survey.forgets,
        )
        return _draw_shut(slug, standing, survey, group, parts), refusal.status
    g.offline = survey.offline
    return draw_page(
        _collect_data(slug, survey, current.sha256, group, invited=invited),
        current.published,
        surveys.definition_of(current),
    )


@blueprint.get("/screens")
def screens(slug: str) -> ResponseReturnValue:
    """What that page loads once its first screen is there. Also of a survey that was paused meanwhile: answers wait."""
    found = _find_published(slug)
    if found is None:
        return _show_shut(slug)
    survey, stratum, current = found
    invited = strata.is_invited(session(), survey, stratum)
    data = _collect_data(slug, survey, current.sha256, _group_of(survey, stratum), invited=invited)
    return draw_screens(data, current.published, surveys.definition_of(current))


def _collect_data(
    slug: str, survey: Survey, version: str, group: LinkGroup | None, *, invited: bool
) -> PageData:
    return PageData(
        slug,
        version,
        _note_of(survey),
        group,
        invited,
        survey.simulated,
        draw_sender_of(survey, slug),
        config().proof_of_work.is_asked(survey.works) and not invited,
        survey.offline,
        survey.forgets,
    )


@blueprint.get("/tablet")
def tablet(slug: str) -> ResponseReturnValue:
    """The page for a tablet that an interviewer hands round. What waits on one is sent in any state."""
    found: tuple[Survey, Stratum | None] | None = surveys.find_link(session(), slug)
    if found is None and (shut := surveys.find_shut(session(), slug)) is not None:
        found = shut[0], None
    current = None if found is None else found[0].current
    if found is None or current is None:
        return draw_unknown_page(), 404
    survey, stratum = found
    allow_keeping(survey, surveys.now())
    invited = strata.is_invited(session(), survey, stratum)
    refuses = "" if survey.tablet and not invited else "invited" if survey.tablet else "off"
    if surveys.find_standing(survey, surveys.now()) in (surveys.Standing.CLOSED, surveys.Standing.OVER):
        refuses = "closed"
    g.offline = not refuses
    data = TabletData(
        slug,
        current.sha256,
        _group_of(survey, stratum),
        survey.simulated,
        draw_sender_of(survey, slug),
        config().proof_of_work.is_asked(survey.works),
        refuses,
    )
    drawn = draw_tablet_page(data, current.published, surveys.definition_of(current))
    return drawn, 410 if refuses == "closed" else 200


@blueprint.get("/how")
def how(slug: str) -> ResponseReturnValue:
    """What happens to an answer, for everybody: with this survey's numbers, also while it takes no answers."""
    found = _find_published(slug)
    if found is None:
        return _show_shut(slug)
    survey, stratum, current = found
    shown = PublishedSurvey(current.published, current.sha256, surveys.definition_of(current))
    standing = responses.find_standing(session(), survey, surveys.now())
    return draw_how_page(
        slug,
        shown,
        draw_sender_of(survey, slug),
        KeptDays(*map(str, retention_of(survey).days)),
        LeftBehind(survey.offline, survey.forgets),
        stratum=stratum is not None,
        playable=standing == surveys.Standing.OPEN,
    )


def _find_published(slug: str) -> tuple[Survey, Stratum | None, SurveyVersion] | None:
    """The survey of a working link, its stratum and its current version; until when answers hold is said with it."""
    link = surveys.find_link(session(), slug)
    if link is None or link[0].current is None:
        return None
    survey, stratum = link
    allow_keeping(survey, surveys.now())
    return survey, stratum, link[0].current


def _show_shut(slug: str) -> ResponseReturnValue:
    """Nothing, or a link that others took the place of. What waits on a device is sent, to learn what became of it."""
    found = surveys.find_shut(session(), slug)
    current = None if found is None else found[0].current
    if found is None or current is None:
        return draw_unknown_page(), 404
    survey, shut = found
    allow_keeping(survey, surveys.now())
    # What waits may have been answered by another link, with a code.
    invited = bool(strata.invited_links(session(), survey))
    parts = parts_of(
        current.published,
        invited=invited,
        stratum=True,
        work=config().proof_of_work.is_asked(survey.works),
        forgets=survey.forgets,
    )
    reason = responses.reason_of(surveys.find_standing(survey, surveys.now()), shut)
    return _draw_shut(slug, reason, survey, None, parts), 410


def _draw_shut(
    slug: str,
    reason: surveys.Standing | surveys.Shut,
    survey: Survey,
    group: LinkGroup | None,
    parts: PageParts,
) -> str:
    assert survey.current is not None
    opens_at = survey.opens_at if reason == surveys.Standing.EARLY else None
    return draw_shut_page(
        ShutData(
            slug,
            reason,
            survey.current.sha256,
            _note_of(survey),
            group,
            parts,
            opens="" if opens_at is None else _write_moment(opens_at, survey.time_zone),
            zone=survey.time_zone.replace("_", " "),
            sender=draw_sender_of(survey, slug),
        )
    )


def _write_moment(time: datetime, zone: str) -> str:
    return write_digits(moment(time, str(get_locale()), zone), find_digits())


def _group_of(survey: Survey, stratum: Stratum | None) -> LinkGroup | None:
    node = None if stratum is None else strata.find(session(), survey, stratum.id)
    return None if node is None else LinkGroup(node.path, node.population)


def _note_of(survey: Survey) -> Note:
    note = surveys.note_of(survey)
    return Note(str(note["family"]), str(note["round"]), str(note["spends"]))


@blueprint.get("/survey.json")
def definition(slug: str) -> ResponseReturnValue:
    """The published definition, byte for byte as it was hashed, with its hash and the keys that sign, if there are."""
    link = surveys.find_link(session(), slug)
    if link is None or link[0].current is None:
        shut = surveys.find_shut(session(), slug)
        if shut is not None and shut[0].current is not None:
            responses.check_standing(
                responses.reason_of(surveys.find_standing(shut[0], surveys.now()), shut[1])
            )
        raise refuse(404, "survey", N_("is not known; check the link"))
    allow_keeping(link[0], surveys.now())
    responses.check_standing(responses.find_standing(session(), link[0], surveys.now()))
    version = link[0].current
    survey = link[0]
    keys = {
        b"ticket_key": find_modulus(session(), *link) if survey.tickets else None,
        b"completion_key": find_completion_modulus(session(), survey.id) if survey.completions else None,
    }
    stated = b"".join(
        b'"%b":"%b",' % (name, base64.urlsafe_b64encode(key).rstrip(b"="))
        for name, key in keys.items()
        if key is not None
    )
    body = b'{"definition":%b,%b"version":"%b"}' % (version.published, stated, version.sha256.encode())
    return Response(body, mimetype="application/json")


@blueprint.get("/receipt")
def receipt(slug: str) -> ResponseReturnValue:
    """Where a response is looked for and taken back by its receipt; any link of its survey will do."""
    link = surveys.find_link(session(), slug)
    found = surveys.find_shut(session(), slug) if link is None else link
    if found is None or found[0].current is None:
        return draw_unknown_page(), 404
    standing = surveys.find_standing(found[0], surveys.now())
    open_still = standing not in (surveys.Standing.CLOSED, surveys.Standing.OVER)
    sender = draw_sender_of(found[0], slug)
    return draw_receipt_page(slug, sender, takes_back=open_still), 200 if open_still else 410


@blueprint.get("/logo/<sha256>.png")
def logo(slug: str, sha256: str) -> ResponseReturnValue:
    """The logo of who asks, of any link of its survey. No browser keeps it: it would tell of a visit."""
    found = surveys.find_link(session(), slug) or surveys.find_shut(session(), slug)
    picture = None if found is None else study_sheets.read_study_sheet(session(), found[0]).logo
    if found is None or picture is None or hashlib.sha256(picture).hexdigest() != sha256:
        raise refuse(404, "logo", N_("is not known; load the page again"))
    allow_keeping(found[0], surveys.now())
    return Response(picture, mimetype="image/png")


@blueprint.post("/responses", endpoint="store")
@blueprint.post("/code.json", endpoint="look")
@blueprint.post("/ticket.json", endpoint="sell")
@blueprint.post("/completion.json", endpoint="complete")
@blueprint.post("/receipt.json", endpoint="check_receipt")
@blueprint.post("/withdrawal.json", endpoint="take_back")
def leave_to_front(slug: str) -> ResponseReturnValue:
    """Never reached: `server.web.front` answers what is sent. Here for the addresses, and to refuse other methods."""
    raise refuse(404, "survey", N_("is not known; check the link"))
