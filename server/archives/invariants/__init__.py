"""The database held against what must always be so: `python -m server check`, and in its quick form at each start.

What is quick looks at tables, triggers, versions and ledgers, and at no row that respondents left behind.
"""

from collections.abc import Callable, Iterator, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.invariants.broken_invariants import BrokenInvariant
from server.archives.invariants.row_checks import check_counts, check_references
from server.archives.invariants.schema_checks import check_file, check_tables, check_triggers
from server.archives.invariants.secret_checks import check_secrets
from server.archives.invariants.survey_checks import (
    check_drafts,
    check_ledgers,
    check_study_sheets,
    check_versions,
)
from server.store.failures import Failure, describe_failure, find_failure
from server.store.models import Survey

_Check = Callable[[Session, Sequence[int]], Iterator[str]]

QUICK: dict[str, _Check] = {
    "schema": check_tables,
    "triggers": check_triggers,
    "versions": check_versions,
    "ledgers": check_ledgers,
}
FULL: dict[str, _Check] = {
    "file": check_file,
    **QUICK,
    "drafts": check_drafts,
    "study sheets": check_study_sheets,
    "secrets": check_secrets,
    "references": check_references,
    "counts": check_counts,
}
"""What is checked, by the name that is printed; the later ones only where file and schema are whole."""


def _begin_silently(_name: str) -> None:
    """Nobody waits."""


def find_broken(
    session: Session, *, quick: bool, begin: Callable[[str], None] = _begin_silently
) -> list[BrokenInvariant]:
    """What does not hold, of each invariant in its order; the caller sees one moment of the database.

    `begin` learns which one is looked at next.
    """
    ids: list[int] = []
    if sa.inspect(session.connection()).has_table(Survey.__tablename__):
        ids = list(session.scalars(sa.select(Survey.id).order_by(Survey.id)))
    findings: list[BrokenInvariant] = []
    for name, check in (QUICK if quick else FULL).items():
        begin(name)
        if any(each.name in ("file", "schema") for each in findings):
            findings.append(BrokenInvariant(name, "not looked at, as file or schema is not whole"))
            continue
        findings += [BrokenInvariant(name, problem) for problem in _find_problems(check, session, ids)]
    return findings


def _find_problems(check: _Check, session: Session, ids: Sequence[int]) -> list[str]:
    """What a check finds; that it cannot read what is there is found as well, but a lost connection is not."""
    try:
        return list(check(session, ids))
    except Exception as error:
        if find_failure(error) not in (None, Failure.DAMAGED):
            raise
        session.rollback()  # PostgreSQL goes on with nothing else in a transaction in which something failed
        return [f"what is stored cannot be read: {describe_failure(error)}"]


__all__ = ["FULL", "QUICK", "BrokenInvariant", "find_broken"]
