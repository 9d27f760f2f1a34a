"""The editor's form as a browser without scripts reads it, and sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

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


def written(editor: Editor, title: str, *wordings: str) -> Editor:
    """Type a title and yes/no questions, and keep them."""
    for place, wording in enumerate(wordings):
        if place:
            editor.press("add")
        editor.type({"title": title, f"questions[{place}].text": wording})
    return editor.press("keep")
