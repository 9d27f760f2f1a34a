"""The builder of releases as a browser without scripts reads it, and sends it."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from server import releases
from server.people import survey_access
from server.releases import Ledger
from tests.support import factories
from tests.support.html_forms import Form, read_form

COUNT: dict[str, Any] = {"kind": "count"}


def share(question: str) -> dict[str, Any]:
    """The share of Yes to a question."""
    return {"kind": "share", "option": "yes", "questions": [question]}


def key(item: Mapping[str, Any]) -> str:
    """An item as its box names it."""
    return json.dumps(item, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


@dataclass
class Builder:
    """Somebody at the builder of releases, without scripts."""

    client: FlaskClient
    slug: str
    answer: TestResponse
    typed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def home(self) -> str:
        """Where the survey's releases are."""
        return f"/manage/surveys/{self.slug}/releases"

    def read(self) -> Form:
        return read_form(self.answer.text, "builder")

    @property
    def pays(self) -> bool:
        """Whether the page has the button that releases."""
        return any(control.formaction.endswith("/releases") for control in self.read().controls)

    def type(self, changes: Mapping[str, str] | None = None, **more: str) -> "Builder":
        """Change fields before the next button."""
        self.typed |= {name: [text] for name, text in {**(changes or {}), **more}.items()}
        return self

    def tick(self, *items: Mapping[str, Any]) -> "Builder":
        """Tick offered items, and no others."""
        assert {key(item) for item in items} <= set(self.read().values("item"))
        self.typed["item"] = [key(item) for item in items]
        return self

    def fields(self) -> list[tuple[str, str]]:
        """What would be sent now."""
        fields = [(name, text) for name, text in self.read().fields if name not in self.typed]
        return fields + [(name, text) for name, texts in self.typed.items() for text in texts]

    @property
    def form(self) -> dict[str, list[str]]:
        """The same as a client of Flask takes it."""
        fields = self.fields()
        return {name: [text for other, text in fields if other == name] for name, _ in fields}

    def press(self, action: str = "look") -> "Builder":
        """Send it with one of the buttons that look."""
        data = MultiDict([*self.fields(), ("action", action)])
        self.typed = {}
        self.answer = self.client.post(f"{self.home}/new", data=data, headers={"Accept-Language": "en"})
        return self

    def pay(self, **more: str) -> TestResponse:
        """Tick that it cannot be taken back, and press the button that releases."""
        data = MultiDict([*self.fields(), *{"sure": "yes", **more}.items()])
        return self.client.post(self.home, data=data, headers={"Accept-Language": "en"})

    def upload(self, document: object) -> "Builder":
        """Use a plan from a file."""
        data = {"plan": (io.BytesIO(json.dumps(document).encode()), "plan.json")}
        self.answer = self.client.post(f"{self.home}/new", data=data, headers={"Accept-Language": "en"})
        return self


def set_budget(
    client: FlaskClient, slug: str, epsilon: str = "1", delta: str = "0", neighbours: str = "unbounded"
) -> TestResponse:
    """Set the budget of a survey on its page."""
    form = {"epsilon": epsilon, "delta": delta, "neighbours": neighbours}
    return client.post(
        f"/manage/surveys/{slug}/releases/budget", data=form, headers={"Accept-Language": "en"}
    )


def build(client: FlaskClient, slug: str) -> Builder:
    """The builder, nothing ticked."""
    address = f"/manage/surveys/{slug}/releases/new"
    return Builder(client, slug, client.get(address, headers={"Accept-Language": "en"}))


def ledger(database_url: str, slug: str) -> Ledger:
    """What was released of a survey."""
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        return releases.read_ledger(session, survey)
