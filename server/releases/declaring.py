"""What an owner declares to have been spent of a survey, where its database cannot know it: an entry of the ledger."""

import hashlib
import json
import secrets
from decimal import Decimal

from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.releases.budgets import budget_of, value_json
from server.releases.making import new_release
from server.releases.plans.plan_reader import Item, ItemKind, format_decimal, item_json, parse_decimal
from server.releases.rights import MayRelease, check_may_release
from server.releases.spending_marks import debit, is_merely_unmarked
from server.releases.values import Covers
from server.store.models import LedgerEntry, PrivacyBudget, Release, ReleasedValue, Researcher, State, Survey
from server.study import surveys


def declare_spent(
    session: Session, survey: Survey, epsilon: str, delta: str, researcher: Researcher | None
) -> Release:
    """Book what was spent elsewhere: after a backup was restored, in a copy of the database, or by other means.

    It counts for everybody, and may be nothing. A budget that was set or changed after the backup comes back.
    The caller holds the survey, and commits.

    Raises
    ------
    InputError
        403 if the researcher is not the survey's owner; 409 if the survey was not published, has no budget or
        may not release; 422 on `epsilon` or `delta`, of which no more can be spent than the budget.
    """
    if researcher is not None and researcher.id != survey.owner_id:
        raise refuse(403, "survey", N_("allows this to its owner only"))
    check_may_release(survey)
    if survey.state == State.DRAFT:
        raise refuse(409, "survey", N_("must be published first; a draft has no results"))
    budget = budget_of(session, survey)
    if budget is None:
        raise refuse(409, "budget", N_("must be set first"))
    loss = parse_decimal(epsilon, "epsilon", Decimal(0), budget.epsilon)
    failure = parse_decimal(delta or "0", "delta", Decimal(0), budget.delta)
    row = session.get(PrivacyBudget, survey.id)
    if row is None:
        session.add(row := PrivacyBudget(survey_id=survey.id, set_at=surveys.now()))
    row.epsilon, row.delta, row.neighbours = (
        format_decimal(budget.epsilon),
        format_decimal(budget.delta),
        budget.neighbours,
    )
    numbers = tuple(sorted(version.number for version in survey.versions))
    release = new_release(session, survey, Covers(numbers, survey.state, surveys.today(), None), researcher)
    release.entries.append(
        LedgerEntry(
            position=1,
            what=json.dumps(item_json(Item(ItemKind.DECLARED))),
            asked=hashlib.sha256(secrets.token_bytes(32)).digest(),  # nothing that can be asked again
            mechanism="declared",
            epsilon=format_decimal(loss),
            delta=format_decimal(failure),
            neighbours=budget.neighbours,
            strata=json.dumps(None),
            released=ReleasedValue(document=json.dumps(value_json((), 0.95, {}))),
        )
    )
    session.add(release)
    debit(session, survey)
    return release


def vouch_for(session: Session, survey: Survey) -> bool:
    """Take an operator's word that nothing was spent of a survey that its database does not know.

    Only where nothing but a missing file speaks for it, and as `declare_spent` where there is a budget to declare
    from; whether that was so. The caller holds the survey, and commits.
    """
    if not is_merely_unmarked(session, survey):
        return False
    if survey.may_release in (MayRelease.OWN, MayRelease.SHARE) and budget_of(session, survey) is not None:
        declare_spent(session, survey, "0", "0", None)
    else:
        debit(session, survey)
    return True
