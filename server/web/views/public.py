"""The public report of a survey: whoever has its link reads what was released, and nothing else."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, current_app, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import releases, reports
from server.inputs import N_, refuse
from server.output import documents
from server.releases.report_links import find_link
from server.reports import Published
from server.reports.formats import FORMATS, PAGE, Format, PublicReport
from server.store.models import ReportLink
from server.web.context import session

blueprint = Blueprint("public", __name__, url_prefix="/r/<slug>")

_FILES = tuple(entry for entry in FORMATS.values() if entry.ending != PAGE)


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The report as a page, with the other formats."""

    def write(published: Published) -> Response:
        document = PublicReport(published, str(get_locale())).document
        context: dict[str, Any] = {}
        current_app.update_template_context(context)
        asked_for: dict[str, Any] = {"lang": document.language} if "lang" in request.args else {}
        downloads = [
            (entry.name, url_for(f".report_{entry.ending}", slug=slug, **asked_for)) for entry in _FILES
        ]
        text = documents.to_html(
            document, "public/report.html", languages=context["languages"], downloads=downloads
        )
        return Response(text, mimetype="text/html")

    return _answer(slug, write)


def _offer(chosen: Format) -> None:
    """Give a format its address."""

    def report(slug: str) -> ResponseReturnValue:
        """The report as a file."""

        def download(published: Published) -> Response:
            source = PublicReport(published, str(get_locale()))
            response = Response(chosen.prepare_public(source)(), mimetype=chosen.content_type)
            name = f"{slug}-report.{chosen.ending}"
            response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
            return response

        return _answer(slug, download)

    blueprint.add_url_rule(f"/report.{chosen.ending}", f"report_{chosen.ending}", report)


for _format in _FILES:
    _offer(_format)


def _answer(slug: str, write: Callable[[Published], Response]) -> ResponseReturnValue:
    """What a link leads to; a page that says so where it was revoked. No search engine shall list it."""
    found = find_link(session(), slug)
    if found is None:
        raise refuse(404, "link", N_("is not known; check it"))
    link, survey = found
    if link.revoked_on is not None:
        response = Response(_withdrawn(link), 410)
    else:
        response = write(reports.read_published(session(), survey, releases.read_ledger(session(), survey)))
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response


def _withdrawn(link: ReportLink) -> str:
    return render_template("public/withdrawn.html", link=link)
