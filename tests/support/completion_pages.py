"""Pages and messages of surveys that give codes at the end: switched on, published, asked, checked, refused."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa

from server.store.models import AcceptedCode, TicketKey
from tests.support import completion_claims, factories
from tests.support.ticket_buyers import write_text
from tests.support.ticket_pages import FIELDS

if TYPE_CHECKING:
    from tests.support.every_page import Reader


def walk_completions(
    owner: "Reader", stranger: "Reader", database_url: str, document: Mapping[str, Any]
) -> None:
    """The page of a draft, of a survey with a code that is good, and all that is refused."""
    slug = factories.draft(database_url, document)
    home, link = f"/manage/surveys/{slug}", f"/s/{slug}"
    owner.get(f"{home}/completions")
    for changed in (
        {"completions": "yes", "tablet": "yes"},
        {"completions": "yes"},
        {},
        {"completions": "yes"},
    ):
        owner.post(f"{home}/schedule", {**FIELDS, **changed})
    survey = factories.publish(database_url, dict(document), slug)
    owner.post(f"{home}/schedule", FIELDS)
    key = completion_claims.find_key(database_url, slug)
    drawn = completion_claims.draw(key)
    large = completion_claims.DrawnClaim(key, "", b"\xff" * 256, 1)
    for held in (drawn, large):
        _send(stranger, survey.url, survey.response(id=held.receipt))
    for typed in ("?", *(write_text(each.sent) for each in (large, completion_claims.draw(key), drawn))):
        _send(stranger, f"{link}/completion.json", {"blinded": typed})
    _send(stranger, f"{link}/completion.json", {})
    plain = factories.publish(database_url, dict(document))
    _send(stranger, f"/s/{plain.slug}/completion.json", {"blinded": write_text(drawn.sent)})
    signed = completion_claims.claim(database_url, slug, drawn, completion_claims.SOME_DAY)
    assert isinstance(signed, bytes)
    code = drawn.finish(signed)
    for page in ("", "/how"):
        stranger.get(f"{link}{page}")
    factories.settle(database_url, slug, forgets=True)
    stranger.get(link)
    for typed in ("", f"{code} {code} ?", code):
        owner.post(f"{home}/completions", {"codes": typed})
    for page in ("/completions", "/completions/accepted.csv", "/log", "/schedule"):
        owner.get(f"{home}{page}")
    owner.post(f"/manage/surveys/{plain.slug}/completions", {"codes": code})
    factories.close(database_url, slug)
    stranger.get(link)
    _send(stranger, f"{link}/completion.json", {"blinded": write_text(drawn.sent)})
    with factories.writing(database_url) as session:
        session.execute(sa.delete(TicketKey).where(TicketKey.modulus == key))
    owner.get(f"{home}/completions")
    with factories.writing(database_url) as session:
        session.execute(sa.delete(AcceptedCode))
    owner.get(f"{home}/completions")


def _send(stranger: "Reader", path: str, body: Mapping[str, object]) -> None:
    stranger.post(path, json.dumps(body).encode(), Content_Type="application/json")
