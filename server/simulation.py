"""Simulated respondents: made-up truths, real coins, and the same way in as a real response.

Truths are drawn from assumed shares; the reports come from `Design.report`, the Python
twin of the browser's randomiser, and are stored by `responses.accept` like anyone's. A
survey that holds simulated responses is marked so for good, and its pages and reports say so.
"""

import json
import secrets
from collections.abc import Iterator, Mapping

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from server import responses, surveys
from server.definitions import Definition
from server.inputs import N_, refuse
from server.models import Response, State, Survey
from server.privacy.designs import draw_coins

RESPONDENTS_LIMIT = 1_000_000
DEFAULT_SHARE = 0.2


def simulate(
    session: Session, survey: Survey, respondents: int, shares: Mapping[str, float]
) -> Iterator[None]:
    """Answer a survey as `respondents` made-up people; yields after each, never commits.

    Parameters
    ----------
    shares : mapping of str to float
        The true share of "yes" by question name; 0.2 where a question is not named.

    Raises
    ------
    InputError
        If a number or name is out of range, the survey is not open, or it holds responses
        of real people, which simulated ones would spoil.
    """
    if not 1 <= respondents <= RESPONDENTS_LIMIT:
        raise refuse(
            422,
            "respondents",
            N_("must be from %(low)s to %(high)s; it is %(value)s"),
            low=1,
            high=RESPONDENTS_LIMIT,
            value=respondents,
        )
    version = survey.current
    if version is None or survey.state != State.OPEN:
        raise refuse(409, "survey", N_("must be open; publish it first"))
    definition = surveys.definition_of(version)
    truths = _truths(definition, respondents, shares)
    if not survey.simulated:
        if _has_responses(session, survey):
            raise refuse(409, "survey", N_("holds responses of real people; simulate on a copy"))
        survey.simulated = True
    reports = np.column_stack(
        [
            design.report(truth, draw_coins(respondents))
            for design, truth in zip(definition.designs, truths, strict=True)
        ]
    )
    connection, day = session.connection(), surveys.today()
    for row in reports.tolist():
        body = {"id": secrets.token_hex(16), "version": version.sha256, "reports": row}
        responses.accept(connection, survey.slug, json.dumps(body).encode(), day)
        yield


def _has_responses(session: Session, survey: Survey) -> bool:
    versions = [version.id for version in survey.versions]
    query = sa.select(sa.exists().where(Response.version_id.in_(versions)))
    return bool(session.scalar(query))


def _truths(definition: Definition, respondents: int, shares: Mapping[str, float]) -> list[NDArray[np.int64]]:
    names = [question.name for question in definition.questions]
    for name, share in shares.items():
        if name not in names:
            raise refuse(
                422,
                "share",
                N_("must be one of %(limit)s; it is %(value)s"),
                limit=", ".join(names),
                value=name,
            )
        if not 0 <= share <= 1:
            raise refuse(
                422,
                f"share {name}",
                N_("must be from %(low)s to %(high)s; it is %(value)s"),
                low=0,
                high=1,
                value=share,
            )
    generator = np.random.default_rng()
    return [
        (generator.random(respondents) < shares.get(question.name, DEFAULT_SHARE)).astype(np.int64)
        for question in definition.questions
        for _ in question.designs
    ]
