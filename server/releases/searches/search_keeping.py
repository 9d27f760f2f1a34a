"""Searches in the database: opened and paid for, asked one thing at a time, and read."""

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, InputError, refuse, shorten_value
from server.releases.basis import Basis, load_basis
from server.releases.budgets import read_ledger, value_json
from server.releases.making import check_covered, check_shown, new_release
from server.releases.plans.items import ItemKind
from server.releases.plans.plan_reader import format_decimal, item_json, read_item
from server.releases.rights import MayRelease, check_may_release
from server.releases.searches.search_questions import SearchQuestion
from server.releases.searches.search_secrets import seal_search, unseal_search
from server.releases.searches.search_terms import MOST_QUESTIONS, SearchTerms, draw_search, price_search
from server.releases.spending_marks import check_not_restored, debit
from server.releases.survey_sources import survey_shape, survey_source
from server.releases.values import Covers, Released
from server.store.models import (
    Debit,
    LedgerEntry,
    Release,
    ReleasedValue,
    Researcher,
    Search,
    SearchAnswer,
    State,
    Survey,
)
from server.store.sealed_secrets import keep_key
from server.study import surveys


class SearchState(StrEnum):
    """Whether a search goes on, and if not, why."""

    GOES_ON = "goes on"
    FOUND = "found"
    """As many answers were above as there may be."""
    ASKED = "asked"
    """As many questions were asked as were announced."""
    ENDED = "ended"
    """It was opened in another copy of the survey, or something was declared as spent since: nobody goes on with it."""


@dataclass(frozen=True)
class SearchRecord:
    """A search and what it was asked: the figures of its entry, oldest first."""

    entry: Released
    state: SearchState

    @property
    def number(self) -> int:
        """That of the release in which it was opened."""
        return self.entry.release

    @property
    def hits(self) -> int:
        """How many answers were above."""
        return sum(figure.value == 1 for figure in self.entry.figures)


@dataclass(frozen=True)
class _StoredSearch:
    """A search as it is stored: its entry, and what it needs to go on."""

    entry: LedgerEntry
    search: Search | None


def open_search(
    session: Session,
    survey: Survey,
    terms: SearchTerms,
    researcher: Researcher | None,
    basis: Basis | None = None,
) -> int:
    """Open a search and book all of its price; its number. The caller holds the survey, and commits.

    Raises
    ------
    InputError
        409 on `survey` if it is not closed, has nothing to ask about, may not release or was restored; on `epsilon` or
        `delta` if the budget does not suffice.
    """
    basis = basis or load_basis(session, survey)
    check_may_release(survey)
    check_not_restored(session, survey)
    if survey.state != State.CLOSED:
        raise refuse(
            409, "survey", N_("must be closed: all answers of a search are about the same responses")
        )
    check_shown(survey, basis.shape)
    price, item, noise = price_search(basis, terms), terms.item, terms.noise
    check_covered(basis, [price])
    document = value_json(
        (), 0.95, {"redrawn": int(noise.redrawn), "noise_people": price.noise, "error_people": price.error}
    )
    entry = LedgerEntry(
        position=1,
        what=json.dumps(item_json(item)),
        asked=hashlib.sha256(secrets.token_bytes(32)).digest(),  # another one is another search
        mechanism="sparse_vector",
        epsilon=format_decimal(price.epsilon),
        delta=format_decimal(price.delta),
        neighbours=basis.budget.neighbours,
        strata=json.dumps(None),
        released=ReleasedValue(document=json.dumps(document, allow_nan=False)),
    )
    numbers = tuple(sorted(basis.shape.versions))
    covers = Covers(numbers, survey.state, surveys.today(), basis.shape.respondents)
    release = new_release(session, survey, covers, researcher)
    release.entries.append(entry)
    session.add(release)
    debit(session, survey)
    session.flush()
    ongoing = draw_search(terms)
    keep_key(session)
    session.add(
        Search(entry_id=entry.id, sealed=seal_search(entry.id, ongoing), paid=_last_debit(session, survey))
    )
    session.flush()
    return release.number


def ask_search(
    session: Session, survey: Survey, number: int, question: str, option: str, stratum: Sequence[str] = ()
) -> bool:
    """Whether an answer is above the limit of a search; what was asked before is answered as it was then.

    The caller holds the survey, so that nobody else asks meanwhile, and commits: until then nothing may be shown.

    Raises
    ------
    InputError
        404 on `search` if there is none of that number; 422 on `question`, `answer` or `stratum`;
        409 if the search does not go on, on `survey` if it may not release or was restored.
    """
    keep_key(session)
    stored_search = _find(session, survey, number)
    item, shape = read_item(json.loads(stored_search.entry.what)), survey_shape(session, survey)
    wanted = SearchQuestion.of(item, shape, question, option, stratum)
    asked = wanted.asked
    known = next((each for each in stored_search.entry.answers if each.asked == asked), None)
    check_not_restored(session, survey)
    if known is not None:
        return known.above
    check_may_release(survey)
    kept = _require_ongoing(session, survey, stored_search)
    left = item.positives - sum(each.above for each in stored_search.entry.answers)
    ongoing = unseal_search(kept, item.positives, left)
    above, after = wanted.compare(ongoing, survey_source(session, survey))
    stored_search.entry.answers.append(
        SearchAnswer(
            number=len(stored_search.entry.answers) + 1,
            asked=asked,
            place=json.dumps(wanted.place, ensure_ascii=False),
            above=above,
            answered_at=surveys.now(),
        )
    )
    kept.sealed = seal_search(kept.entry_id, after)
    debit(session, survey)
    return above


def list_searches(session: Session, survey: Survey) -> tuple[SearchRecord, ...]:
    """The searches of a survey, oldest first, with what they were asked."""
    released = read_ledger(session, survey).released
    return tuple(
        SearchRecord(entry, _state(session, survey, _find(session, survey, entry.release)))
        for entry in released
        if entry.item.kind == ItemKind.SEARCH
    )


def find_search(session: Session, survey: Survey, number: int) -> SearchRecord:
    """One search.

    Raises
    ------
    InputError
        404 on `search`.
    """
    record = next((each for each in list_searches(session, survey) if each.number == number), None)
    if record is None:
        raise _refuse_unknown(number)
    return record


def _find(session: Session, survey: Survey, number: int) -> _StoredSearch:
    query = (
        sa.select(LedgerEntry, Search)
        .join(Release)
        .outerjoin(Search, Search.entry_id == LedgerEntry.id)
        .where(Release.survey_id == survey.id, Release.number == number)
    )
    for entry, kept in session.execute(query.execution_options(populate_existing=True)):
        if read_item(json.loads(entry.what)).kind == ItemKind.SEARCH:
            return _StoredSearch(entry, kept)
    raise _refuse_unknown(number)


def _refuse_unknown(number: int) -> InputError:
    template = N_("is not one of this survey; it is %(value)s")
    return refuse(404, "search", template, value=shorten_value(str(number)))


def _state(session: Session, survey: Survey, search: _StoredSearch) -> SearchState:
    item = read_item(json.loads(search.entry.what))
    if sum(each.above for each in search.entry.answers) >= item.positives:
        return SearchState.FOUND
    if len(search.entry.answers) >= (item.most or MOST_QUESTIONS):
        return SearchState.ASKED
    if search.search is None or survey.may_release in (MayRelease.COPY, MayRelease.MOVED):
        return SearchState.ENDED
    # Whoever declared what was spent answered for a database that may have forgotten answers.
    declared = sa.exists().where(
        Debit.survey_id == survey.id, Debit.number > search.search.paid, Debit.answers.is_not(None)
    )
    return SearchState.ENDED if session.scalar(sa.select(declared)) else SearchState.GOES_ON


def _require_ongoing(session: Session, survey: Survey, search: _StoredSearch) -> Search:
    item = read_item(json.loads(search.entry.what))
    state = _state(session, survey, search)
    if state == SearchState.FOUND:
        template = N_("has found as many answers above its limit as it may, %(limit)s; nothing more is said")
        raise refuse(409, "search", template, limit=item.positives)
    if state == SearchState.ASKED:
        template = N_("has been asked as many questions as it may, %(limit)s; nothing more is said")
        raise refuse(409, "search", template, limit=item.most or MOST_QUESTIONS)
    if search.search is None or state == SearchState.ENDED:
        template = N_("has ended: it was opened elsewhere, or the survey was restored from a backup since")
        raise refuse(409, "search", template)
    return search.search


def _last_debit(session: Session, survey: Survey) -> int:
    return session.scalars(sa.select(sa.func.max(Debit.number)).where(Debit.survey_id == survey.id)).one()
