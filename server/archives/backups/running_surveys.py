"""What a backup tells of a survey that still takes responses, and what is left out of one on request.

Left out are its codes and tickets, what signs these, the responses that are not shown yet, and the marks of those that
were taken back. In the copy it is closed, as nobody could say there who has answered already, and marked as incomplete;
what was taken back and is shown still stays shown there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import sqlalchemy as sa

from server.archives.backups.backup_rows import Row
from server.collect.batches import count_taken_back
from server.store import own_tables
from server.store.models import InvitationBatch, State, Survey, SurveyVersion, TicketKey, Untidied
from server.store.own_tables import cells_of
from server.study.surveys import find_closing, now

_LEFT_OUT = (own_tables.INVITATIONS, own_tables.WITHDRAWALS, own_tables.PURCHASES, own_tables.TICKETS)
_Waiting = Counter[tuple[int, int | None, int, bytes]]


@dataclass(frozen=True)
class Running:
    """A survey that is open: its id, the name in its address, and whether it has codes."""

    id: int
    slug: str
    invited: bool


def list_running(connection: sa.Connection) -> list[Running]:
    """The surveys that are open."""
    issued = sa.exists().where(InvitationBatch.survey_id == Survey.id)
    query = sa.select(Survey.id, Survey.slug, issued).where(Survey.state == State.OPEN).order_by(Survey.id)
    return [Running(*row) for row in connection.execute(query)]


def leave_out_shared(table: sa.Table, rows: Iterable[Row], running: Iterable[Running]) -> Iterator[Row]:
    """Rows of a table that all surveys share, without what tells of those that are running."""
    ids = {each.id for each in running}
    names = table.columns.keys()
    moment = now()
    number = 0
    for row in rows:
        values = dict(zip(names, row, strict=True))
        number = max(number, values["id"]) if table is Untidied.__table__ else 0
        if table is Survey.__table__ and values["id"] in ids:
            closed_at = find_closing(values["closes_at"], moment)
            closed = {"state": str(State.CLOSED), "closed_at": closed_at, "incomplete": True}
            yield list({**values, **closed}.values())
        elif table is TicketKey.__table__ and values["survey_id"] in ids:
            yield list({**values, "exponent_sealed": None}.values())
        elif table is not InvitationBatch.__table__ or values["survey_id"] not in ids:
            yield row
    if table is Untidied.__table__:  # they are closed there
        for place, survey_id in enumerate(sorted(ids), 1):
            added = dict.fromkeys(names) | {"id": number + place, "survey_id": survey_id, "since": moment}
            yield list({**added, "rewritten": False}.values())


def leave_out_own(
    connection: sa.Connection, kind: own_tables.TableKind, survey_id: int, rows: Iterable[Row]
) -> Iterator[Row]:
    """Rows of one of a running survey's own tables, without codes and what waits to be shown."""
    names = list(own_tables.table(kind, survey_id).columns.keys())
    if kind in _LEFT_OUT:
        return
    if kind is own_tables.COUNTERS:
        left_out = sum(_read_waiting(connection, survey_id).values()) + count_taken_back(
            connection, survey_id
        )
        yield [0, sum(n for _, n in rows) - left_out]
        return
    waiting = _read_waiting(connection, survey_id) if kind is own_tables.RESPONSES else Counter()
    for row in rows:
        values = dict(zip(names, row, strict=True))
        if kind is own_tables.CELLS:
            yield list({**values, "waiting_n": 0, "waiting": b""}.values())
        elif kind is own_tables.RESPONSES:
            # No row says whether it waits; of several with the same reports any will do.
            cell = values["version_id"], values["stratum_id"], values["mode"]
            held = (*cell, bytes(values["reports"]))
            if waiting[held]:
                waiting[held] -= 1
            else:
                yield row
        else:
            yield row


def _read_waiting(connection: sa.Connection, survey_id: int) -> _Waiting:
    cells = cells_of(survey_id).c
    query = (
        sa.select(
            cells.version_id,
            cells.stratum_id,
            cells.mode,
            cells.waiting,
            sa.func.length(SurveyVersion.reports),
        )
        .join(SurveyVersion, SurveyVersion.id == cells.version_id)
        .where(cells.waiting_n > 0)
    )
    found: _Waiting = Counter()
    for version, stratum, mode, waiting, length in connection.execute(query):
        strings = (bytes(waiting[start : start + length]) for start in range(0, len(waiting), length))
        found.update((version, stratum, mode, string) for string in strings)
    return found
