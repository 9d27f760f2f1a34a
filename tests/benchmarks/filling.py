"""Surveys with millions of responses for benchmarks: straight into the books, as the intake enters them."""

from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from server.collect import batches
from server.people import survey_access
from server.simulation import Assumptions, draw_people
from server.store.models import Survey
from server.study import strata, surveys
from server.study.definitions import Definition
from tests.support import every_kind, factories

TOGETHER = 256
"""Responses of one link that are entered at once: as many as the intake stores together."""
_DRAWN = 200_000
DAYS = 21


def fill(database_url: str, slug: str, responses: int) -> None:
    """Let made-up people answer by all links within three weeks."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        leaves = strata.list_leaves(strata.tree(session, survey))
        links = [node.stratum.id for node in leaves] or [None]
        before = batches.count_stored(session, survey.id)
        definition = surveys.definition_of(survey.current)
        for number, reports in enumerate(_draw_reports(definition, responses)):
            rows = np.array_split(reports, max(len(reports) // TOGETHER, len(links)))
            for place, some in enumerate(rows):
                day = date(2026, 5, 1) + timedelta(days=(before + number + place) % DAYS)
                _enter(session, survey, links[place % len(links)], some, day)
        batches.count(session.connection(), {survey.id: responses})


def _draw_reports(definition: Definition, responses: int) -> Iterator[NDArray[np.uint8]]:
    names = {question.name for question in definition.questions}
    shares = {
        name: share for name, share in every_kind.assumed_shares().items() if name.partition(".")[0] in names
    }
    means = {name: mean for name, mean in every_kind.assumed_means().items() if name in names}
    for start in range(0, responses, _DRAWN):
        some = min(_DRAWN, responses - start)
        yield draw_people(definition, some, Assumptions(shares, means)).reports()


def _enter(
    session: Session, survey: Survey, stratum: int | None, reports: NDArray[np.uint8], day: date
) -> None:
    assert survey.current is not None
    key = batches.CellKey(survey.current.id, stratum)
    group = batches.Group(survey.minimum, [row.tobytes() for row in reports], {day: len(reports)})
    batches.add(session.connection(), survey.id, {key: group})
