"""How many responses to a survey are stored, without counting them."""

import os
from collections.abc import Collection, Iterable, Mapping

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from server.models import ResponseCounter
from server.prepared import Prepared

_WRITERS = 16
_TABLE = ResponseCounter.metadata.tables[ResponseCounter.__tablename__]


def _upsert(insert: sqlite.Insert | postgresql.Insert) -> sa.Insert:
    return insert.on_conflict_do_update(
        index_elements=[_TABLE.c.survey_id, _TABLE.c.writer], set_={"n": _TABLE.c.n + insert.excluded.n}
    )


_ADD = {
    "sqlite": Prepared(_upsert(sqlite.insert(_TABLE))),
    "postgresql": Prepared(_upsert(postgresql.insert(_TABLE))),
}
_STORED = (
    sa.select(_TABLE.c.survey_id, sa.func.sum(_TABLE.c.n))
    .where(_TABLE.c.survey_id.in_(sa.bindparam("ids", expanding=True)))
    .group_by(_TABLE.c.survey_id)
)


def hold(connection: sa.Connection, surveys: Collection[int]) -> None:
    """Let others who store responses to these surveys, and hold them too, wait until the transaction ends."""
    if surveys and connection.dialect.name != "sqlite":  # which lets one write after the other
        rows = [{"survey_id": survey, "writer": 0, "n": 0} for survey in sorted(surveys)]
        _ADD[connection.dialect.name].run_each(connection, rows)


def count(connection: sa.Connection, numbers: Mapping[int, int]) -> None:
    """Count responses to surveys, in the transaction that stores them."""
    # Processes that write at the same time mostly have different numbers; SQLite lets one write after the other.
    writer = 0 if connection.dialect.name == "sqlite" else os.getpid() % _WRITERS
    rows = [{"survey_id": survey, "writer": writer, "n": n} for survey, n in sorted(numbers.items())]
    _ADD[connection.dialect.name].run_each(connection, rows)


def stored(connection: Session | sa.Connection, surveys: Iterable[int]) -> dict[int, int]:
    """The number of responses to surveys by their ids, those that wait included."""
    ids = list(surveys)
    found = dict.fromkeys(ids, 0)
    found.update((survey, int(n)) for survey, n in connection.execute(_STORED, {"ids": ids}))
    return found


def set_stored(connection: sa.Connection, survey: int, number: int) -> None:
    """Let the counters of a survey say this."""
    connection.execute(sa.delete(_TABLE).where(_TABLE.c.survey_id == survey))
    connection.execute(sa.insert(_TABLE).values(survey_id=survey, writer=0, n=number))
