"""The public report of a survey: whoever has its link reads what was released, and nothing else."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import releases, reports
from server.inputs import N_, refuse
from server.output import documents
from server.output.documents import Document
from server.releases.links import find_link
from server.reports import Published
from server.reports.contents import public
from server.store.models import ReportLink
from server.web.context import session

blueprint = Blueprint("public", __name__, url_prefix="/r/<slug>")

FORMATS = {
    "pdf": ("PDF", "application/pdf"),
    "xlsx": ("Excel", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    "csv": ("CSV", "text/csv"),
    "json": ("JSON", "application/json"),
}
"""Each format's name and type."""


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The report as a page, with the other formats."""

    def write(published: Published) -> Response:
        document = _document(published)
        context: dict[str, Any] = {}
        current_app.update_template_context(context)
        asked_for: dict[str, Any] = {"lang": document.language} if "lang" in request.args else {}
        downloads = [
            (name, url_for(f".report_{ending}", slug=slug, **asked_for))
            for ending, (name, _) in FORMATS.items()
        ]
        text = documents.to_html(
            document, "public/report.html", languages=context["languages"], downloads=downloads
        )
        return Response(text, mimetype="text/html")

    return _answer(slug, write)


@blueprint.get("/report.pdf")
def report_pdf(slug: str) -> ResponseReturnValue:
    """The report as PDF."""
    return _file(slug, "pdf", lambda published: documents.to_pdf(_document(published)))


@blueprint.get("/report.xlsx")
def report_xlsx(slug: str) -> ResponseReturnValue:
    """The report as a spreadsheet."""
    return _file(slug, "xlsx", lambda published: documents.to_xlsx(_document(published)))


@blueprint.get("/report.csv")
def report_csv(slug: str) -> ResponseReturnValue:
    """What was released as CSV."""
    return _file(slug, "csv", reports.public_csv)


@blueprint.get("/report.json")
def report_json(slug: str) -> ResponseReturnValue:
    """What was released as JSON."""
    return _file(slug, "json", reports.public_json)


def _document(published: Published) -> Document:
    return public(published, str(get_locale()))


def _file(slug: str, ending: str, write: Callable[[Published], bytes | str]) -> ResponseReturnValue:
    def download(published: Published) -> Response:
        response = Response(write(published), mimetype=FORMATS[ending][1])
        response.headers["Content-Disposition"] = f'attachment; filename="{slug}-report.{ending}"'
        return response

    return _answer(slug, download)


def _answer(slug: str, write: Callable[[Published], Response]) -> ResponseReturnValue:
    """What a link leads to; a page that says so where it was revoked. No search engine shall list it."""
    found = find_link(session(), slug)
    if found is None:
        raise refuse(404, "link", N_("is not known; check it"))
    link, survey = found
    if link.revoked_on is not None:
        response = Response(_withdrawn(link), 410)
    else:
        response = write(reports.published(session(), survey, releases.ledger(session(), survey)))
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _withdrawn(link: ReportLink) -> str:
    return render_template("public/withdrawn.html", link=link)
