"""The editor's form as a browser without scripts reads it, and sends it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

Fields = list[tuple[str, str]]


class _Reader(HTMLParser):
    """Collects what the form `#editor` would send: HTML's rules for each kind of field."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.action = ""
        self.fields: Fields = []
        self.buttons: list[str] = []
        self._inside = False
        self._area: tuple[str, list[str]] | None = None
        self._select: tuple[str, list[tuple[str, bool]]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._inside = said.get("id") == "editor"
            self.action = said["action"] if self._inside else self.action
        elif not self._inside:
            return
        elif tag == "input" and said.get("type") in ("checkbox", "radio"):
            self.fields += [(said["name"], said["value"])] if "checked" in said else []
        elif tag == "input":
            self.fields.append((said["name"], said["value"].replace("\n", "").replace("\r", "")))
        elif tag == "textarea":
            self._area = said["name"], []
        elif tag == "select":
            self._select = said["name"], []
        elif tag == "option" and self._select is not None:
            self._select[1].append((said["value"], "selected" in said))
        elif tag == "button" and said.get("name") == "action":
            self.buttons.append(said["value"])

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._area[1].append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
        elif tag == "textarea" and self._area is not None:
            text = "".join(self._area[1])
            # The line break right behind the tag is none; line breaks are sent as CR LF.
            text = text.removeprefix("\n").replace("\n", "\r\n")
            self.fields.append((self._area[0], text))
            self._area = None
        elif tag == "select" and self._select is not None:
            name, options = self._select
            chosen = [value for value, selected in options if selected] or [value for value, _ in options[:1]]
            self.fields += [(name, value) for value in chosen[-1:]]
            self._select = None


@dataclass
class Editor:
    """Somebody at the editor, without scripts."""

    client: FlaskClient
    answer: TestResponse
    typed: dict[str, list[str]] = field(default_factory=dict)

    @property
    def page(self) -> str:
        return self.answer.text

    def read(self) -> _Reader:
        reader = _Reader()
        reader.feed(self.page)
        return reader

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
