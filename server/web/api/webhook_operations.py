"""Webhooks for programs."""

from typing import Any

from server.inputs import N_
from server.people.change_log import Action
from server.store.models import Role, Survey, WebhookDelivery
from server.web.api.operations import Reply, operation
from server.web.context import session
from server.web.security import record, researcher
from server.web.webhooks import webhook_rows
from server.web.webhooks.switch import require_webhooks


@operation(
    "GET",
    "/surveys/<slug>/webhooks",
    N_("The webhooks of a survey, and what became of their messages; never their secrets"),
    Role.EDITOR,
    gives="webhooks",
)
def list_webhooks(survey: Survey) -> Reply:
    """The oldest first."""
    return Reply(
        {"webhooks": [_webhook_json(each) for each in webhook_rows.list_webhooks(session(), survey)]}
    )


@operation(
    "POST",
    "/surveys/<slug>/webhooks",
    N_("Set up a webhook; its secret stands in this answer and nowhere else"),
    Role.EDITOR,
    takes="new_webhook",
    gives="made_webhook",
    status=201,
)
def create_webhook(survey: Survey, body: Any) -> Reply:
    """Sent again it makes another, which can be revoked."""
    require_webhooks()
    webhook, secret = webhook_rows.create_webhook(session(), survey, researcher(), body["url"])
    record(Action.WEBHOOK_MADE, survey, host=webhook_rows.find_host(webhook))
    return Reply({"id": webhook.id, "secret": secret})


@operation(
    "POST",
    "/surveys/<slug>/webhooks/<webhook>/trial",
    N_("Have a message sent that says that it is a trial, once; it is on its way when this answers"),
    Role.EDITOR,
    gives="webhooks",
)
def try_webhook(survey: Survey, webhook: str) -> Reply:
    """What became of it stands in the list, soon."""
    require_webhooks()
    found = webhook_rows.find_webhook(session(), survey, webhook)
    webhook_rows.add_trial(session(), found)
    record(Action.WEBHOOK_TRIED, survey, host=webhook_rows.find_host(found))
    return list_webhooks(survey)


@operation(
    "POST",
    "/surveys/<slug>/webhooks/<webhook>/revoke",
    N_("Send nothing there any more, and forget what was sent"),
    Role.EDITOR,
    gives="webhooks",
)
def revoke_webhook(survey: Survey, webhook: str) -> Reply:
    """It is gone, and so is its secret."""
    found = webhook_rows.find_webhook(session(), survey, webhook)
    record(Action.WEBHOOK_REVOKED, survey, host=webhook_rows.find_host(found))
    webhook_rows.revoke_webhook(session(), found)
    return list_webhooks(survey)


def _webhook_json(listed: webhook_rows.ListedWebhook) -> dict[str, Any]:
    return {
        "id": listed.webhook.id,
        "host": listed.host,
        "made_on": listed.webhook.made_on.isoformat(),
        "messages": [_message_json(each) for each in listed.deliveries],
    }


def _message_json(delivery: WebhookDelivery) -> dict[str, Any]:
    return {
        "id": delivery.id,
        "type": delivery.event,
        "timestamp": f"{delivery.at:%Y-%m-%dT%H:%M:%S}Z",
        "state": delivery.outcome or "waiting",
        "attempts": delivery.attempts,
        "status": delivery.status,
        "trouble": delivery.trouble,
    }
