"""The responses of an archive, into a survey that is being made: a part at a time, so that others write between."""

import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import repeat
from operator import itemgetter
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.archive_reader import Archive
from server.archives.arriving import go_on
from server.archives.checking import STORING, Checked, Version
from server.archives.layout import Document
from server.collect import batches
from server.collect.batches import CellKey, Group
from server.output.progress import ProgressReporter
from server.reports.day_counts import Period
from server.store.engines import TakingTurns
from server.store.models import State, Survey, SurveyVersion
from server.store.own_tables import responses_of
from server.study import surveys

_PART = 500
"""Responses that are stored at once: a few hundredths of a second, or some more on a busy machine."""


def store_responses(
    session: Session,
    survey: Survey,
    archive: Archive,
    checked: Checked,
    ids: Mapping[int | None, int | None],
    turns: TakingTurns,
    report_progress: ProgressReporter,
) -> None:
    """Store the responses to all versions, and enter them into the books."""
    done = 0
    for version, stored in zip(checked.versions, survey.versions, strict=True):
        days = _days(version.days)
        for rows in _rows(archive, checked, version, stored, ids):
            for start in range(0, len(rows), _PART):
                values = rows[start : start + _PART]
                go_on(session, survey)
                connection = session.connection()
                # In the order of the keys, which lie so in the file.
                connection.execute(sa.insert(responses_of(survey.id)), sorted(values, key=itemgetter("id")))
                _count(connection, survey, checked.manifest, values, days)
                turns.after_a_part()
                done += len(values)
                report_progress(checked.responses + STORING * done, (1 + STORING) * checked.responses)
            turns.give_way()  # the next ones are read first


def _rows(
    archive: Archive,
    checked: Checked,
    version: Version,
    stored: SurveyVersion,
    ids: Mapping[int | None, int | None],
) -> Iterator[list[dict[str, Any]]]:
    """The responses to a version as rows of the new survey, some at a time."""
    for rows in checked.response_rows(archive, version):
        yield [
            {
                "id": secrets.token_bytes(16),
                "version_id": stored.id,
                "reports": reports,
                "day": surveys.today(),
                "stratum_id": ids[stratum],
                "mode": mode,
            }
            for stratum, mode, reports in zip(rows.strata, rows.modes, rows.reports, strict=True)
        ]


def _days(periods: Sequence[Period]) -> Iterator[date]:
    """As many days as responses, from which reports make these periods again."""
    for period in periods:
        yield period.first
        yield from repeat(period.last, period.n - 1)


def _count(
    connection: sa.Connection,
    survey: Survey,
    manifest: Document,
    rows: Sequence[Mapping[str, Any]],
    days: Iterator[date],
) -> None:
    """Enter stored rows into the books, with the days from which on they were shown; of a closed survey nothing waits.

    Which of them was shown when is not known: days stand beside the rows in the order of these.
    """
    batches.count(connection, {survey.id: len(rows)})
    minimum = survey.minimum if manifest["state"] == State.OPEN else 1
    groups: dict[CellKey, Group] = {}
    for row in rows:
        key = CellKey(row["version_id"], row["stratum_id"], row["mode"])
        group = groups.setdefault(key, Group(minimum, [], Counter(), dated=False))
        group.reports.append(row["reports"])
        group.days[next(days)] += 1
    batches.add(connection, survey.id, groups)
