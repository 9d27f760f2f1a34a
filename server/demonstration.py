"""The demonstration: a ready survey whose respondents are simulated."""

import json
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import surveys
from server.inputs import parse_definition
from server.models import Researcher, Survey

RESPONDENTS = 2_000
SHARES = {"copied": 0.32, "paid": 0.06, "impersonated": 0.01}
"""Assumed true shares of the simulated respondents; made up."""

_DEFINITION = Path(__file__).parent / "schemas" / "demonstration.json"


def find(session: Session) -> Survey | None:
    """The demonstration survey of an earlier start."""
    return session.scalars(sa.select(Survey).where(Survey.simulated).order_by(Survey.id).limit(1)).first()


def create(session: Session, owner: Researcher) -> Survey:
    """Publish the demonstration survey; it has no respondents yet."""
    definition = parse_definition(json.loads(_DEFINITION.read_text("utf-8")))
    survey = surveys.create(session, owner, definition, simulated=True)
    surveys.publish(session, survey)
    return survey
