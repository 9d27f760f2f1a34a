"""Webhooks of a survey: set up, listed, tried out and revoked. Functions take a Session and never commit."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy.orm import Session

from server.inputs import N_, refuse, shorten_value
from server.store.models import Researcher, Survey, Webhook, WebhookDelivery
from server.store.sealed_secrets import seal
from server.study.surveys import now
from server.web.webhooks.receivers import parse_receiver
from server.web.webhooks.signatures import new_signing_secret
from server.web.webhooks.webhook_events import Event, find_round

MOST = 5
"""Webhooks of a survey."""


@dataclass(frozen=True)
class ListedWebhook:
    """A webhook as its survey's people see it: never all of its address, which may hold a secret of the receiver's."""

    webhook: Webhook
    host: str
    deliveries: Sequence[WebhookDelivery]


def create_webhook(session: Session, survey: Survey, researcher: Researcher, url: str) -> tuple[Webhook, str]:
    """A new webhook, and the secret that its messages are signed with, which is shown nowhere else.

    Raises
    ------
    InputError
        422 on `url`; 409 where there are as many as there may be.
    OSError
        If the key of sealed secrets cannot be read or made.
    """
    checked = parse_receiver(url)
    query = sa.select(sa.func.count()).where(Webhook.survey_id == survey.id)
    if (session.scalar(query) or 0) >= MOST:
        raise refuse(
            409, "webhook", N_("must be at most %(limit)s for a survey; revoke one first"), limit=MOST
        )
    secret = new_signing_secret()
    moment = now()
    made = Webhook(
        id=secrets.token_hex(16),
        survey_id=survey.id,
        researcher_id=researcher.id,
        url=checked,
        made_on=moment.date(),
        looked_on=find_round(moment).date(),
        secret_sealed="",
    )
    session.add(made)
    session.flush()  # which waits while the key is changed
    made.secret_sealed = seal(secret, made.id)
    session.flush()
    return made, secret


def list_webhooks(session: Session, survey: Survey) -> Sequence[ListedWebhook]:
    """All of a survey, the oldest first, each with what was sent, or is to be, the newest first."""
    query = sa.select(Webhook).where(Webhook.survey_id == survey.id).order_by(Webhook.made_on, Webhook.id)
    return [
        ListedWebhook(
            webhook,
            find_host(webhook),
            session.scalars(
                sa.select(WebhookDelivery)
                .where(WebhookDelivery.webhook_id == webhook.id)
                .order_by(WebhookDelivery.at.desc(), WebhookDelivery.event)
            ).all(),
        )
        for webhook in session.scalars(query)
    ]


def find_host(webhook: Webhook) -> str:
    """Where it goes, as people are told it."""
    return urlsplit(webhook.url).netloc


def find_webhook(session: Session, survey: Survey, number: str) -> Webhook:
    """A webhook of this survey.

    Raises
    ------
    InputError
        404 if there is none.
    """
    found = session.get(Webhook, number) if re.fullmatch("[0-9a-f]{32}", number) else None
    if found is None or found.survey_id != survey.id:
        raise refuse(404, "webhook", N_("is not known; it is %(value)s"), value=shorten_value(number) or "-")
    return found


def revoke_webhook(session: Session, webhook: Webhook) -> None:
    """Send nothing any more, and forget what was sent."""
    session.delete(webhook)
    session.flush()


def add_trial(session: Session, webhook: Webhook) -> None:
    """Have a message sent that says that it is a trial, once and at once; the trial before it is forgotten.

    Raises
    ------
    InputError
        409 while one is on its way.
    """
    trials = sa.select(WebhookDelivery).where(
        WebhookDelivery.webhook_id == webhook.id, WebhookDelivery.event == Event.TRIAL
    )
    for earlier in session.scalars(trials):
        if earlier.outcome is None:
            raise refuse(409, "webhook", N_("is being tried out already; look again in a moment"))
        session.delete(earlier)
    moment = now()
    session.add(
        WebhookDelivery(
            id=f"msg_{secrets.token_hex(16)}",
            webhook_id=webhook.id,
            event=Event.TRIAL,
            at=moment,
            next_at=moment,
        )
    )
    session.flush()
