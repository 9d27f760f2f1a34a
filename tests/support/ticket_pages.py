"""Pages and messages of surveys whose codes buy tickets: switched on and off, published, bought from, refused."""

import copy
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tests.support import factories, ticket_buyers
from tests.support.catalogue_words import pseudo

if TYPE_CHECKING:
    from tests.support.every_page import Reader

FIELDS = {"time_zone": "UTC", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}
MANY = {"by_invitation": "yes", "tickets": "yes"}


def walk_tickets(owner: "Reader", stranger: "Reader", database_url: str, document: Mapping[str, Any]) -> None:
    """With one question, with two, published by an older release, and with more links than there may be."""
    for questions in (1, 2):
        fewer = {**copy.deepcopy(dict(document)), "questions": document["questions"][:questions]}
        slug = factories.draft(database_url, fewer)
        for changed in ({"tickets": "yes"}, {**MANY, "offline": "yes"}, MANY, {}, MANY):
            owner.post(f"/manage/surveys/{slug}/schedule", {**FIELDS, **changed})
        survey = factories.publish(database_url, fewer, slug)
        _walk_open(owner, stranger, database_url, survey)
    older, _ = ticket_buyers.publish(database_url, pseudo("A"), dict(document), older=True)
    stranger.get(f"/s/{older.slug}")
    crowded = factories.draft(database_url, document)
    factories.settle(database_url, crowded, by_invitation=True, tickets=True)
    factories.plant(database_url, crowded, "\n".join(pseudo(f"S{k}") for k in range(60)))
    owner.post(f"/manage/surveys/{crowded}/publish", {"keep_brackets": "yes", "despite_plan": "yes"})


def _walk_open(owner: "Reader", stranger: "Reader", database_url: str, survey: factories.Published) -> None:
    home, link = f"/manage/surveys/{survey.slug}", f"/s/{survey.slug}"
    code, other = factories.invite(database_url, survey.slug, 2)
    for page in ("", "/schedule", "/invitations", "/log"):
        owner.get(f"{home}{page}")
    for changed in ({"by_invitation": "yes"}, {"tickets": "yes"}):
        owner.post(f"{home}/schedule", {**FIELDS, **changed})
    owner.post(f"{home}/strata", {"lines": pseudo("A"), "action": "add"})
    for page in ("", "/how", "/survey.json"):
        stranger.get(f"{link}{page}")
    blinded = ticket_buyers.draw(ticket_buyers.find_key(database_url, survey.slug))
    sent, large = (ticket_buyers.write_text(each) for each in (blinded.sent, b"\xff" * 256))
    purchases = [{}, *({"invitation": code, "blinded": typed} for typed in ("?", large, sent))]
    for purchase in purchases:
        _send(stranger, f"{link}/ticket.json", purchase)
    (ticket,) = ticket_buyers.make_tickets(database_url, survey.slug, 1)
    for spent in (None, "?", "A" * 384, ticket, ticket):
        _send(stranger, survey.url, survey.response(**({} if spent is None else {"ticket": spent})))
    factories.settle(database_url, survey.slug, paused=True)
    stranger.get(link)
    plain = factories.publish(database_url, survey.definition)
    (free,) = factories.invite(database_url, plain.slug, 1)
    _send(stranger, f"/s/{plain.slug}/ticket.json", {"invitation": free, "blinded": sent})
    _send(stranger, plain.url, plain.response(ticket=ticket, invitation=other))
    _send(stranger, plain.url, plain.response(ticket=ticket, invitation=free))


def _send(stranger: "Reader", path: str, body: Mapping[str, object]) -> None:
    stranger.post(path, json.dumps(body).encode(), Content_Type="application/json")
