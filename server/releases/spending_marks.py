"""A mark outside the database of what its surveys spent, by which a restored backup is noticed.

A restored database has forgotten what was released since the backup, and given to copies. So every debit gets
a random name, and the newest one of each survey stands in a small file as well, on the disk before anything that it
paid for is shown. Where the database lacks the name in the file, it is an older one: nothing more is spent of that
survey until its owner has declared what was spent meanwhile, which is a debit that answers the name in the file. The
budget stands beside the name, as it may have been set or changed after the backup.

Without its file a database may be any: then every survey that was published counts as restored. What this
cannot notice is a file that was restored, or copied, together with its database.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse
from server.releases.mark_files import Mark, Newest, change_mark, is_begun, read_mark, unknown
from server.store.engines import do_after_commit, engine_of, open_session, waits_for_commit
from server.store.models import Debit, PrivacyBudget, Survey, SurveyVersion, TakenRight
from server.store.outside_files import hash_name


def is_restored(session: Session, survey: Survey) -> bool:
    """Whether more was spent of a survey than its database knows, or may have been.

    Where the database knows of more than the file, as a process was killed in between, the file is
    written first: what was read from the database may be shown from now on.
    """
    mark = read_mark(session)  # before the database, which then knows at least as much
    known = _list_known(session, survey.id)
    if _lacks(known, mark.surveys.get(hash_name(survey.slug))):
        if engine_of(session).get_execution_options().get("moneda_writes"):
            return True
        # A long reading sees the database as it was when it began.
        with open_session(engine_of(session), writes=False) as fresh:
            return _lacks(_list_known(fresh, survey.id), mark.surveys.get(hash_name(survey.slug)))
    if not waits_for_commit(session, survey.id):
        _keep_up(session, {survey.slug: known})
    return False


def forgotten_budget(session: Session, survey: Survey) -> tuple[str, str, str] | None:
    """Epsilon, delta and neighbours of the budget of which more was spent than is known here, if they are known."""
    newest = read_mark(session).surveys.get(hash_name(survey.slug))
    return newest.budget if newest and _lacks(_list_known(session, survey.id), newest) else None


def is_merely_unmarked(session: Session, survey: Survey) -> bool:
    """Whether a survey counts as restored for no other reason than that its database had no file."""
    return is_restored(session, survey) and is_begun(read_mark(session).surveys.get(hash_name(survey.slug)))


def check_not_restored(session: Session, survey: Survey) -> None:
    """Refuse to spend anything of a survey that was restored; the caller holds the survey.

    Raises
    ------
    InputError
        409.
    """
    if is_restored(session, survey):
        template = N_(
            "may have been restored from a backup, so that less is known here than was spent; its owner must first "
            "declare what was spent since"
        )
        raise refuse(409, "survey", template)


def debit(session: Session, survey: Survey) -> None:
    """Name what is being spent of a survey; when it is committed, the name goes into the file as well.

    The caller holds the survey, and has seen that it was not restored, or declares what was spent.

    Raises
    ------
    InputError
        503 if the file cannot be written, which is seen before anything is spent.
    """
    newest: list[Newest] = []

    def note_newest(mark: Mark) -> Mark:
        newest.extend(filter(None, [mark.surveys.get(hash_name(survey.slug))]))
        return mark

    change_mark(session, note_newest)
    known = _list_known(session, survey.id)
    numbers = [*known.values(), *(each.number for each in newest)]
    answers = next((each.token for each in newest if _lacks(known, each)), None)
    token = secrets.token_hex(16)
    session.add(Debit(survey_id=survey.id, number=max(numbers, default=0) + 1, token=token, answers=answers))
    session.flush()
    do_after_commit(session, survey.id, partial(_mark_newest, engine_of(session), survey.id))


def mark_taken(session: Session, survey: Survey, token: str) -> None:
    """Keep that a right came here; one that came before, and is forgotten, leaves the survey in doubt.

    Raises
    ------
    InputError
        503 if the file cannot be written.
    """

    def doubt(mark: Mark) -> Mark:
        if hash_name(token) not in mark.taken:
            return mark
        return replace(mark, surveys={**mark.surveys, hash_name(survey.slug): unknown(0)})

    change_mark(session, doubt)
    do_after_commit(session, token, partial(open_marks, engine_of(session)))


def doubt_all(session: Session) -> None:
    """Let every survey that was published count as restored, whatever the file says, before the caller commits.

    Raises
    ------
    InputError
        503 if the file cannot be written.
    """
    highest = sa.func.max(sa.func.coalesce(Debit.number, 0))
    published = session.execute(
        sa.select(Survey.slug, highest)
        .join(SurveyVersion, SurveyVersion.survey_id == Survey.id)
        .outerjoin(Debit, Debit.survey_id == Survey.id)
        .group_by(Survey.slug)
    ).all()

    def doubt(mark: Mark) -> Mark:
        found = dict(mark.surveys)
        for slug, number in published:
            old = found.get(hash_name(slug))
            doubted = unknown(max(number, old.number if old else 0))
            found[hash_name(slug)] = replace(doubted, budget=old.budget if old else None)
        return replace(mark, surveys=found)

    change_mark(session, doubt)


def open_marks(engine: sa.Engine) -> None:
    """Make the file if there is none, and write into it what the database knows beside.

    Raises
    ------
    InputError
        503 if the file cannot be written.
    """
    with open_session(engine, writes=False) as session:
        columns = (Survey.slug, Debit.answers, Debit.token, Debit.number)
        rows = session.execute(sa.select(*columns).join(Debit, Debit.survey_id == Survey.id))
        known: dict[str, dict[str, int]] = {}
        for slug, answers, token, number in rows:
            known.setdefault(slug, {}).update({name: number for name in (answers, token) if name})
        _keep_up(session, known, frozenset(map(hash_name, session.scalars(sa.select(TakenRight.token)))))


def _mark_newest(engine: sa.Engine, survey_id: int) -> None:
    with open_session(engine, writes=False) as session:
        slug = session.scalar(sa.select(Survey.slug).where(Survey.id == survey_id))
        if slug is not None:
            _keep_up(session, {slug: _list_known(session, survey_id)})


def _keep_up(
    session: Session, surveys: Mapping[str, Mapping[str, int]], taken: frozenset[str] = frozenset()
) -> None:
    """Write into the file what is newer in the database, of surveys whose debits it knows."""

    def newer(mark: Mark) -> Mark:
        found = dict(mark.surveys)
        for slug, known in surveys.items():
            token = max(known, key=known.__getitem__, default="")
            old = found.get(hash_name(slug))
            if token and not _lacks(known, old) and (old is None or known[token] > old.number):
                found[hash_name(slug)] = Newest(known[token], token, _budget(session, slug))
        return replace(mark, surveys=found, taken=mark.taken | taken)

    mark = read_mark(session)
    if newer(mark) != mark:
        change_mark(session, newer)


def _budget(session: Session, slug: str) -> tuple[str, str, str] | None:
    columns = (PrivacyBudget.epsilon, PrivacyBudget.delta, PrivacyBudget.neighbours)
    row = session.execute(sa.select(*columns).join(Survey).where(Survey.slug == slug)).first()
    return None if row is None else (row.epsilon, row.delta, row.neighbours)


def _list_known(session: Session, survey_id: int) -> dict[str, int]:
    """The names that the database knows of a survey, with their numbers; the newest debit's own comes last."""
    query = sa.select(Debit).where(Debit.survey_id == survey_id).order_by(Debit.number)
    return {
        name: each.number
        for each in session.scalars(query.execution_options(populate_existing=True))
        for name in (each.answers, each.token)
        if name is not None
    }


def _lacks(known: Mapping[str, int], newest: Newest | None) -> bool:
    return newest is not None and newest.token not in known
