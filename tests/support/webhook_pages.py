"""The page of webhooks in every state, for the walk over all pages."""

from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING

import sqlalchemy as sa

from server.people import survey_access
from server.store.models import Webhook, WebhookDelivery
from server.study import surveys
from server.web.webhooks.posting import Trouble
from server.web.webhooks.webhook_events import Event
from server.web.webhooks.webhook_rows import MOST
from tests.support import factories
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader

LATER = timedelta(days=30)
"""So that the server which is read does not send anything meanwhile."""


def walk_webhooks(owner: "Reader", database_url: str, slug: str) -> None:
    """Set up, tried out and revoked; refused in each way; with messages in every state."""
    home = f"/manage/surveys/{slug}/webhooks"
    owner.get(home)
    for url in ("", "http://x.example.org/", "https://localhost/", "https://x.example.org:22/"):
        owner.post(home, {"url": url})
    for _ in range(MOST + 1):
        owner.post(home, {"url": "https://hooks.example.org/"})
    with factories.writing(database_url) as session:
        session.execute(sa.update(Webhook).values(url="https://localhost/"))
    numbers = add_messages(database_url, slug)
    for number in (*numbers[:2], "unknown"):
        owner.post(f"{home}/trial", {"webhook": number})
    owner.get(home)
    owner.post(f"{home}/revoke", {"webhook": numbers[2]})
    owner.get(f"/manage/surveys/{slug}/log")


def add_messages(database_url: str, slug: str) -> list[str]:
    """Messages of a survey's webhooks in every state; the first one has a trial that waits."""
    moment = surveys.now()
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        numbers = list(session.scalars(sa.select(Webhook.id).where(Webhook.survey_id == survey.id)))
        troubles = [(trouble, None) for trouble in Trouble]
        states = [(None, 0, None, None), ("delivered", 1, None, 204), (None, 2, None, 500)]
        states += [("given up", 9, trouble, status) for trouble, status in troubles]
        events = (Event.CLOSED, Event.PLANNED_NUMBER)
        for place, (event, state) in enumerate(product(events, states)):
            outcome, attempts, trouble, status = state
            row = {"attempts": attempts, "outcome": outcome, "trouble": trouble, "status": status}
            session.add(
                WebhookDelivery(
                    id=f"msg_{place}",
                    webhook_id=numbers[0],
                    event=event,
                    at=moment,
                    next_at=moment + LATER,
                    **row,
                )
            )
        session.add(
            WebhookDelivery(
                id="msg_trial", webhook_id=numbers[0], event=Event.TRIAL, at=moment, next_at=moment + LATER
            )
        )
    return numbers


def walk_silent(owner: "Reader", database_url: str) -> None:
    """Of a server that may send nothing, and asks for work."""
    slug = factories.publish(database_url).slug
    owner.get(f"/manage/surveys/{slug}/webhooks")
    owner.get(f"/manage/surveys/{slug}/schedule")
    owner.post(f"/manage/surveys/{slug}/webhooks", {"url": "https://hooks.example.org/"})
    for gammas in ([0.25], [0.25, 0.1]):
        asked = factories.publish(database_url, factories.definition(gammas, language="es"))
        owner.get(f"/s/{asked.slug}")
    own = {"title": pseudo("Exams"), "questions": [factories.question("q1", pseudo("Why?"), 0.25)]}
    draft = factories.draft(database_url, factories.definition(language="es", **own))
    owner.get(f"/manage/surveys/{draft}/edit")
