"""What is answered where a page or a file would be made from responses that the server has deleted."""

from flask import render_template

from server import archives
from server.people import survey_access
from server.releases import read_ledger
from server.web.context import session


def draw_deleted_page(slug: str) -> str:
    """What was deleted of a survey, when and by which setting, and what is left, within a request of a member."""
    survey = survey_access.find(session(), slug)
    assert survey is not None
    return render_template(
        "errors/deleted.html",
        survey=survey,
        deleted=archives.list_deleted(session(), survey),
        released=bool(read_ledger(session(), survey).released),
    )
