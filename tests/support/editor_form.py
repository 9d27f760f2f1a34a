"""The editor's form as a browser without scripts reads it, and sends it."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from server.config import Config
from server.web.security import COOKIE, COOKIE_PATH
from tests.support import factories
from tests.support.front_client import create_app
from tests.support.html_forms import Form, read_form


@dataclass
class Editor:
    """Somebody at the editor, without scripts."""

    client: FlaskClient
    answer: TestResponse
    typed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def page(self) -> str:
        return self.answer.text

    def read(self) -> Form:
        return read_form(self.page, "editor")

    def __getitem__(self, name: str) -> str:
        """What a field holds on the page; the last, where several have its name."""
        return dict(self.read().fields)[name]

    def names(self, name: str) -> list[str]:
        """All that would be sent under a name."""
        return [text for other, text in self.read().fields if other == name]

    @property
    def path(self) -> str:
        return self.read().action.partition("?")[0].removesuffix("/edit")

    @property
    def document(self) -> Any:
        """The draft as it is exported."""
        return self.client.get(f"{self.path}/definition.json").get_json()

    @property
    def wordings(self) -> list[str]:
        """The wordings of all entries as they are kept."""
        return [entry["text"] for entry in self.document["questions"]]

    def type(self, changes: Mapping[str, str | list[str]] | None = None, **more: str) -> "Editor":
        """Change fields before the next button."""
        for name, text in {**(changes or {}), **more}.items():
            self.typed[name] = [text] if isinstance(text, str) else text
        return self

    def press(self, action: str, *, follow: bool = True) -> "Editor":
        """Press a button: the whole form goes, and the page that answers comes."""
        reader = self.read()
        fields = [(name, text) for name, text in reader.fields if name not in self.typed]
        fields += [(name, text) for name, texts in self.typed.items() for text in texts]
        self.typed = {}
        data = MultiDict([*fields, ("action", action)])
        self.answer = self.client.post(reader.action, data=data)
        if follow and self.answer.status_code == 303:
            self.answer = self.client.get(self.answer.location)
        return self


def new(client: FlaskClient) -> Editor:
    """An empty editor."""
    return Editor(client, client.get("/manage/surveys/new"))


def edit(client: FlaskClient, slug: str) -> Editor:
    """The editor with a draft in it."""
    return Editor(client, client.get(f"/manage/surveys/{slug}/edit"))


def write_questions(editor: Editor, title: str, *wordings: str) -> Editor:
    """Type a title and yes/no questions, and keep them."""
    for place, wording in enumerate(wordings):
        if place:
            editor.press("add")
        editor.type({"title": title, f"questions[{place}].text": wording})
    return editor.press("keep")


@dataclass(frozen=True)
class Prepared:
    """A SQLite database in which a researcher has written a survey, with what their browser holds and shows."""

    database_url: str
    cookie: str
    answer: TestResponse

    def open(self, app: Flask) -> Editor:
        """The same researcher at the same page, on an application whose database is a copy of this one."""
        client = app.test_client()
        client.set_cookie(COOKIE, self.cookie, path=COOKIE_PATH)
        return Editor(client, self.answer)


def prepare(database_url: str, title: str, *wordings: str) -> Prepared:
    """Sign in and write yes/no questions into a database, which tests then copy: they take less than writing does."""
    app = create_app(Config(database_url=database_url, webhooks=True))
    client = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    editor = write_questions(new(client), title, *wordings)
    app.extensions["moneda.engine"].dispose()
    cookie = client.get_cookie(COOKIE, path=COOKIE_PATH)
    assert cookie is not None
    return Prepared(database_url, cookie.value, editor.answer)


def copy_prepared(request: pytest.FixtureRequest, name: str, database_url: str) -> str:
    """The same database: a copy of what is prepared for tests that ask for this fixture, else as it is."""
    if name in request.fixturenames:
        prepared: Prepared = request.getfixturevalue("prepared_editor")
        shutil.copy(*(str(sa.make_url(each).database) for each in (prepared.database_url, database_url)))
    return database_url
