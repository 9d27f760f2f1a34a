"""A survey on its way in: stored in several transactions, and seen by nobody before the last one.

Until then it is a draft with links that nobody was told, and `surveys` finds it for nobody. Whoever brings
it says from time to time that it is still coming. If that stops, the process died: `give_up_late` removes
what is there.
"""

from contextlib import suppress
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.archives.disposition import delete
from server.inputs import N_, refuse
from server.store.models import Survey
from server.study import surveys

PATIENCE = timedelta(minutes=5)
"""How long a survey may bring nothing new. A part takes seconds, and waiting for a lock half a minute."""


def go_on(session: Session, survey: Survey) -> None:
    """Say, together with a part of it, that the survey is still coming.

    Raises
    ------
    InputError
        409 if it was given up meanwhile.
    """
    still = sa.update(Survey).where(Survey.id == survey.id, Survey.arriving_until.is_not(None))
    # Read back rather than counted: every database can.
    until = session.execute(
        still.values(arriving_until=surveys.now() + PATIENCE).returning(Survey.id),
        execution_options={"synchronize_session": False},
    )
    if until.first() is None:
        raise refuse(
            409, "file", N_("took too long to arrive, so that nothing of it was kept; import it again")
        )


def give_up(session: Session, survey_id: int) -> None:
    """Remove what has come of a survey, after a mistake; whatever the session holds is given up with it.

    Where that fails too, it is done later: nobody says any more that the survey is coming.
    """
    session.rollback()
    with suppress(sa.exc.SQLAlchemyError, OSError):
        survey = session.scalars(_ARRIVING.where(Survey.id == survey_id)).first()
        if survey is not None:
            delete(session, survey)
        session.commit()


def are_late(session: Session, now: datetime) -> bool:
    """Whether a survey has stopped to come."""
    return bool(session.scalar(sa.select(sa.exists().where(Survey.arriving_until <= now))))


def give_up_late(session: Session, now: datetime) -> None:
    """Remove the surveys that have stopped to come; tidying is due once this is committed."""
    for survey in session.scalars(_ARRIVING.where(Survey.arriving_until <= now).order_by(Survey.id)).all():
        delete(session, survey)


_ARRIVING = sa.select(Survey).where(Survey.arriving_until.is_not(None)).with_for_update()
