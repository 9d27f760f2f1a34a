"""Whether the operator lets this server send webhooks, and the job that does."""

from flask import current_app

from server.inputs import N_, refuse
from server.web.context import config
from server.web.webhooks.deliverer import Deliverer


def require_webhooks() -> None:
    """Let through where they may be sent.

    Raises
    ------
    InputError
        409 where the operator has not allowed it.
    """
    if not config().webhooks:
        raise refuse(409, "webhook", N_("is not sent by this server; its operator can allow it"))


def deliverer() -> Deliverer:
    """The job that this process does by itself."""
    value: Deliverer = current_app.extensions["moneda.deliverer"]
    return value
