"""The demonstration: a ready survey whose respondents are simulated."""

import json

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.config import SCHEMAS
from server.store.models import Researcher, Survey
from server.study import surveys
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition

RESPONDENTS = 100_000
SHARES = {
    "copied": 0.32,
    "paid": 0.06,
    "impersonated": 0.01,
    "aid.nothing": 0.66,
    "aid.notes": 0.2,
    "aid.person": 0.09,
    "aid.prefer_not_to_say": 0.05,
    "serious.not_at_all": 0.12,
    "serious.little": 0.26,
    "serious.rather": 0.38,
    "serious.very": 0.24,
}
MEANS = {"times": 1.4}
"""With `SHARES`, what is assumed of the simulated respondents; made up."""

_DEFINITION = SCHEMAS / "demonstration.json"


def find(session: Session) -> Survey | None:
    """The demonstration survey of an earlier start."""
    return session.scalars(sa.select(Survey).where(Survey.simulated).order_by(Survey.id).limit(1)).first()


def definition() -> Definition:
    """The demonstration survey."""
    return parse_definition(json.loads(_DEFINITION.read_text("utf-8")))


def create(session: Session, owner: Researcher) -> Survey:
    """Publish the demonstration survey; it has no respondents yet."""
    survey = surveys.create(session, owner, definition(), simulated=True)
    surveys.publish(session, survey)
    return survey
