"""Who asks, drawn for respondents' pages: a line of each page, and four of its other screens.

The first line states all that the others are drawn from, so that whoever compares a page (`server.web.verifying`) draws
them anew, and any other byte is found.
"""

import html
import json
import re
from dataclasses import dataclass

from flask import get_template_attribute
from flask_babel import get_locale
from markupsafe import Markup

from server.store.models import Survey
from server.study import surveys
from server.study.study_sheets import SurveySender, read_sender
from server.web.context import session

_STATED = re.compile(r'<aside id="sender" data-stated="([^"\n]*)"')


@dataclass(frozen=True)
class SenderParts:
    """Lines of a page; each is empty where there is nothing to say."""

    head: Markup
    hand_over: Markup
    thanks: Markup
    completion: Markup
    help_lines: Markup


def draw_sender(slug: str, sender: SurveySender) -> SenderParts:
    """The lines for the pages of a link, within a request for one of them, in its language."""
    stated = json.dumps(sender.as_json(), ensure_ascii=False) if sender != SurveySender() else ""
    return SenderParts(
        _draw("head", slug, sender, stated),
        _draw("hand_over", sender.hand_over),
        _draw("thanks", sender.thanks),
        _draw("completion", sender.completion_code, sender.completion_link),
        _draw("help_lines", sender.help_lines),
    )


def draw_sender_of(survey: Survey, slug: str) -> SenderParts:
    """As `draw_sender`, of what the survey's study sheet says now."""
    own = (
        surveys.draft_document(survey)["language"]
        if survey.current is None
        else surveys.definition_of(survey.current).language
    )
    return draw_sender(slug, read_sender(session(), survey, str(get_locale()), own))


def read_stated_sender(page: str) -> SurveySender:
    """What a page states of who asks; nobody where it states nothing that can be read."""
    found = _STATED.search(page)
    try:
        return (
            SurveySender() if found is None else SurveySender.from_json(json.loads(html.unescape(found[1])))
        )
    except (ValueError, TypeError, KeyError, AttributeError):
        return SurveySender()


def _draw(name: str, *values: object) -> Markup:
    drawn: Markup = get_template_attribute("respond/_sender.html", name)(*values)
    return Markup(drawn.replace("\n", ""))  # noqa: S704 - the template has escaped it
