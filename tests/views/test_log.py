"""The log names every change that researchers make, and nothing that respondents do.

A form that is not in `FORMS` fails.
"""

import html
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyotp
import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server import accounts, audit, surveys
from server.models import AuditEntry, Base, InvitationBatch, Researcher, Survey
from tests import factories
from tests.conftest import NewDatabase
from tests.factories import Published
from tests.releasing import COUNT, Builder, build, set_budget
from tests.scene import ADMINISTRATOR, EDITOR, OWNER, VIEWER, Scene, hashed, invitation, member, routes
from tests.signing import PASSWORD
from tests.walking import edited


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """What is logged does not depend on the database."""
    return sqlite(True)


Form = Mapping[str, Any]


def stored(scene: Scene, person: str, **values: object) -> None:
    """Set columns of somebody's account."""
    with factories.writing(scene.database_url) as session:
        session.execute(sa.update(Researcher).where(Researcher.id == scene.numbers[person]).values(**values))


def with_codes(scene: Scene) -> Form:
    """The stranger has a password and codes, and gives the password."""
    stored(scene, "stranger", password_hash=factories.hashed(PASSWORD), totp_secret=pyotp.random_base32())
    return {"current": PASSWORD}


def setting_codes_up(scene: Scene) -> Form:
    stored(scene, "stranger", password_hash=factories.hashed(PASSWORD), totp_secret=None)
    secret = pyotp.random_base32()
    return {"secret": secret, "code": pyotp.TOTP(secret).now()}


def without_password(scene: Scene, form: Form) -> Form:
    stored(scene, "stranger", password_hash=None, totp_secret=None)
    return form


def somebody(scene: Scene) -> Form:
    """A colleague who was just added."""
    with factories.writing(scene.database_url) as session:
        return {"person": accounts.add(session, "Somebody", administrator=True).id}


def closed(scene: Scene) -> Form:
    factories.close(scene.database_url, scene.slug)
    return {}


def paused(scene: Scene) -> Form:
    factories.settle(scene.database_url, scene.slug, paused=True)
    return {}


def batch(scene: Scene) -> Form:
    """A batch of two codes, which the form holds."""
    codes = factories.invite(scene.database_url, scene.slug, 2)
    with factories.writing(scene.database_url) as session:
        number = session.scalar(sa.select(sa.func.max(InvitationBatch.id)))
    return {"codes": "\r\n".join(codes), "in path": {"batch": number}}


def linked(scene: Scene) -> Form:
    """A survey with a public report."""
    scene.people[OWNER].post(f"/manage/surveys/{scene.slug}/releases/link")
    return {}


def looked(scene: Scene) -> Builder:
    """An editor who has seen what it costs to tell how many responded."""
    set_budget(scene.people[OWNER], scene.slug)
    return build(scene.people[EDITOR], scene.slug).tick(COUNT).type(epsilon="0.5").press()


def crowded(scene: Scene) -> Form:
    """So many responses that exact tallies can be paid for."""
    with factories.writing(scene.database_url) as session:
        survey = surveys.find(session, scene.slug)
        assert survey is not None
        version = Published(scene.slug, survey.versions[0].sha256, {})
    factories.store(scene.database_url, version, [([1, 0], 2000)])
    set_budget(scene.people[OWNER], scene.slug, "20", "0.001", "bounded")
    return {"epsilon": "20", "sure": "yes"}


FORMS: Mapping[str, tuple[str, Callable[[Scene], Form]]] = {
    "account.sign_in_with_password": (
        "signed out",
        lambda scene: {**with_codes(scene), "login": "the-stranger", "password": PASSWORD},
    ),
    "account.redeem": (
        "signed out",
        lambda scene: {
            "in path": {"secret": factories.link_of(scene.database_url, scene.numbers[VIEWER])},
        },
    ),
    "account.sign_out": ("signed out", lambda scene: {}),
    "joining.accept": (
        "stranger",
        lambda scene: {"in path": {"secret": invitation(scene, OWNER, to_survey=True)}},
    ),
    "editor.create": (OWNER, lambda scene: edited("New", "Why?")),
    "editor.save": (EDITOR, lambda scene: edited("Changed", "Why?")),
    "imports.import_file": (
        OWNER,
        lambda scene: {"definition": (io.BytesIO(json.dumps(factories.definition()).encode()), "a.json")},
    ),
    "imports.use_template": (OWNER, lambda scene: {"template": "scale", "language": "en"}),
    "simulate.run": (EDITOR, lambda scene: {"respondents": "10"}),
    "manage.publish": (EDITOR, lambda scene: {}),
    "manage.close": (EDITOR, lambda scene: {}),
    "people.invite": (OWNER, lambda scene: {"name": "Guest", "role": "viewer"}),
    "people.withdraw": (
        OWNER,
        lambda scene: {"invitation": hashed(invitation(scene, OWNER, to_survey=True))},
    ),
    "people.change_role": (OWNER, lambda scene: member(scene, role="editor")),
    "people.remove": (OWNER, member),
    "people.hand_over": (OWNER, member),
    "colleagues.invite": (ADMINISTRATOR, lambda scene: {"name": "Guest"}),
    "colleagues.withdraw": (
        ADMINISTRATOR,
        lambda scene: {"invitation": hashed(invitation(scene, ADMINISTRATOR, to_survey=False))},
    ),
    "colleagues.disable": (ADMINISTRATOR, somebody),
    "colleagues.enable": (ADMINISTRATOR, somebody),
    "colleagues.make_administrator": (ADMINISTRATOR, somebody),
    "colleagues.unmake_administrator": (ADMINISTRATOR, somebody),
    "colleagues.give_link": (ADMINISTRATOR, somebody),
    "settings.save": (
        "stranger",
        lambda scene: without_password(
            scene, {"name": "Strange", "login": "strange", "password": PASSWORD, "again": PASSWORD}
        ),
    ),
    "settings.turn_codes_on": ("stranger", setting_codes_up),
    "settings.turn_codes_off": ("stranger", with_codes),
    "settings.renew_recovery": ("stranger", with_codes),
    "settings.end_sign_in": ("stranger", lambda scene: {"sign_in": "others"}),
    "links.save": (EDITOR, lambda scene: {"lines": "North\r\nSouth", "action": "add"}),
    "schedule.save": (EDITOR, lambda scene: {"cap": "500", "minimum": "10", "time_zone": "UTC"}),
    "schedule.pause": (EDITOR, lambda scene: {}),
    "schedule.resume": (EDITOR, paused),
    "invitations.issue": (EDITOR, lambda scene: {"size": "2", "label": "Class 3B", "stratum": ""}),
    "invitations.withdraw": (EDITOR, batch),
    "invitations.table": (EDITOR, batch),
    "invitations.links": (EDITOR, batch),
    "invitations.sheet": (EDITOR, batch),
    "releases.set_budget": (
        OWNER,
        lambda scene: {"epsilon": "1", "delta": "0", "neighbours": "unbounded"},
    ),
    "releases.link": (OWNER, lambda scene: {}),
    "releases.revoke": (OWNER, linked),
    "releasing.look": (EDITOR, lambda scene: looked(scene).form),
    "releasing.plan_file": (EDITOR, lambda scene: looked(scene).form),
    "releasing.make": (EDITOR, lambda scene: {**looked(scene).form, "sure": "yes"}),
    "releasing.exact": (EDITOR, crowded),
    "keeping.duplicate": (VIEWER, lambda scene: {"title": "Copy"}),
    "keeping.archive": (OWNER, closed),
    "keeping.export": (OWNER, closed),
    "keeping.delete": (OWNER, lambda scene: {"confirmation": scene.slug}),
}
"""Who sends each form of /manage, and what it holds when it is in order; "in path" goes into the address."""
CHANGES_NOTHING = {
    "simulate.run",
    "releasing.look",
    "releasing.plan_file",
    "invitations.table",
    "invitations.links",
    "invitations.sheet",
    "account.sign_in_with_password",
    "account.sign_out",
}
"""They only show something; the last two begin and end a sign-in, which the account's page lists."""


def test_every_form_is_sent(app: Flask) -> None:
    ours = {rule.endpoint for method, rule in routes(app) if method == "POST" and "/manage" in rule.rule}
    assert ours == FORMS.keys()


def test_log_names_every_change(scene: Scene) -> None:
    wrong = []
    posts = {rule.endpoint: rule for method, rule in routes(scene.app) if method == "POST"}
    for endpoint, (person, fill) in FORMS.items():
        scene.new_survey()
        form = dict(fill(scene))
        path = scene.path(posts[endpoint], **form.pop("in path", {}))
        client = scene.people.get(person) or scene.app.test_client()
        before = factories.dump(scene.database_url)

        answer = client.post(path, data=form)
        answer.close()

        after = factories.dump(scene.database_url)
        entries = logged(scene, len(before["audit_entries"]))
        changed = {table for table in after if after[table] != before[table]} - {"sign_ins", "audit_entries"}
        if answer.status_code not in (200, 201, 303) and endpoint != "account.sign_in_with_password":
            wrong.append((endpoint, answer.status_code, "was not sent as it should be"))
        if endpoint in CHANGES_NOTHING:
            wrong += [(endpoint, "changed", changed)] if changed or entries else []
        elif not entries:
            wrong.append((endpoint, "left no entry"))
        for entry in entries:
            if person in scene.numbers and entry.researcher_id != scene.numbers[person]:
                wrong.append((endpoint, "was logged as somebody else's"))
            if not told(scene, entry):
                wrong.append((endpoint, "is not on the log's page"))
    assert wrong == []


def logged(scene: Scene, known: int) -> list[AuditEntry]:
    """The entries after the first `known` ones."""
    with factories.writing(scene.database_url) as session:
        return list(session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)))[known:]


def told(scene: Scene, entry: AuditEntry) -> bool:
    """Whether whoever may read the log finds the entry's sentence on it."""
    words = audit.SENTENCES[audit.Action(entry.action)]
    sentence = words % {name: value for name, value in audit.details_of(entry).items()}
    with factories.writing(scene.database_url) as session:
        survey = None if entry.survey_id is None else session.get_one(Survey, entry.survey_id)
        owner = None if survey is None else survey.owner_id
    where = "/manage/log" if survey is None else f"/manage/surveys/{survey.slug}/log"
    number = scene.numbers[ADMINISTRATOR] if owner is None else owner
    client = next(
        (client for name, client in scene.people.items() if scene.numbers[name] == number),
        scene.app.test_client(),
    )
    return html.escape(sentence, quote=False) in html.unescape(client.get(where).text).replace("&", "&amp;")


def test_log_is_silent_about_responses(
    client: FlaskClient, signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    """Answering writes no entry, moves none, and no column of the log could hold a response's id."""
    before = factories.dump(database_url)["audit_entries"]
    sent = [survey.response([0, 1]) for _ in range(5)]
    for response in [*sent, sent[0]]:
        assert client.post(survey.url, json=response).status_code in (200, 201)
    assert client.post(survey.url, json={**sent[0], "reports": [1, 1]}).status_code == 409
    signed_in.get(f"/manage/surveys/{survey.slug}/results")

    assert factories.dump(database_url)["audit_entries"] == before
    table = Base.metadata.tables["audit_entries"]
    assert {column.name for column in table.columns} == {
        *("id", "at", "researcher_id", "survey_id", "action", "details"),
    }
    targets = {key.column.table.name for key in table.foreign_keys}
    assert targets == {"researchers", "surveys"}


def test_every_action_has_a_sentence_whose_places_are_filled() -> None:
    assert audit.SENTENCES.keys() == set(audit.Action)
