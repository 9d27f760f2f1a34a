"""What one request carries: its configuration, its database session and its language."""

import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO

from flask import Response, current_app, g, get_template_attribute, request, url_for
from flask_babel import force_locale, gettext
from markupsafe import Markup
from sqlalchemy.orm import Session

from server.config import Config
from server.inputs import N_, Problem
from server.store.models import Survey
from server.web.page_parts import PageParts

KEEPING = "moneda.keeping"
"""The name, in the environment of a request, under which `Keeping` comes along where an answer may be kept."""

_IN_MEMORY = 1 << 20
"""Bytes of a file to download that are not written to the disk."""
_PART = 1 << 16
_NAMES = {
    "again": N_("The same password again"),
    "batch": N_("Batch"),
    "body": N_("What was sent"),
    "brackets": N_("Text in square brackets"),
    "budget": N_("Budget for one respondent"),
    "cap": N_("Most responses"),
    "closes_at": N_("Closing time"),
    "code": N_("Code"),
    "codes": N_("Codes"),
    "column": N_("Columns"),
    "current": N_("Current password"),
    "days": N_("Days for which it is valid"),
    "delta": N_("Chance δ that the limit fails"),
    "division": N_("How ε is divided"),
    "confidence": N_("Confidence of the intervals"),
    "confirmation": N_("The survey's title"),
    "draft": N_("The draft"),
    "epsilon": N_("ε of this release"),
    "exceeding": N_("Questions to compare"),
    "file": N_("File"),
    "gamma": N_("Privacy and sample size"),
    "interval": N_("Intervals"),
    "introduction": N_("Introduction"),
    "invitation": N_("Invitation"),
    "item": N_("What to release"),
    "items": N_("What to release"),
    "label": N_("Name of the batch"),
    "language": N_("Language of your texts"),
    "lines": N_("Add strata"),
    "link": N_("Link"),
    "login": N_("Sign-in name"),
    "mark": N_("File that says what was spent"),
    "minimum": N_("Smallest group shown"),
    "name": N_("Name"),
    "neighbours": N_("What a release must hide"),
    "opens_at": N_("Opening time"),
    "password": N_("Password"),
    "people": N_("Respondents you expect"),
    "person": N_("Person"),
    "plan": N_("The plan"),
    "plan.margin": N_("Margin you want"),
    "plan.respondents": N_("Respondents you plan for"),
    "positives": N_("How many to find"),
    "question": N_("Question"),
    "questions": N_("Questions"),
    "release": N_("Release"),
    "role": N_("Role"),
    "row": N_("Rows"),
    "secret": N_("Secret of the app"),
    "share": N_("Share to exceed"),
    "sheet": N_("Sheet"),
    "side2": N_("Second side"),
    "sign_in": N_("Sign-in"),
    "size": N_("How many"),
    "spent": N_("What was spent, ε"),
    "spent_delta": N_("What was spent, δ"),
    "state": N_("State of the survey"),
    "strata": N_("Strata"),
    "server": N_("Server"),
    "right": N_("Right to release"),
    "stratum": N_("Stratum"),
    "survey": N_("Survey"),
    "sure": N_("I am sure"),
    "template": N_("Template"),
    "time_zone": N_("Time zone"),
    "title": N_("Title"),
    "token": N_("Token"),
    "version": N_("Version"),
}
_QUESTION = re.compile(r"questions\[(\d{1,9})\](?:\.(.+))?")
_ITEM = re.compile(r"items\[(\d{1,9})\](?:\.(\w+))?")
_LINE = re.compile(r"lines\[(\d{1,9})\]")
_OPTION = re.compile(r"options\[(\d{1,9})\](\.name)?.*")
_ITEM_PARTS = {
    "delta": "δ",
    "epsilon": "ε",
    "error": N_("error"),
    "kind": N_("kind"),
    "noise": N_("noise"),
    "option": N_("answer"),
    "questions": N_("questions"),
    "share": N_("share to exceed"),
    "stratum": N_("stratum"),
    "weight": N_("part"),
}
_PARTS = {
    "body": N_("text"),
    "control": N_("control item"),
    "correct": N_("right answer"),
    "cuts": N_("where ranges begin"),
    "design": N_("design"),
    "design.epsilon": N_("strength"),
    "design.gamma": N_("strength"),
    "design.if_no": N_("red cards in the deck for No"),
    "design.if_yes": N_("red cards in the deck for Yes"),
    "design.innocuous": N_("harmless question"),
    "design.prevalence": N_("share of Yes to the harmless question"),
    "design.truth": N_("chance of the true answer"),
    "design.yes": N_("chance of a forced Yes"),
    "feedback": N_("what is said after an answer"),
    "high": N_("highest number"),
    "kind": N_("kind"),
    "low": N_("lowest number"),
    "name": N_("name in downloaded files"),
    "options": N_("answers"),
    "otherwise": N_("what everybody else reports"),
    "prefer_not_to_say": N_("“prefer not to say”"),
    "show_if": N_("who sees it"),
    "step": N_("steps"),
    "text": N_("wording"),
    "unit": N_("unit"),
}


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
    """What the page of a survey calls the answers that we word: in the survey's language, not in the page's."""
    with force_locale(parts.language):
        names: Markup = get_template_attribute("respond/_names.html", "names")(parts)
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


def describe(problem: Problem) -> tuple[str, str]:
    """A problem as its reader is told it: the name of the field, and what is wrong with it.

    A field that no page has keeps its path in the definition file.
    """
    message = gettext(problem.template, **problem.values)
    question = _QUESTION.fullmatch(problem.field)
    if question is not None:
        said = gettext("Question %(number)d", number=int(question[1]) + 1)
        part = _part(question[2] or "")
        return (gettext("%(whole)s, %(part)s", whole=said, part=part) if part else said), message
    item = _ITEM.fullmatch(problem.field)
    if item is not None:
        said = gettext("Item %(number)d", number=int(item[1]) + 1)
        part = gettext(_ITEM_PARTS.get(item[2], item[2])) if item[2] else ""
        return (gettext("%(whole)s, %(part)s", whole=said, part=part) if part else said), message
    line = _LINE.fullmatch(problem.field)
    if line is not None:
        return gettext("Line %(number)d", number=int(line[1])), message
    name = _NAMES.get(problem.field)
    return gettext(name) if name else problem.field, message


def _part(path: str) -> str:
    """What a part of a question is called; one that has no name of its own is called as the whole it is in."""
    option = _OPTION.fullmatch(path)
    if option is not None:
        number = int(option[1]) + 1
        if option[2]:
            return gettext("name of answer %(number)d in downloaded files", number=number)
        return gettext("answer %(number)d", number=number)
    while path and path not in _PARTS:
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return gettext(_PARTS[path]) if path else ""


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
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.call_on_close(file.close)  # whoever went away has not read it to its end
    return response


def _parts(file: IO[bytes]) -> Iterator[bytes]:
    """What a file holds, which is closed afterwards."""
    with file:
        file.seek(0)
        while part := file.read(_PART):
            yield part
