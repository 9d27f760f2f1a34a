"""The public report of a survey: whoever has its link reads what was released, and nothing else."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server import releases, reports
from server.inputs import N_, InputError, refuse
from server.output.formatting import day
from server.output.languages import LANGUAGES
from server.releases.report_links import find_link
from server.reports import Published, social_card
from server.reports.formats import FORMATS, PAGE, Format, PublicReport
from server.reports.public_page import (
    Addresses,
    Download,
    LanguageLink,
    write_figure,
    write_public_page,
    write_withdrawn_figure,
)
from server.reports.public_picture import draw_picture
from server.reports.question_figures import PICTURE_FORMATS, PictureFormat
from server.store.models import ReportLink
from server.web.compressed_pages import make_compressed
from server.web.context import attach_file, public_address, session
from server.web.download_names import name_of_public_report

blueprint = Blueprint("public", __name__, url_prefix="/r/<slug>")

_FILES = tuple(entry for entry in FORMATS.values() if entry.ending != PAGE)


@blueprint.get("")
def page(slug: str) -> ResponseReturnValue:
    """The report as a page, with the other formats."""

    def write(published: Published) -> Response:
        locale = str(get_locale())
        asked_for: dict[str, Any] = {"lang": locale} if "lang" in request.args else {}
        text = write_public_page(
            published,
            locale,
            addresses=_find_addresses(slug, locale),
            languages=[
                LanguageLink(code, language.name, url_for(".page", slug=slug, lang=code))
                for code, language in LANGUAGES.items()
            ],
            downloads=[
                Download(entry.name, url_for(f".report_{entry.ending}", slug=slug, **asked_for))
                for entry in _FILES
            ],
        )
        return make_compressed(text)

    return _answer(slug, write)


@blueprint.get("/figure/<name>")
def figure(slug: str, name: str) -> ResponseReturnValue:
    """One figure by itself, which other sites may show in a frame."""
    locale = str(get_locale())

    def write(published: Published) -> Response:
        text = write_figure(published, locale, name, public_address(url_for(".page", slug=slug, lang=locale)))
        if text is None:
            raise _refuse_figure()
        return Response(text, mimetype="text/html")

    def say_withdrawn(link: ReportLink) -> str:
        assert link.revoked_on is not None
        return write_withdrawn_figure(locale, day(link.revoked_on, locale))

    return _answer(slug, write, say_withdrawn)


def _offer_picture(ending: str, chosen: PictureFormat) -> None:
    """Give a figure as a file its address."""

    def picture(slug: str, name: str) -> ResponseReturnValue:
        """One figure with its sentence and its source, as a file."""
        locale = str(get_locale())

        def download(published: Published) -> Response:
            chart = draw_picture(locale, published, name, public_address(url_for(".page", slug=slug)))
            if chart is None:
                raise _refuse_figure()
            response = Response(chosen.write(chart), mimetype=chosen.content_type)
            return attach_file(response, name_of_public_report(published, ending, name))

        return _answer(slug, download)

    blueprint.add_url_rule(f"/figure/<name>.{ending}", f"figure_{ending}", picture)


for _ending, _picture in PICTURE_FORMATS.items():
    _offer_picture(_ending, _picture)


def _refuse_figure() -> InputError:
    return refuse(404, "figure", N_("is not known; check the address"))


@blueprint.get("/card.png")
def card(slug: str) -> ResponseReturnValue:
    """The picture that social networks show beside a link to the report: its title and a coin, no number."""

    def write(published: Published) -> Response:
        response = Response(social_card.draw_card(published.newest.definition.title), mimetype="image/png")
        # Some show it from here, in pages of their own.
        response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
        return response

    return _answer(slug, write)


def _find_addresses(slug: str, locale: str) -> Addresses:
    here = public_address(url_for(".page", slug=slug))
    return Addresses(
        public_address(url_for(".page", slug=slug, lang=locale)),
        public_address(url_for(".card", slug=slug)),
        f"{here}/figure/{{name}}?lang={locale}",
    )


def _offer(chosen: Format) -> None:
    """Give a format its address."""

    def report(slug: str) -> ResponseReturnValue:
        """The report as a file."""

        def download(published: Published) -> Response:
            source = PublicReport(published, str(get_locale()))
            response = Response(chosen.prepare_public(source)(), mimetype=chosen.content_type)
            return attach_file(response, name_of_public_report(published, chosen.ending))

        return _answer(slug, download)

    blueprint.add_url_rule(f"/report.{chosen.ending}", f"report_{chosen.ending}", report)


for _format in _FILES:
    _offer(_format)


def _answer(
    slug: str,
    write: Callable[[Published], Response],
    say_withdrawn: Callable[[ReportLink], str] = lambda link: render_template(
        "public/withdrawn.html", link=link
    ),
) -> ResponseReturnValue:
    """What a link leads to; a page that says so where it was revoked. No search engine shall list it."""
    found = find_link(session(), slug)
    if found is None:
        abort(404)
    link, survey = found
    if link.revoked_on is not None:
        response = Response(say_withdrawn(link), 410)
    else:
        response = write(reports.read_published(session(), survey, releases.read_ledger(session(), survey)))
    response.headers["X-Robots-Tag"] = "noindex, nofollow"
    return response
