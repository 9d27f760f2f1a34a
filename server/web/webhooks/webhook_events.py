"""What webhooks tell, and when it is looked for: once a day, in what pages show at that hour.

The hour is the same for all surveys, and nothing that a respondent does moves it; a server that did not run at that
hour looks when it is started. Which day something is told on says no more than the page did to whoever opened it then.
"""

import hashlib
from datetime import datetime, time, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.collect import response_counts
from server.people.survey_access import HAS_ARRIVED
from server.store.models import Researcher, State, Survey, Webhook, WebhookDelivery
from server.study import planning, surveys

HOUR = 6
"""Of the day, in UTC, as all of this."""


class Event(StrEnum):
    """What is told. The value is sent, and stored."""

    CLOSED = "survey.closed"
    PLANNED_NUMBER = "survey.planned_number_reached"
    TRIAL = "webhook.trial"


def find_round(now: datetime) -> datetime:
    """The last moment at which it was to be looked."""
    return datetime.combine((now - timedelta(hours=HOUR)).date(), time(HOUR))


def list_due(session: Session, now: datetime) -> list[str]:
    """The ids of webhooks for which it was not looked yet since that moment."""
    return [webhook.id for webhook in session.scalars(_due(now).order_by(Webhook.id))]


def add_events(session: Session, webhook_id: str, now: datetime) -> None:
    """Have sent what there is to tell and was not told yet. Does not commit.

    Of several processes one does it: the others wait, and find it done.
    """
    moment = find_round(now)
    query = _due(now).where(Webhook.id == webhook_id).with_for_update(of=Webhook)
    webhook = session.scalars(query).first()
    if webhook is None:
        return
    for event in _list_events(session, webhook.survey):
        number = name_message(webhook, event)
        if session.get(WebhookDelivery, number) is None:
            session.add(
                WebhookDelivery(id=number, webhook_id=webhook.id, event=event, at=moment, next_at=moment)
            )
    webhook.looked_on = moment.date()


def put_off(session: Session, webhook_id: str, now: datetime) -> None:
    """Look for this one on the next day only. Does not commit."""
    query = sa.update(Webhook).where(Webhook.id == webhook_id)
    session.execute(query.values(looked_on=find_round(now).date()))


def name_message(webhook: Webhook, event: Event) -> str:
    """The same for the same event, whoever looks: a copy of the database that looks too tells nobody twice."""
    return "msg_" + hashlib.sha256(f"moneda webhook {webhook.id} {event}".encode()).hexdigest()[:32]


def _due(now: datetime) -> sa.Select[Webhook]:
    """Webhooks of researchers who are not shut out, for which it was not looked yet."""
    return (
        sa.select(Webhook)
        .join(Survey, Survey.id == Webhook.survey_id)
        .join(Researcher, Researcher.id == Webhook.researcher_id)
        .where(Webhook.looked_on < find_round(now).date(), HAS_ARRIVED, Researcher.disabled_on.is_(None))
    )


def _list_events(session: Session, survey: Survey) -> list[Event]:
    found = [Event.CLOSED] if survey.state == State.CLOSED else []
    planned = planning.find_planned_number(survey, surveys.draft_document(survey))
    if planned is not None and survey.versions:
        shown = sum(response_counts.count_reportable(session, survey).values())
        found += [Event.PLANNED_NUMBER] if shown >= planned else []
    return found
