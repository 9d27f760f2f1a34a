"""The central budget of a survey and its ledger, read and added up."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload, selectinload

from server.inputs import N_, refuse
from server.releases.plans.plan_reader import (
    MOST_DELTA,
    MOST_EPSILON,
    format_decimal,
    parse_decimal,
    read_item,
)
from server.releases.rights import MayRelease, check_may_release, limits_of, list_given_rights, spent_within
from server.releases.spending import sum_spent
from server.releases.spending_marks import check_not_restored, forgotten_budget, is_restored
from server.releases.values import Budget, Covers, Figure, Ledger, Released
from server.store.models import LedgerEntry, PrivacyBudget, Release, Researcher, Survey
from server.study import surveys

NEIGHBOURS = ("unbounded", "bounded")


def set_budget(
    session: Session,
    survey: Survey,
    epsilon: Decimal | str | float,
    delta: Decimal | str | float,
    neighbours: str,
    researcher: Researcher | None,
) -> PrivacyBudget:
    """Set what all releases may lose together; only before the first one.

    Raises
    ------
    InputError
        422 on `epsilon`, `delta` or `neighbours`; 403 if the researcher is not the survey's owner; 409
        on `budget` if something was released or given away, on `survey` if it may not release, or was
        restored and its budget is known: that one stays.
    """
    if researcher is not None and researcher.id != survey.owner_id:
        raise refuse(403, "survey", N_("allows this to its owner only"))
    check_may_release(survey)
    loss = parse_decimal(_as_text(epsilon), "epsilon", Decimal(0), MOST_EPSILON, above=True)
    failure = parse_decimal(_as_text(delta), "delta", Decimal(0), MOST_DELTA)
    if neighbours not in NEIGHBOURS:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, "neighbours", template, limit=", ".join(NEIGHBOURS), value=neighbours)
    if session.scalar(sa.select(sa.exists().where(Release.survey_id == survey.id))) or list_given_rights(
        session, survey
    ):
        raise refuse(409, "budget", N_("must stay as it was before the first release"))
    budget = session.get(PrivacyBudget, survey.id, populate_existing=True)
    if budget is not None or forgotten_budget(session, survey) is not None:
        check_not_restored(session, survey)
    if budget is None:
        session.add(budget := PrivacyBudget(survey_id=survey.id))
    budget.epsilon, budget.delta, budget.neighbours = (
        format_decimal(loss),
        format_decimal(failure),
        neighbours,
    )
    budget.set_at = surveys.now()
    session.flush()
    return budget


def _as_text(number: object) -> object:
    return format_decimal(number) if isinstance(number, Decimal) and number.is_finite() else number


def budget_of(session: Session, survey: Survey) -> Budget | None:
    """A survey's budget, if it was set; of a restored one, that of which something was spent since, if it is known."""
    forgotten = forgotten_budget(session, survey)
    if forgotten is not None:
        return Budget(Decimal(forgotten[0]), Decimal(forgotten[1]), forgotten[2])
    row = session.get(PrivacyBudget, survey.id)
    return None if row is None else Budget(Decimal(row.epsilon), Decimal(row.delta), row.neighbours)


def read_ledger(session: Session, survey: Survey) -> Ledger:
    """A survey's budget and everything that was released from it."""
    return ledger_of(session, survey, read_entries(session, survey))


def ledger_of(session: Session, survey: Survey, stored: Sequence[LedgerEntry]) -> Ledger:
    """The same where the entries were read already."""
    budget = budget_of(session, survey)
    released = tuple(read_released(number, entry) for number, entry in enumerate(stored, start=1))
    together = sum_spent(budget, released)
    restored = is_restored(session, survey)
    if budget is None:
        return Ledger(budget, released, together, may_release=survey.may_release, restored=restored)
    limits = limits_of(session, survey, budget)
    lost = spent_within(limits, budget.neighbours, [(each.release, each) for each in released])
    left = max(limits.epsilon - lost[0], Decimal(0)), max(limits.delta - lost[1], Decimal(0))
    if restored or survey.may_release in (MayRelease.COPY, MayRelease.MOVED):
        left = Decimal(0), Decimal(0)
    return Ledger(budget, released, together, *left, survey.may_release, restored)


def read_entries(session: Session, survey: Survey) -> Sequence[LedgerEntry]:
    """The entries of a survey's ledger, oldest first."""
    query = (
        sa.select(LedgerEntry)
        .join(Release)
        .where(Release.survey_id == survey.id)
        .order_by(Release.number, LedgerEntry.position)
        .options(
            joinedload(LedgerEntry.release),
            joinedload(LedgerEntry.released),
            selectinload(LedgerEntry.answers),
        )
    )
    return session.scalars(query).all()


def read_released(number: int, entry: LedgerEntry) -> Released:
    """A stored entry and what it paid for."""
    document = read_released_document(entry)
    release = entry.release
    strata = json.loads(entry.strata)
    return Released(
        entry=number,
        release=release.number,
        item=read_item(json.loads(entry.what)),
        mechanism=entry.mechanism,
        epsilon=Decimal(entry.epsilon),
        delta=Decimal(entry.delta),
        neighbours=entry.neighbours,
        confidence=document["confidence"],
        made_at=release.made_at,
        made_by=release.made_by,
        software=release.software,
        covers=_covers(json.loads(release.covers)),
        strata=None if strata is None else tuple(strata),
        figures=tuple(_figure(figure) for figure in document["figures"]),
        notes=document["notes"],
    )


def read_released_document(entry: LedgerEntry) -> dict[str, Any]:
    """What an entry paid for, as it is stored; of a search with all that it was asked since."""
    document: dict[str, Any] = json.loads(entry.released.document)
    figures = [
        Figure("above", tuple((name, text) for name, text in json.loads(each.place)), int(each.above))
        for each in entry.answers
    ]
    return {**document, "figures": [*document["figures"], *_figures_json(figures)]}


def covers_json(covers: Covers) -> dict[str, Any]:
    """As it is stored with a release."""
    return {
        "versions": list(covers.versions),
        "state": covers.state,
        "until": covers.until.isoformat(),
        "respondents": covers.respondents,
    }


def _covers(document: dict[str, Any]) -> Covers:
    until = date.fromisoformat(document["until"])
    return Covers(tuple(document["versions"]), document["state"], until, document["respondents"])


def value_json(figures: Iterable[Figure], confidence: float, notes: Mapping[str, object]) -> dict[str, Any]:
    """As it is stored with its entry."""
    return {"confidence": confidence, "figures": _figures_json(figures), "notes": dict(notes)}


def _figures_json(figures: Iterable[Figure]) -> list[dict[str, Any]]:
    return [
        {
            "statistic": figure.statistic,
            "place": [list(pair) for pair in figure.place],
            "value": figure.value,
            "standard_error": figure.standard_error,
            "low": figure.low,
            "high": figure.high,
        }
        for figure in figures
    ]


def _figure(document: dict[str, Any]) -> Figure:
    place = tuple((name, answer) for name, answer in document["place"])
    rest = (document[name] for name in ("value", "standard_error", "low", "high"))
    return Figure(document["statistic"], place, *rest)
