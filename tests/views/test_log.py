"""The log names every change that researchers make, and nothing that respondents do.

A form that is not in `FORMS` fails.
"""

import html

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.people import change_log
from server.store.models import AuditEntry, Base, Survey
from server.web.problem_texts import FIELDS
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.every_form import CHANGES_NOTHING, FORMS
from tests.support.factories import Published
from tests.support.full_installation import ADMINISTRATOR, Scene, routes


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """What is logged does not depend on the database."""
    return sqlite(True)


def test_every_form_is_sent(app: Flask) -> None:
    ours = {rule.endpoint for method, rule in routes(app) if method == "POST" and "/manage" in rule.rule}
    assert ours == FORMS.keys()


def test_log_names_every_change(scene: Scene) -> None:
    wrong = []
    posts = {rule.endpoint: rule for method, rule in routes(scene.app) if method == "POST"}
    for endpoint, (person, fill) in FORMS.items():
        scene.replace_survey()
        form = dict(fill(scene))
        path = scene.path(posts[endpoint], **form.pop("in path", {}))
        client = scene.people.get(person) or scene.app.test_client()
        before = factories.dump(scene.database_url)

        answer = client.post(path, data=form)
        answer.close()

        after = factories.dump(scene.database_url)
        entries = list_logged(scene, len(before["audit_entries"]))
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
            if not is_told(scene, entry):
                wrong.append((endpoint, "is not on the log's page"))
    assert wrong == []


def list_logged(scene: Scene, known: int) -> list[AuditEntry]:
    """The entries after the first `known` ones."""
    with factories.writing(scene.database_url) as session:
        return list(session.scalars(sa.select(AuditEntry).order_by(AuditEntry.id)))[known:]


def is_told(scene: Scene, entry: AuditEntry) -> bool:
    """Whether whoever may read the log finds the entry's sentence on it."""
    words = change_log.SENTENCES[change_log.Action(entry.action)]
    details = change_log.details_of(entry)
    if "fields" in details:
        details["fields"] = ", ".join(FIELDS[name] for name in details["fields"].split(", "))
    sentence = words % details
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
    assert client.post(survey.url, json={**sent[0], "reports": [1, 1]}).status_code == 200
    signed_in.get(f"/manage/surveys/{survey.slug}/results")

    assert factories.dump(database_url)["audit_entries"] == before
    table = Base.metadata.tables["audit_entries"]
    assert {column.name for column in table.columns} == {
        *("id", "at", "researcher_id", "survey_id", "action", "details"),
    }
    targets = {key.column.table.name for key in table.foreign_keys}
    assert targets == {"researchers", "surveys"}


def test_every_action_has_a_sentence_whose_places_are_filled() -> None:
    assert change_log.SENTENCES.keys() == set(change_log.Action)
