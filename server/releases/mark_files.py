"""The file outside a database that `spending_marks` keeps: read, begun, and changed by one at a time."""

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.store.engines import engine_of
from server.store.models import Debit, Server, Survey, SurveyVersion
from server.store.outside_files import find_outside_file, hash_name
from server.store.private_files import lock_beside, replace_file

_FORMAT = 1


@dataclass(frozen=True)
class Newest:
    """The newest debit of a survey: its number there, its name, and epsilon, delta and neighbours of its budget."""

    number: int
    token: str
    budget: tuple[str, str, str] | None = None


@dataclass(frozen=True)
class Mark:
    """What the file says: of which database it is, the newest debit of surveys, and the rights that were taken.

    Surveys and rights are named by hashes, so that the file leads to none of them.
    """

    server: str
    surveys: Mapping[str, Newest] = field(default_factory=dict)
    taken: frozenset[str] = frozenset()


_BEGUN = "begun "
"""What the names begin with that were made up where there was no file."""


def begin_doubted(number: int) -> Newest:
    """A debit that may have been: the file begins here, and says nothing of what was before."""
    return Newest(number, f"{_BEGUN}{secrets.token_hex(13)}")


def is_begun(newest: Newest | None) -> bool:
    """Whether nothing but a missing file speaks for a debit."""
    return newest is not None and newest.token.startswith(_BEGUN)


def unknown(number: int) -> Newest:
    """A debit that no database knows."""
    return Newest(number, secrets.token_hex(16))


def read_mark(session: Session) -> Mark:
    """The mark of a database; where there is none of it, a new one, by which nothing published is known."""
    server = _server(session)
    mark = _parse(_path(session, server))
    if mark is None or mark.server != server:
        return change_mark(session, lambda made: made)
    return mark


def change_mark(session: Session, change: Callable[[Mark], Mark]) -> Mark:
    """Let nobody else write meanwhile; once this returns, what was changed is on the disk.

    Raises
    ------
    InputError
        503 if the file cannot be written.
    """
    server = _server(session)
    path = _path(session, server)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock_beside(path):
            mark = _parse(path)
            if mark is None or mark.server != server:
                mark = _begin_mark(session, server, mark)
            mark = change(mark)
            replace_file(path, json.dumps(_document(mark), indent=1).encode())
    except OSError as error:
        template = N_("must be a file that can be written; %(value)s is not: %(reason)s")
        raise refuse(503, "mark", template, value=str(path), reason=error.strerror or "") from error
    return mark


def name_presence(session: Session) -> Path:
    """The file beside it on which whoever serves holds a lock (`server.web.fleet`)."""
    path = _path(session, _server(session))
    return path.with_name(f"{path.name}.servers")


def _begin_mark(session: Session, server: str, other: Mark | None) -> Mark:
    published = session.execute(
        sa.select(Survey.slug, sa.func.max(sa.func.coalesce(Debit.number, 0)))
        .join(SurveyVersion, SurveyVersion.survey_id == Survey.id)
        .outerjoin(Debit, Debit.survey_id == Survey.id)
        .group_by(Survey.slug)
    )
    doubted = {hash_name(slug): begin_doubted(number) for slug, number in published}
    return Mark(
        server,
        {**(other.surveys if other else {}), **doubted},
        other.taken if other else frozenset(),
    )


def _server(session: Session) -> str:
    return session.scalars(sa.select(Server.id)).one()


def _path(session: Session, server: str) -> Path:
    return find_outside_file(engine_of(session).url, server, ".spent")


def _parse(path: Path) -> Mark | None:
    """None where there is no file, or none as it was written here."""
    try:
        document = json.loads(path.read_bytes())
        if document["format"] != _FORMAT:
            return None
        surveys = {
            str(name): Newest(int(number), str(token), _budget(*budget))
            for name, number, token, *budget in document["surveys"]
        }
        return Mark(str(document["server"]), surveys, frozenset(map(str, document["taken"])))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _budget(*stated: object) -> tuple[str, str, str] | None:
    if not stated:
        return None
    epsilon, delta, neighbours = stated
    return str(epsilon), str(delta), str(neighbours)


def _document(mark: Mark) -> dict[str, Any]:
    surveys = [
        [name, newest.number, newest.token, *(newest.budget or ())]
        for name, newest in sorted(mark.surveys.items())
    ]
    return {"format": _FORMAT, "server": mark.server, "surveys": surveys, "taken": sorted(mark.taken)}
