"""What a respondent meets: the page, the definition, and where responses go."""

import sys

from flask import Blueprint, Response, jsonify, render_template, request, url_for
from flask.typing import ResponseReturnValue

from server import responses, surveys
from server.context import session
from server.inputs import N_, RESPONSE_LIMIT, refuse
from server.models import State
from server.parts import parts_of

blueprint = Blueprint("respond", __name__, url_prefix="/s/<slug>")


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The page; its texts come from survey.json, whose hash it pins."""
    survey = surveys.find(session(), slug)
    if survey is None or survey.current is None:
        return render_template("respond/closed.html", reason="unknown"), 404
    if survey.state != State.OPEN:
        return render_template("respond/closed.html", reason="closed"), 410
    return render_template(
        "respond/survey.html",
        slug=slug,
        version=survey.current.sha256,
        definition_url=url_for(".definition", slug=slug),
        responses_url=url_for(".store", slug=slug),
        parts=parts_of(survey.current.published),
        preview=False,
        simulated=survey.simulated,
    )


@blueprint.get("/survey.json")
def definition(slug: str) -> ResponseReturnValue:
    """The published definition, byte for byte as it was hashed, with its hash."""
    survey = surveys.find(session(), slug)
    if survey is None or survey.current is None:
        raise refuse(404, "survey", N_("is not known; check the link"))
    if survey.state != State.OPEN:
        raise refuse(410, "survey", N_("takes no responses any more; it is closed"))
    version = survey.current
    body = b'{"definition":%b,"version":"%b"}' % (version.published, version.sha256.encode())
    return Response(body, mimetype="application/json")


@blueprint.post("/responses")
def store(slug: str) -> ResponseReturnValue:
    """Store one response; it is acknowledged once it is on the disk."""
    if request.mimetype != "application/json":
        raise refuse(
            415,
            "Content-Type",
            N_("must be application/json; it is %(value)s"),
            value=request.mimetype[:60] or "-",
        )
    # One byte more than allowed is enough to know, however long the body is; Flask's own limit would not name it.
    request.max_content_length = sys.maxsize
    body = request.stream.read(RESPONSE_LIMIT + 1)
    acceptance = responses.accept(session().connection(), slug, body, surveys.today())
    session().commit()
    return jsonify(status=acceptance.name.lower()), acceptance.value
