"""What one request carries: its configuration, its database session and its language."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from flask import Response, current_app, g, get_template_attribute, request, url_for
from flask_babel import force_locale, get_locale
from markupsafe import Markup
from sqlalchemy.orm import Session

from server.config import Config
from server.output.file_names import attachment
from server.store.models import Survey
from server.web.page_parts import PageParts

KEEPING = "moneda.keeping"
"""The name, in the environment of a request, under which `Keeping` comes along where an answer may be kept."""

_IN_MEMORY = 1 << 20
"""Bytes of a file to download that are not written to the disk."""
_PART = 1 << 16


def config() -> Config:
    """The application's configuration."""
    value: Config = current_app.extensions["moneda.config"]
    return value


def public_address(path: str) -> str:
    """Where people reach a page of this site."""
    return find_site() + path


def find_site() -> str:
    """Where the site is, as the one who asks reaches it; never a host that only the request names."""
    found = config().find_site(request.host)
    return found or f"http://127.0.0.1:{request.environ['SERVER_PORT']}"


def link_to(slug: str) -> str:
    """The link of a survey or a stratum, as respondents are given it."""
    return public_address(url_for("respond.page", slug=slug))


def answer_names(parts: PageParts) -> Markup:
    """What the page of a survey calls the answers that we word: in the page's language where the survey has it, too."""
    reading = str(get_locale())
    language = reading if reading in parts.translated else parts.language
    with force_locale(language):
        names: Markup = get_template_attribute("respond/_names.html", "names")(parts, language)
    return names


def session() -> Session:
    """The request's database session; it may write unless the request is a GET or HEAD."""
    value: Session = g.session
    return value


@dataclass
class Keeping:
    """What a page says of itself to whoever may keep it: of which survey it is, and until when it holds at most."""

    survey_id: int | None = None
    until: datetime | None = None


def allow_keeping(survey: Survey, now: datetime) -> None:
    """Say that the answer to this request holds until the survey changes, or one of its times passes."""
    keeping = request.environ.get(KEEPING)
    if keeping is not None:
        times = [time for time in (survey.opens_at, survey.closes_at) if time is not None and time > now]
        keeping.survey_id, keeping.until = survey.id, min(times, default=None)


def send_download(text: str | bytes, mimetype: str, name: str) -> Response:
    """A file to download that is small."""
    return attach_file(Response(text, mimetype=mimetype), name)


def send_written(write: Callable[[IO[bytes]], None], mimetype: str, name: str) -> Response:
    """A file to download that may be large: it is written whole, and nothing waits for whoever reads it slowly."""
    file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed with the answer
    try:
        write(file)
    except BaseException:
        file.close()
        raise
    response = Response(_parts(file), mimetype=mimetype)
    response.content_length = file.tell()
    attach_file(response, name)
    response.call_on_close(file.close)  # whoever went away has not read it to its end
    return response


def attach_file(response: Response, name: str) -> Response:
    """Have a browser store an answer under a name of `server.output.file_names`."""
    response.headers["Content-Disposition"] = attachment(name)
    return response


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    """What a file holds, which is closed afterwards."""
    with file:
        file.seek(0)
        while part := file.read(_PART):
            yield part
