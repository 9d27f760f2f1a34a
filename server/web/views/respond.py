"""What a respondent meets: the page, the definition, and where responses go."""

from flask import Blueprint, Response, render_template, url_for
from flask.typing import ResponseReturnValue

from server.collect import responses
from server.inputs import N_, InputError, refuse
from server.study import strata, surveys
from server.web.context import allow_keeping, answer_names, session
from server.web.page_parts import parts_of

blueprint = Blueprint("respond", __name__, url_prefix="/s/<slug>")


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The page; its texts come from survey.json, whose hash it pins."""
    link = surveys.find_link(session(), slug)
    if link is None or link[0].current is None:
        return _show_shut(slug)
    survey, stratum = link
    allow_keeping(survey, surveys.now())
    parts = parts_of(
        link[0].current.published,
        invited=strata.is_invited(session(), survey, stratum),
        stratum=stratum is not None,
    )
    shown = {
        "slug": slug,
        "version": link[0].current.sha256,
        "responses_url": url_for(".store", slug=slug),
        "parts": parts,
        "group": None if stratum is None else strata.find(session(), survey, stratum.id),
        "preview": False,
        "note": surveys.note_of(link[0]),
    }
    standing = responses.find_standing(session(), survey, surveys.now())
    try:
        responses.check_standing(standing)
    except InputError as refusal:
        return render_template("respond/closed.html", reason=standing, survey=survey, **shown), refusal.status
    definition = surveys.definition_of(link[0].current)
    return render_template(
        "respond/survey.html",
        definition_url=url_for(".definition", slug=slug),
        names=answer_names(parts),
        guesses=definition.guesses,
        rooms=definition.rooms,
        simulated=survey.simulated,
        **shown,
    )


@blueprint.get("/how")
def how(slug: str) -> ResponseReturnValue:
    """What happens to an answer, for everybody: with this survey's numbers, also while it takes no answers."""
    link = surveys.find_link(session(), slug)
    if link is None or link[0].current is None:
        return _show_shut(slug)
    survey, stratum = link
    allow_keeping(survey, surveys.now())
    parts = parts_of(link[0].current.published, stratum=stratum is not None)
    standing = responses.find_standing(session(), survey, surveys.now())
    return render_template(
        "respond/how.html",
        slug=slug,
        parts=parts,
        names=answer_names(parts),
        guesses=surveys.definition_of(link[0].current).guesses,
        group=stratum,
        version=link[0].current.sha256,
        definition_url=url_for(".definition", slug=slug) if standing == surveys.Standing.OPEN else "",
    )


def _show_shut(slug: str) -> ResponseReturnValue:
    """Nothing, or a link that others took the place of. What waits on a device is sent, to learn what became of it."""
    found = surveys.find_shut(session(), slug)
    current = None if found is None else found[0].current
    if found is None or current is None:
        return render_template("respond/closed.html", reason="unknown", survey=None), 404
    survey, shut = found
    allow_keeping(survey, surveys.now())
    # What waits may have been answered by another link, with a code.
    invited = bool(strata.invited_links(session(), survey))
    shown = {
        "slug": slug,
        "version": current.sha256,
        "responses_url": url_for(".store", slug=slug),
        "parts": parts_of(current.published, invited=invited, stratum=True),
        "group": None,
        "preview": False,
        "note": surveys.note_of(survey),
    }
    reason = responses.reason_of(surveys.find_standing(survey, surveys.now()), shut)
    return render_template("respond/closed.html", reason=reason, survey=survey, **shown), 410


@blueprint.get("/survey.json")
def definition(slug: str) -> ResponseReturnValue:
    """The published definition, byte for byte as it was hashed, with its hash."""
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
    body = b'{"definition":%b,"version":"%b"}' % (version.published, version.sha256.encode())
    return Response(body, mimetype="application/json")


@blueprint.post("/responses")
def store(slug: str) -> ResponseReturnValue:
    """Never reached: `server.web.front` stores what comes. Here for the address, and to refuse other methods."""
    raise refuse(404, "survey", N_("is not known; check the link"))


@blueprint.post("/code.json")
def look(slug: str) -> ResponseReturnValue:
    """Never reached, like `store`: `server.web.front` says whether a code was used."""
    raise refuse(404, "survey", N_("is not known; check the link"))
