"""A survey's report for one request, read at one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from flask import current_app
from sqlalchemy.orm import Session

from server import reports
from server.inputs import N_, refuse
from server.people import survey_access
from server.reports import Report
from server.store.engines import snapshot
from server.store.models import Survey


@contextmanager
def open_report(survey: Survey, version: str | None = None) -> Iterator[tuple[Report, Session]]:
    """The report of all versions or of one, and the session it is read from.

    Raises
    ------
    InputError
        404 if the survey was deleted a moment ago, or has no such version; 409 if it was never published.
    """
    with snapshot(current_app.extensions["moneda.engine"]) as reading:
        found = survey_access.find(reading, survey.slug)
        if found is None:
            raise refuse(404, "survey", N_("is not known; check the link"))
        yield reports.read(reading, found, version), reading
