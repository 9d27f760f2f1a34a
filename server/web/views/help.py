"""The guides and manuals of docs/, for whoever wants to read them: nobody signs in, and nothing is remembered."""

from functools import lru_cache

from flask import Blueprint, Response, abort, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import force_locale, get_locale
from werkzeug.wrappers import Response as BaseResponse

from server.output.languages import LANGUAGES
from server.web import handbook
from server.web.compressed_pages import compress, make_compressed
from server.web.handbook import LONGEST_QUERY, Chapter, find_address, list_words, read_handbook

blueprint = Blueprint("help", __name__, url_prefix="/help")


@blueprint.get("")
def contents() -> ResponseReturnValue:
    """What there is to read, or what was found of what somebody looks for."""
    query = " ".join(request.args.get("q", "").split())
    if query:
        return _search(query)
    return _keep(_write_page(read_handbook().find_contents(str(get_locale()))))


@blueprint.get("/<path:name>")
def chapter(name: str) -> ResponseReturnValue:
    """A chapter, in its language; the page around it too, if the chapter is there in each."""
    found = read_handbook().chapters.get(name)
    if found is None or read_handbook().is_contents(found):
        abort(404)
    return _keep(_write_page(found))


@blueprint.get("/images/<fingerprint>/<name>")
def picture(fingerprint: str, name: str) -> ResponseReturnValue:
    """A picture of a chapter: for good, as another one has another fingerprint."""
    try:
        content = handbook.read_picture(name)
    except FileNotFoundError:
        abort(404)
    if handbook.measure_picture(content).fingerprint != fingerprint:
        abort(404)
    response = Response(content, mimetype="image/png")
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response


def _write_page(chapter: Chapter) -> str:
    reading = chapter.language if chapter.others else str(get_locale())
    book = read_handbook()
    order = book.orders[reading]
    place = order.index(chapter.name)
    versions = {chapter.language: chapter.name, **chapter.others}
    with force_locale(reading):
        return render_template(
            "help/chapter.html",
            chapter=chapter,
            text=handbook.write_chapter(chapter.name, reading),
            chapters=book.chapters,
            previous=book.chapters[order[place - 1]] if place else None,
            following=book.chapters[order[place + 1]] if place + 1 < len(order) else None,
            languages=[
                (code, language.name, find_address(book.chapters[versions.get(code, chapter.name)], code))
                for code, language in LANGUAGES.items()
            ],
            **_site(reading),
        )


def _search(query: str) -> ResponseReturnValue:
    reading = str(get_locale())
    words = list_words(query)
    too_long = len(query) > LONGEST_QUERY
    refused = too_long or not words
    page = render_template(
        "help/search.html",
        query=query[:LONGEST_QUERY],
        length=len(query),
        too_long=too_long,
        hits=None if refused else handbook.search_sections(words, reading),
        **_site(reading),
    )
    return page, 422 if refused else 200


def _site(reading: str) -> dict[str, object]:
    """What each of these pages has: the way to the contents, and the field to search in."""
    return {
        "reading": reading,
        "first": read_handbook().find_contents(reading),
        "address_of": find_address,
        "longest": LONGEST_QUERY,
    }


def _keep(page: str) -> BaseResponse:
    """May be kept, but is asked for again each time: whoever has the newest one gets no second copy."""
    response = make_compressed(page, _compress)
    response.headers["Cache-Control"] = "no-cache"
    response.add_etag()
    return response.make_conditional(request)


_compress = lru_cache(200)(compress)
