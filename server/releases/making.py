"""Releases: counted, perturbed, booked and kept in one transaction, or not at all."""

import json
from collections.abc import Sequence
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import __version__
from server.inputs import N_, refuse
from server.releases.basis import Basis, PricedItem, identify_item, load_basis
from server.releases.budgets import covers_json, read_entries, read_released, value_json
from server.releases.dividing import divide
from server.releases.kinds import ItemDraw, draw_item
from server.releases.plans.plan_reader import ReleasePlan, format_decimal, item_json
from server.releases.rights import check_may_release
from server.releases.spending import Booked
from server.releases.spending_marks import check_not_restored, debit
from server.releases.survey_shapes import Shape
from server.releases.survey_sources import survey_source
from server.releases.values import Budget, Covers, Released
from server.store.models import LedgerEntry, Release, ReleasedValue, Researcher, Survey
from server.study import surveys


def make(
    session: Session,
    survey: Survey,
    plan: ReleasePlan,
    researcher: Researcher | None,
    basis: Basis | None = None,
) -> tuple[Released, ...]:
    """Release what a plan asks for, in its order; what was released before is returned as it is, free.

    Nobody else releases from this survey meanwhile, and all responses are of one moment (`survey_access.lock`). The
    session must be one that writes. The caller commits: until then nothing is spent, and nothing may be
    shown.

    Parameters
    ----------
    basis : Basis or None
        What the caller has read of the survey since it holds it; read here without it.

    Raises
    ------
    InputError
        As `divide`; 409 on `epsilon` or `delta`, naming what is left, if the budget does not suffice; on
        `survey` if the number of respondents would be told, and results are about nobody.
    """
    basis = basis or load_basis(session, survey)
    shape = basis.shape
    before = basis.ledger.released
    known = {asked: place for place, asked in enumerate(basis.asked)}
    order: list[int] = []
    wanted: list[PricedItem] = []
    for place, item in enumerate(divide(plan, shape, basis.budget).items):
        asked = identify_item(item, shape)
        if item.anew or asked not in known:
            known[asked] = len(before) + len(wanted)
            wanted.append(basis.want(item, f"items[{place}]"))
        order.append(known[asked])
    if not wanted:
        return tuple(before[place] for place in order)
    check_may_release(survey)
    check_not_restored(session, survey)
    check_shown(survey, shape)
    check_covered(basis, wanted)
    source = survey_source(session, survey)
    # By the source's own shape: somebody may have responded since the check.
    found = [(each, draw_item(each.item, source, each.field, plan.confidence)) for each in wanted]
    covers = Covers(tuple(sorted(shape.versions)), survey.state, surveys.today(), source.shape.respondents)
    _book(session, survey, found, basis.budget, covers, plan.confidence, researcher)
    stored = read_entries(session, survey)
    return tuple(read_released(place + 1, stored[place]) for place in order)


def _name(researcher: Researcher) -> str:
    """Of the first researcher, who may have none yet, a number."""
    return researcher.name or researcher.login or f"researcher {researcher.id}"


def new_release(session: Session, survey: Survey, covers: Covers, researcher: Researcher | None) -> Release:
    """The next release of a survey, without entries yet, and not stored yet."""
    last = session.scalar(sa.select(sa.func.max(Release.number)).where(Release.survey_id == survey.id))
    return Release(
        survey_id=survey.id,
        number=(last or 0) + 1,
        made_at=surveys.now(),
        researcher_id=None if researcher is None else researcher.id,
        made_by="" if researcher is None else _name(researcher),
        software=f"Moneda {__version__}",
        covers=json.dumps(covers_json(covers)),
    )


def check_shown(survey: Survey, shape: Shape) -> None:
    """Refuse what would tell exactly how many responded where results are about nobody.

    Raises
    ------
    InputError
        409.
    """
    if shape.respondents == 0:
        template = N_("must show at least %(limit)s responses: a release would tell their exact number")
        raise refuse(409, "survey", template, limit=survey.minimum)


def check_covered(basis: Basis, booked: Sequence[Booked]) -> None:
    """Refuse what the budget does not cover; all of it or nothing is released.

    Raises
    ------
    InputError
        409 on `epsilon` or `delta`.
    """
    before, after = basis.add_losses(booked)
    granted = basis.limits.epsilon, basis.limits.delta
    for name, spent, total, whole in zip(("epsilon", "delta"), before, after, granted, strict=True):
        if total > whole:
            template = N_(
                "must leave what the releases together may lose at %(limit)s or less; "
                "%(left)s is left, and this needs %(value)s"
            )
            left, value = format_decimal(max(whole - spent, Decimal(0))), format_decimal(total - spent)
            raise refuse(409, name, template, limit=format_decimal(whole), left=left, value=value)


def _book(
    session: Session,
    survey: Survey,
    drawn: Sequence[tuple[PricedItem, ItemDraw]],
    budget: Budget,
    covers: Covers,
    confidence: float,
    researcher: Researcher | None,
) -> None:
    """Write a release with its entries and values, all at once."""
    release = new_release(session, survey, covers, researcher)
    for position, (wanted, found) in enumerate(drawn, start=1):
        document = value_json(found.figures, confidence, found.notes)
        release.entries.append(
            LedgerEntry(
                position=position,
                what=json.dumps(item_json(wanted.item), ensure_ascii=False),
                asked=wanted.asked,
                mechanism=wanted.query.mechanism,
                epsilon=format_decimal(wanted.epsilon),
                delta=format_decimal(wanted.delta),
                neighbours=budget.neighbours,
                strata=json.dumps(wanted.strata),
                released=ReleasedValue(document=json.dumps(document, ensure_ascii=False, allow_nan=False)),
            )
        )
    session.add(release)
    debit(session, survey)
