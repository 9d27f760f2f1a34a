"""What the fields of forms about webhooks are called on their pages, for refusals that name them."""

from server.inputs import N_

WEBHOOK_FIELDS = {
    "url": N_("Address of your program"),
    "webhook": N_("Webhook"),
}
"""By the name that a refusal gives, as `server.inputs.Problem.field`."""
