"""An installation with everybody in it, for walks over its routes."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from server.people import colleague_invitations, survey_access
from server.store.models import Member, Researcher
from tests.support import factories

ANYBODY, SIGNED_IN, VIEWER, EDITOR, OWNER, ADMINISTRATOR = (
    "anybody signed_in viewer editor owner administrator".split()
)


@dataclass
class Scene:
    """An installation with one of each kind of people, and a survey of the owner's."""

    app: Flask
    database_url: str
    people: Mapping[str, FlaskClient]
    numbers: Mapping[str, int]
    slug: str = ""

    def new_survey(self) -> None:
        """Another survey in place of the one that a test has used up."""
        self.slug = factories.publish(self.database_url).slug
        with factories.writing(self.database_url) as session:
            survey = survey_access.find(session, self.slug)
            assert survey is not None
            survey.owner_id = self.numbers[OWNER]
            for role in (EDITOR, VIEWER):
                session.add(Member(survey_id=survey.id, researcher_id=self.numbers[role], role=role))

    def replace_survey(self) -> None:
        """The same, and every survey that there was is gone."""
        factories.forget_surveys(self.database_url)
        self.new_survey()

    def path(self, rule: Rule, **values: object) -> str:
        """The address of a route on the survey; what is not known names nothing."""
        known: dict[str, object] = {
            **{
                "slug": self.slug,
                "link": self.slug,
                "secret": "unknown",
                "sha256": "0" * 64,
                "batch": 1,
                "number": 1,
                "search": 1,
                "webhook": "0" * 32,
            },
            **{"fingerprint": "0" * 16, "name": "style.css"},
            **values,
        }
        chosen = {name: known[name] for name in rule.arguments}
        return self.app.url_map.bind("localhost").build(rule.endpoint, chosen)


def routes(app: Flask) -> list[tuple[str, Rule]]:
    """Method and rule of everything that can be asked for."""
    return [
        (method, rule)
        for rule in app.url_map.iter_rules()
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"})
    ]


def member(scene: Scene, **more: str) -> dict[str, object]:
    return {"person": scene.numbers[VIEWER], **more}


def invitation(scene: Scene, person: str, *, to_survey: bool) -> str:
    """The secret of an invitation that somebody has made."""
    with factories.writing(scene.database_url) as session:
        inviter = session.get_one(Researcher, scene.numbers[person])
        survey = survey_access.find(session, scene.slug) if to_survey else None
        return colleague_invitations.invite(session, inviter, "Guest", survey, "viewer")


def hash_secret(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
