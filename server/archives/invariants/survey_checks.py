"""Whether published versions are as they were published, and ledgers within their budgets."""

import json
from collections.abc import Iterator, Sequence
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.releases import read_ledger
from server.releases.plans.items import ItemKind
from server.releases.rights import Limits, MayRelease, limits_of, spent_within
from server.store.models import LedgerEntry, Release, State, StudySheetRow, Survey, SurveyVersion
from server.study import surveys
from server.study.definitions import version_of
from server.study.study_sheets import parse_study_sheet


def check_versions(session: Session, _ids: Sequence[int]) -> Iterator[str]:
    """Each version has the SHA-256 that it was published under, and says how many reports its designs have."""
    slugs = {number: slug for number, slug in session.execute(sa.select(Survey.id, Survey.slug))}
    query = sa.select(SurveyVersion).order_by(SurveyVersion.survey_id, SurveyVersion.number)
    for version in session.scalars(query, execution_options={"yield_per": 100}):
        name = f"version {version.number} of survey {slugs.get(version.survey_id, version.survey_id)}"
        if version_of(version.published) != version.sha256:
            yield f"{name} is not what was published: its SHA-256 is another one"
            continue
        try:
            designs = surveys.definition_of(version).designs
        except (ValueError, LookupError, TypeError, AttributeError):
            yield f"{name} is no definition of a survey"
            continue
        if bytes(design.weights.shape[1] for design in designs) != version.reports:
            yield f"{name} says another number of reports than its designs have"
    published = sa.exists().where(SurveyVersion.survey_id == Survey.id)
    drafts = sa.select(Survey.slug).where(
        Survey.state == State.DRAFT, published, Survey.arriving_until.is_(None)
    )
    others = sa.select(Survey.slug).where(Survey.state != State.DRAFT, ~published)
    yield from (f"survey {slug} is a draft, and was published" for slug in session.scalars(drafts))
    yield from (f"survey {slug} is no draft, and was never published" for slug in session.scalars(others))


def check_drafts(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """Each survey has the draft that stands now."""
    for survey_id in ids:
        survey = session.get_one(Survey, survey_id)
        try:
            surveys.draft_document(survey)
        except (ValueError, LookupError, TypeError, AttributeError):
            yield f"survey {survey.slug} has no draft that can be read"


def check_study_sheets(session: Session, _ids: Sequence[int]) -> Iterator[str]:
    """Each study sheet is one that would be taken today."""
    query = sa.select(Survey.slug, StudySheetRow.document).join(StudySheetRow).order_by(Survey.id)
    for slug, document in session.execute(query):
        try:
            parse_study_sheet(json.loads(document))
        except (ValueError, RecursionError):
            yield f"survey {slug} has a study sheet that cannot be read"


def check_ledgers(session: Session, ids: Sequence[int]) -> Iterator[str]:
    """What was released is numbered without a gap, has its values, and is within what could be spent."""
    released = set(session.scalars(sa.select(Release.survey_id).distinct()))
    for survey_id in ids:
        if survey_id in released:
            survey = session.get_one(Survey, survey_id)
            try:
                problems = list(_check_ledger(session, survey))
            except (ValueError, ArithmeticError, LookupError, TypeError, AttributeError):
                problems = ["its ledger cannot be read"]
            yield from (f"survey {survey.slug}: {problem}" for problem in problems)


def _check_ledger(session: Session, survey: Survey) -> Iterator[str]:
    releases = session.scalars(
        sa.select(Release).where(Release.survey_id == survey.id).order_by(Release.number)
    ).all()
    if [each.number for each in releases] != list(range(1, len(releases) + 1)):
        yield "the numbers of its releases have a gap"
    without = sa.select(LedgerEntry).join(Release).where(Release.survey_id == survey.id)
    if session.scalar(sa.select(sa.exists(without.where(~LedgerEntry.released.has())))):
        yield "an entry of its ledger has no value"
        return
    ledger = read_ledger(session, survey)
    if ledger.budget is None:
        yield "there are releases, and no budget"
        return
    limits = limits_of(session, survey, ledger.budget)
    if survey.may_release in (MayRelease.COPY, MayRelease.MOVED):
        # What came along, or was released before it moved, counts against the budget that it had.
        limits = Limits(ledger.budget.epsilon, ledger.budget.delta, survey.inherited)
    # What was spent elsewhere is declared as it was, be it more than there was.
    own = [(each.release, each) for each in ledger.released if each.item.kind != ItemKind.DECLARED]
    epsilon, delta = spent_within(limits, ledger.budget.neighbours, own)
    if epsilon > max(limits.epsilon, Decimal(0)) or delta > max(limits.delta, Decimal(0)):
        yield (
            f"its releases spent epsilon {epsilon}, delta {delta}, of at most {limits.epsilon}, {limits.delta}"
        )
