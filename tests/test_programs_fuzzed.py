"""Whatever programs send, nothing breaks, what is refused changes nothing, and answers are as they are described.

Schemathesis makes the requests from the description itself: such as it allows, and such as it does not.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from schemathesis import Case, GenerationMode
from werkzeug.test import TestResponse

from server.config import Config
from server.people import api_tokens
from server.store.models import Researcher
from server.web.api.kept_replies import HEADER
from server.web.api.operations import OPERATIONS
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.cached_dump import CachedDump
from tests.support.front_client import create_app
from tests.support.scale import choose_size

pytestmark = pytest.mark.scaled

EACH = choose_size(8, -(-45_000 // len(OPERATIONS)))
"""Requests to each operation: 45,000 in all where they are many.

Making one takes longer than answering it. With strangers' bodies (40,000), odd surveys (10,000), forms (2,000, in
`views/test_bad_input.py`) and refusals (3,000, in `test_refusals.py`) `make test-long` tries 100,000 cases.
"""


@dataclass(frozen=True)
class Target:
    """An installation, and what a program knows of it."""

    client: FlaskClient
    database_url: str
    database: CachedDump
    token: str
    document: dict[str, Any]

    def new_survey(self, key: str) -> str:
        """A published survey with a budget: its slug."""
        headers = {"Authorization": f"Bearer {self.token}", HEADER: key}
        made = self.client.post("/api/v1/surveys", json=factories.definition(title=key), headers=headers)
        slug = str(made.json["slug"])
        if key == "check_completions":
            self.call("POST", f"/surveys/{slug}/settings", {"completions": True})
        opened = self.client.post(
            f"/api/v1/surveys/{slug}/publish", json={"despite_plan": True}, headers=headers
        )
        published = factories.Published(slug, opened.json["versions"][0]["sha256"], factories.definition())
        factories.store(self.database_url, published, [((0, 1), 40)])
        sample_releases.grant(self.database_url, slug, 3)
        if key.endswith("_invitations"):
            factories.invite(self.database_url, slug, 9)
        return slug

    def call(self, method: str, path: str, body: object = None) -> Any:
        """What a good request is answered with."""
        headers = {"Authorization": f"Bearer {self.token}", HEADER: path}
        answer = self.client.open(f"/api/v1{path}", method=method, json=body, headers=headers)
        assert answer.status_code < 300, answer.text
        return answer.json

    def prepare(self, name: str, slug: str) -> tuple[dict[str, Any], object]:
        """What an operation finds in its way, and a body that it takes where chance would hardly make one."""
        at, known = f"/surveys/{slug}", {"slug": slug}
        body: dict[str, Any] | None = None
        if name in ("create_survey", "replace_definition"):
            body = factories.definition()
        if name == "add_strata":
            body = {"strata": [{"path": ["Getafe"]}]}
        if name in ("price_plan", "make_release"):
            body = {"format": 1, "items": [{"kind": "count"}], "epsilon": "0.01"}
            if name == "make_release":
                price = self.call("POST", f"{at}/releases/price", body)
                body = {"plan": price["paying"]} | {
                    part: price[part] for part in ("epsilon", "delta", "cells")
                }
        if name in ("quote_search", "start_search", "answer_search"):
            self.call("POST", f"{at}/close")
            body = {"limit": 3, "epsilon": "0.01", "positives": 9}
        if name == "answer_search":
            known["search"] = str(self.call("POST", f"{at}/searches", body)["search"])
            body = {"question": factories.definition()["questions"][0]["name"], "answer": "yes"}
        if name.endswith("_webhook"):
            body = {"url": "https://hooks.example.org/"}
            if name != "create_webhook":
                known["webhook"] = str(self.call("POST", f"{at}/webhooks", body)["id"])
                body = None
        if issued := self.call("GET", f"{at}/invitations")["batches"]:
            known["batch"] = issued[0]["id"]
        return known, body

    def find_operation(self, name: str, slug: str) -> Any:
        """An operation, and what makes requests to it: most about this survey, and a batch of its invitations."""
        known, body = self.prepare(name, slug)
        document = self.client.get("/api/v1/openapi.json").json
        for path in document["paths"].values():
            for operation in path.values():
                for parameter in operation["parameters"]:
                    if parameter["name"] in known:
                        parameter["schema"] = {"const": known[parameter["name"]]}
                if body is not None and operation["operationId"] == name:
                    content = operation["requestBody"]["content"]["application/json"]
                    content["schema"] = {"anyOf": [{"const": body}, content["schema"]]}
        # The largest batches take their time, and try nothing else.
        document["components"]["schemas"]["issue"]["properties"]["size"]["maximum"] = 50
        found = [each.ok() for each in schemathesis.openapi.from_dict(document).get_all_operations()]
        return next(each for each in found if each.definition.raw["operationId"] == name)

    def send(self, case: Case) -> TestResponse:
        """A request, with a valid token in place of what was made up."""
        sent = case.as_transport_kwargs()
        headers = {**sent.pop("headers"), "Authorization": f"Bearer {self.token}"}
        body = {name: sent[name] for name in ("json", "data") if sent.get(name) is not None}
        return self.client.open(
            sent["url"], method=sent["method"], headers=headers, query_string=sent["params"], **body
        )

    def check(self, name: str, answer: TestResponse) -> None:
        """Hold an answer to its description."""
        operation = next(
            each
            for path in self.document["paths"].values()
            for each in path.values()
            if each["operationId"] == name
        )
        described = operation["responses"][str(answer.status_code)]
        for kind, content in described.get("content", {}).items():
            assert answer.mimetype == kind
            if kind.endswith("json"):
                rules = {**content["schema"], "components": self.document["components"]}
                assert list(Draft202012Validator(rules).iter_errors(answer.json)) == []


@pytest.fixture(scope="module")
def target(sqlite: NewDatabase) -> Iterator[Target]:
    """Everything that requests are made to."""
    database_url = sqlite(True)
    app = create_app(Config(database_url=database_url, webhooks=True))
    number = factories.account(database_url, "ana")
    with factories.writing(database_url) as session:
        researcher = session.get_one(Researcher, number)
        token = api_tokens.create_token(session, researcher, None, "editor", "fuzzing", "1")
    client = app.test_client()
    # The day on which a token was used is noted aside.
    with closing(CachedDump(database_url, left_out=["api_tokens"])) as database:
        yield Target(client, database_url, database, token, client.get("/api/v1/openapi.json").json)
    app.extensions["moneda.engine"].dispose()


@pytest.mark.parametrize("name", OPERATIONS)
def test_no_request_breaks_anything(target: Target, name: str) -> None:
    described = OPERATIONS[name]
    found = target.find_operation(name, target.new_survey(name))
    cases = found.as_strategy(generation_mode=GenerationMode.POSITIVE) | found.as_strategy(
        generation_mode=GenerationMode.NEGATIVE
    )
    seen: Counter[int] = Counter()

    @given(case=cases)
    @settings(max_examples=EACH, database=None, suppress_health_check=list(HealthCheck))
    def ask(case: Case) -> None:
        before = target.database.read() if described.method != "GET" else None
        answer = target.send(case)
        seen[answer.status_code] += 1
        assert answer.status_code < 500
        if before is not None and answer.status_code >= 400:
            assert target.database.read() == before
        if answer.status_code not in (404, 405) or answer.mimetype == "application/problem+json":
            target.check(name, answer)
        answer.close()

    ask()
    assert sum(seen.values()) >= min(EACH, 2)
    # Of many some are such as it does what it is for.
    assert EACH < 100 or seen[described.status]


def test_a_change_between_two_looks_is_seen(target: Target) -> None:
    """The twin: somebody else writes, to a table of all surveys and to one that a survey has of its own."""
    survey = factories.publish(target.database_url)
    for change in (
        lambda: sample_releases.grant(target.database_url, survey.slug),
        lambda: factories.store(target.database_url, survey, [((0, 1), 1)]),
    ):
        before = target.database.read()
        assert target.database.read() is before
        change()
        assert target.database.read() != before
