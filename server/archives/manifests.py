"""The manifest: what an archive says of a survey, but for its texts, responses and invitations."""

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import __version__
from server.archives.layout import FORMAT, Document
from server.archives.response_files import PackedResponses
from server.store.models import InvitationBatch, State, Survey
from server.study import strata, study_sheets
from server.study.retention import retention_of
from server.study.switches import list_on


def stratum_numbers(nodes: Sequence[strata.Node]) -> dict[int | None, int | None]:
    """The number of each stratum in an archive, by its id here; none for the survey's own link."""
    return {None: None, **{node.stratum.id: place for place, node in enumerate(nodes, 1)}}


def batches_of(session: Session, survey: Survey) -> list[InvitationBatch]:
    """The batches of invitations, in the order in which they are numbered."""
    query = sa.select(InvitationBatch).where(InvitationBatch.survey_id == survey.id)
    return list(session.scalars(query.order_by(InvitationBatch.id)))


def manifest_of(
    session: Session, survey: Survey, nodes: Sequence[strata.Node], responses: PackedResponses
) -> Document:
    """The manifest of a survey; what is not set is left out, and so are the batches of a closed one.

    Its invitations let nobody in any more, and how many were used is not told elsewhere.
    """
    numbers = stratum_numbers(nodes)
    stored = study_sheets.read_study_sheet(session, survey)
    return {
        "format": FORMAT,
        "software": f"Moneda {__version__}",
        "slug": survey.slug,
        **_set(link=survey.link if survey.link != survey.slug else None),
        "identity": survey.identity,
        "state": str(survey.state),
        "created_on": survey.created_on.isoformat(),
        **_set(
            simulated=survey.simulated or None,
            incomplete=survey.incomplete or None,
            paused=survey.paused or None,
            by_invitation=survey.by_invitation or None,
            **dict.fromkeys(sorted(list_on(survey)), True),
            opens_at=survey.opens_at and survey.opens_at.isoformat(),
            closes_at=survey.closes_at and survey.closes_at.isoformat(),
            cap=survey.cap,
            closed_at=survey.closed_at and survey.closed_at.isoformat(),
            **asdict(retention_of(survey)),
        ),
        "time_zone": survey.time_zone,
        "minimum": survey.minimum,
        **_set(merged=responses.merged or None, modes=responses.modes or None),
        "versions": [
            {
                "sha256": version.sha256,
                "published_on": version.published_on.isoformat(),
                "responses": responses.sizes.get(version.number, 0),
                "days": [
                    {"first": period.first.isoformat(), "last": period.last.isoformat(), "n": period.n}
                    for period in responses.days[version.number]
                ],
            }
            for version in survey.versions
        ],
        "strata": [
            {
                "names": list(node.names),
                "slug": node.stratum.slug,
                "identity": node.stratum.identity,
                **_set(
                    population=node.stratum.population,
                    by_invitation=node.stratum.by_invitation,
                    merged=responses.merges(node) or None,
                ),
            }
            for node in nodes
        ],
        "batches": [
            {
                "label": batch.label,
                "issued_on": batch.issued_on.isoformat(),
                "size": batch.size,
                **_set(
                    stratum=numbers[batch.stratum_id],
                    withdrawn_on=batch.withdrawn_on and batch.withdrawn_on.isoformat(),
                ),
            }
            for batch in batches_of(session, survey)
            if survey.state != State.CLOSED
        ],
        **_set(study=stored.sheet.as_json() or None, logo=stored.logo and b64encode(stored.logo).decode()),
    }


def _set(**values: object) -> Document:
    return {name: value for name, value in values.items() if value is not None}
