"""Releases: counted, perturbed, booked and kept in one transaction, or not at all."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server import __version__
from server.inputs import N_, refuse
from server.releases.budgets import budget_of, covers_json, entries, read_released, value_json
from server.releases.dividing import divide
from server.releases.kinds import KINDS, Drawn, Query, drawn, query_of
from server.releases.marks import check_not_restored, debit
from server.releases.plans.reading import Item, Plan, item_json, plain
from server.releases.rights import Limits, check_may_release, limits_of
from server.releases.shapes import Shape, Source
from server.releases.sources import survey_shape, survey_source
from server.releases.spending import Booked, losses
from server.releases.values import Budget, Covers, Released
from server.store.models import LedgerEntry, Release, ReleasedValue, Researcher, Survey
from server.study import surveys


def make(session: Session, survey: Survey, plan: Plan, researcher: Researcher | None) -> tuple[Released, ...]:
    """Release what a plan asks for, in its order; what was released before is returned as it is, free.

    Nobody else releases from this survey meanwhile, and all responses are of one moment (`survey_access.lock`). The
    session must be one that writes. The caller commits: until then nothing is spent, and nothing may be
    shown.

    Raises
    ------
    InputError
        As `divide`; 409 on `epsilon` or `delta`, naming what is left, if the budget does not suffice.
    """
    shape, budget = survey_shape(session, survey), budget_of(session, survey)
    assert budget is not None  # survey_shape says so
    divided = divide(plan, shape, budget)
    before = _booked(session, survey)
    known = {entry.asked: place for place, entry in enumerate(before)}
    order: list[int] = []
    wanted: list[_Wanted] = []
    for place, item in enumerate(divided.items):
        asked = asked_of(item, shape)
        if item.anew or asked not in known:
            known[asked] = len(before) + len(wanted)
            wanted.append(_wanted(item, asked, shape, f"items[{place}]"))
        order.append(known[asked])
    if wanted:
        check_may_release(survey)
        check_not_restored(session, survey)
        _check_covered(limits_of(session, survey, budget), budget.neighbours, before, wanted)
        source = survey_source(session, survey)
        found = [(each, each.drawn(source, plan.confidence)) for each in wanted]
        covers = Covers(
            tuple(sorted(shape.versions)), survey.state, surveys.today(), source.shape.respondents
        )
        _book(session, survey, found, budget, covers, plan.confidence, researcher)
    stored = entries(session, survey)
    return tuple(read_released(place + 1, stored[place]) for place in order)


@dataclass(frozen=True)
class _Known:
    """What decides on later releases, of an entry that is in the ledger."""

    release: int
    asked: bytes
    epsilon: Decimal
    delta: Decimal
    strata: tuple[int, ...] | None


def _booked(session: Session, survey: Survey) -> list[_Known]:
    """The entries of the ledger, oldest first, without what they paid for."""
    query = (
        sa.select(
            Release.number, LedgerEntry.asked, LedgerEntry.epsilon, LedgerEntry.delta, LedgerEntry.strata
        )
        .select_from(LedgerEntry)
        .join(Release)
        .where(Release.survey_id == survey.id)
        .order_by(Release.number, LedgerEntry.position)
    )
    found = []
    for number, asked, epsilon, delta, strata in session.execute(query):
        keys = json.loads(strata)
        found.append(
            _Known(
                number, bytes(asked), Decimal(epsilon), Decimal(delta), None if keys is None else tuple(keys)
            )
        )
    return found


@dataclass(frozen=True)
class _Wanted:
    """An item to be paid for."""

    item: Item
    field: str
    asked: bytes
    query: Query
    epsilon: Decimal
    delta: Decimal
    strata: tuple[int, ...] | None

    def drawn(self, source: Source, confidence: float) -> Drawn:
        """Count, perturb, estimate: by the source's own shape, as somebody may have responded since the check."""
        return drawn(self.item, source, self.field, confidence)


def _wanted(item: Item, asked: bytes, shape: Shape, field: str) -> _Wanted:
    query = query_of(item, shape, field)
    assert item.epsilon is not None  # the plan was divided
    return _Wanted(item, field, asked, query, item.epsilon, item.delta, covered(query, shape))


def asked_of(item: Item, shape: Shape) -> bytes:
    """What makes two items the same question: everything but the price.

    A question of another version that has the same name and asks something else is another one. So is
    the same about strata, once there are more of them; another name or place in their list makes it no other one.
    """
    bare = replace(item, weight=None, error=None, epsilon=None, delta=Decimal(0), anew=False, stratum=())
    found = [shape.variable(name) for name in item.questions]
    identities = [variable.identity for variable in found if variable is not None]
    by_leaf = item.stratum or item.by_stratum or KINDS[item.kind].by_leaf
    within = shape.within(item.stratum) if by_leaf else ()
    leaves = sorted(shape.leaves[place].identity for place in within)
    written = json.dumps([item_json(bare), identities, leaves], sort_keys=True)
    return hashlib.sha256(written.encode()).digest()


def _name(researcher: Researcher) -> str:
    """Of the first researcher, who may have none yet, a number."""
    return researcher.name or researcher.login or f"researcher {researcher.id}"


def covered(query: Query, shape: Shape) -> tuple[int, ...] | None:
    """The ids of the strata that an item is about; None for all responses."""
    if len(query.leaves) == len(shape.leaves):
        return None
    return tuple(key for place in query.leaves for key in shape.leaves[place].keys)


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


def _check_covered(
    limits: Limits, neighbours: str, known: Sequence[_Known], wanted: Sequence[Booked]
) -> None:
    """Refuse what the budget does not cover; all of it or nothing is released."""
    booked = [each for each in known if each.release > limits.inherited]
    before = losses(neighbours, booked)
    after = losses(neighbours, [*booked, *wanted])
    granted = limits.epsilon, limits.delta
    for name, spent, total, whole in zip(("epsilon", "delta"), before, after, granted, strict=True):
        if total > whole:
            template = N_(
                "must leave what the releases together may lose at %(limit)s or less; "
                "%(left)s is left, and this needs %(value)s"
            )
            left, value = plain(max(whole - spent, Decimal(0))), plain(total - spent)
            raise refuse(409, name, template, limit=plain(whole), left=left, value=value)


def _book(
    session: Session,
    survey: Survey,
    drawn: Sequence[tuple[_Wanted, Drawn]],
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
                epsilon=plain(wanted.epsilon),
                delta=plain(wanted.delta),
                neighbours=budget.neighbours,
                strata=json.dumps(wanted.strata),
                released=ReleasedValue(document=json.dumps(document, ensure_ascii=False, allow_nan=False)),
            )
        )
    session.add(release)
    debit(session, survey)
