"""Forms as browsers send them: with the field that each ends with."""

from collections.abc import Iterable, Mapping
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.test import TestResponse, encode_multipart

from server.web.form_ends import NAME, VALUE
from server.web.security import COOKIE, COOKIE_PATH
from tests.support.html_forms import read_forms

Field = tuple[str, Any]

Control = tuple[str, str, str, str]


class ReadPage(TestResponse):
    """An answer whose `text`, if it is a page, is as somebody reads it, wherever lines may end: a space is a space."""

    @property
    def text(self) -> str:
        read = super().text
        return read.replace("\N{NO-BREAK SPACE}", " ") if self.mimetype == "text/html" else read


class Browser(FlaskClient):
    """Sends a form whose fields a test names, or one without fields, as the site's pages make it.

    What a test has written out itself, JSON and bytes, goes as it is.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.response_wrapper = type("ReadAnswer", (ReadPage, self.response_wrapper), {})

    def open(self, *args: Any, **kwargs: Any) -> TestResponse:
        data = kwargs.get("data")
        if kwargs.get("method") == "POST" and "json" not in kwargs and not isinstance(data, (bytes, str)):
            fields = end_fields(_fields(data or {}))
            if any(isinstance(value, FileStorage) for _name, value in fields):
                boundary, kwargs["data"] = encode_multipart(MultiDict(fields))
                kwargs["content_type"] = f"multipart/form-data; boundary={boundary}"
            else:
                kwargs["data"] = MultiDict(fields)
        return super().open(*args, **kwargs)


def plain(client: FlaskClient) -> FlaskClient:
    """The same browser, signed in as it is, that sends what it is given and nothing else."""
    made = FlaskClient(client.application, client.application.response_class, use_cookies=True)
    if cookie := client.get_cookie(COOKIE, path=COOKIE_PATH):
        made.set_cookie(COOKIE, cookie.value, path=COOKIE_PATH)
    return made


def end_fields(fields: Iterable[Field]) -> list[Field]:
    """The fields with the last one at the end."""
    return [*((name, value) for name, value in fields if name != NAME), (NAME, VALUE)]


def write_multipart(*parts: bytes, boundary: str = "X") -> tuple[bytes, str]:
    """A form with files, written out: its parts, headers and all, and the last field; and its type."""
    last = f'Content-Disposition: form-data; name="{NAME}"\r\n\r\n{VALUE}'.encode()
    mark = b"--" + boundary.encode()
    body = b"".join(b"%b\r\n%b\r\n" % (mark, part) for part in (*parts, last))
    return body + mark + b"--\r\n", f"multipart/form-data; boundary={boundary}"


def read_posted_forms(page: str) -> list[list[Control]]:
    """Tag, type, name and value of all controls of each form that a page sends by POST, in the order of the page."""
    return [
        [(control.tag, control.type, control.name, control.value) for control in form.controls]
        for form in read_forms(page)
        if form.method == "post"
    ]


def _fields(data: Mapping[str, Any]) -> list[Field]:
    """What werkzeug's own client takes: lists of values, and tuples and streams for files."""
    listed = data.lists() if isinstance(data, MultiDict) else data.items()
    pairs = [
        (name, each) for name, value in listed for each in (value if isinstance(value, list) else [value])
    ]
    return [(name, _file(value) if _is_file(value) else value) for name, value in pairs]


def _is_file(value: object) -> bool:
    return isinstance(value, tuple) or hasattr(value, "read")


def _file(value: Any) -> FileStorage:
    if isinstance(value, FileStorage):
        return value
    return FileStorage(*value) if isinstance(value, tuple) else FileStorage(value)
