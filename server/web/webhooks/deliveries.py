"""Messages on their way: taken by one process at a time, and sent again with growing pauses. Nothing here commits."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.store.models import Researcher, Survey, Webhook, WebhookDelivery
from server.web.webhooks.posting import Trouble
from server.web.webhooks.webhook_events import Event

PAUSES = tuple(
    timedelta(minutes=minutes) for minutes in (5, 30, 2 * 60, 5 * 60, 10 * 60, 14 * 60, 20 * 60, 24 * 60)
)
"""After each attempt that failed; after the last of them, more than three days on, it is tried once more."""
LEASE = timedelta(minutes=2)
"""After which a message that somebody took is taken by others: longer than any attempt lasts."""
GONE = 410
"""What a receiver answers that wants nothing any more."""


class DeliveryOutcome(StrEnum):
    """How a message ended. The value is stored."""

    DELIVERED = "delivered"
    GIVEN_UP = "given up"


@dataclass(frozen=True)
class TakenMessage:
    """A message that nobody else sends meanwhile, and which attempt this is."""

    id: str
    event: str
    at: datetime
    slug: str
    webhook_id: str
    url: str
    secret_sealed: str
    attempt: int


def is_waiting(session: Session, now: datetime) -> bool:
    """Whether a message is to be sent."""
    return session.scalars(_waiting(now)).first() is not None


def take_message(session: Session, now: datetime) -> TakenMessage | None:
    """The message that waits longest; others take it after `LEASE` at the earliest."""
    found = session.scalars(_waiting(now).with_for_update(of=WebhookDelivery, skip_locked=True)).first()
    if found is None:
        return None
    found.attempts += 1
    found.next_at = now + LEASE
    webhook = found.webhook
    return TakenMessage(
        found.id,
        found.event,
        found.at,
        webhook.survey.slug,
        webhook.id,
        webhook.url,
        webhook.secret_sealed,
        found.attempts,
    )


def note_result(
    session: Session, message: TakenMessage, now: datetime, status: int | None, trouble: Trouble | None
) -> None:
    """Write down how an attempt ended, unless somebody else has taken the message meanwhile."""
    found = session.scalars(
        sa.select(WebhookDelivery)
        .where(
            WebhookDelivery.id == message.id,
            WebhookDelivery.attempts == message.attempt,
            WebhookDelivery.outcome.is_(None),
        )
        .with_for_update()
    ).first()
    if found is None:
        return
    found.status, found.trouble = status, trouble
    if status is not None and 200 <= status < 300:
        found.outcome = DeliveryOutcome.DELIVERED
    elif status == GONE or found.event == Event.TRIAL or message.attempt > len(PAUSES):
        found.outcome = DeliveryOutcome.GIVEN_UP
    else:
        found.next_at = now + PAUSES[message.attempt - 1]


def _waiting(now: datetime) -> sa.Select[WebhookDelivery]:
    """Those whose time has come, of webhooks whose researcher is not shut out."""
    return (
        sa.select(WebhookDelivery)
        .join(Webhook, Webhook.id == WebhookDelivery.webhook_id)
        .join(Survey, Survey.id == Webhook.survey_id)
        .join(Researcher, Researcher.id == Webhook.researcher_id)
        .where(
            WebhookDelivery.outcome.is_(None),
            WebhookDelivery.next_at <= now,
            Researcher.disabled_on.is_(None),
        )
        .order_by(WebhookDelivery.next_at, WebhookDelivery.id)
        .limit(1)
    )
