"""The database held against what must always be so: `python -m server check`, and in its quick form at each start.

What is quick looks at tables, triggers, versions and ledgers, and at no row that respondents left behind.
"""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.invariants.broken_invariants import BrokenInvariant
from server.archives.invariants.row_checks import check_counts, check_references
from server.archives.invariants.schema_checks import check_tables, check_triggers
from server.archives.invariants.secret_checks import check_secrets
from server.archives.invariants.survey_checks import check_ledgers, check_versions
from server.store.models import Survey

QUICK = {
    "schema": check_tables,
    "triggers": check_triggers,
    "versions": check_versions,
    "ledgers": check_ledgers,
}
FULL = {**QUICK, "secrets": check_secrets, "references": check_references, "counts": check_counts}
"""What is checked, by the name that is printed; the later ones only where the schema is whole."""


def find_broken(session: Session, *, quick: bool) -> list[BrokenInvariant]:
    """What does not hold, of each invariant in its order; the caller sees one moment of the database."""
    ids = list(session.scalars(sa.select(Survey.id).order_by(Survey.id)))
    findings: list[BrokenInvariant] = []
    for name, check in (QUICK if quick else FULL).items():
        if any(each.name == "schema" for each in findings):
            findings.append(BrokenInvariant(name, "not looked at, as the schema is not whole"))
            continue
        findings += [BrokenInvariant(name, problem) for problem in check(session, ids)]
    return findings


__all__ = ["FULL", "QUICK", "BrokenInvariant", "find_broken"]
