"""What one request carries: its configuration, its database session and its language."""

import re

from flask import current_app, g
from flask_babel import gettext
from sqlalchemy.orm import Session

from server.config import Config
from server.inputs import N_, Problem

_NAMES = {
    "body": N_("What was sent"),
    "gamma": N_("Privacy and sample size"),
    "introduction": N_("Introduction"),
    "language": N_("Language of your texts"),
    "questions": N_("Questions"),
    "state": N_("State of the survey"),
    "survey": N_("Survey"),
    "title": N_("Title"),
    "version": N_("Version"),
}
_QUESTION = re.compile(r"questions\[(\d+)\](\.text|\.design(\.gamma)?)?")


def config() -> Config:
    """The application's configuration."""
    value: Config = current_app.extensions["moneda.config"]
    return value


def session() -> Session:
    """The request's database session; it may write unless the request is a GET or HEAD."""
    value: Session = g.session
    return value


def told(problem: Problem) -> tuple[str, str]:
    """A problem as its reader is told it: the name of the field, and what is wrong with it.

    A field that no page has keeps its path in the definition file.
    """
    message = gettext(problem.template, **problem.values)
    question = _QUESTION.fullmatch(problem.field)
    if question is not None:
        return gettext("Question %(number)d", number=int(question[1]) + 1), message
    name = _NAMES.get(problem.field)
    return gettext(name) if name else problem.field, message
