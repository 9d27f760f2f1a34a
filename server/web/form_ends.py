"""The last field of every form: whoever reads a form that was cut on its way finds it missing, and reads nothing.

A form that ends early still parses: its last fields are missing or shortened, and a setting that is not sent is a
setting that is off. So every form ends with one field that nobody fills in. No part of a form that ends early ends with
that field: a `&` or a boundary in a value is never sent as it stands. It guards against what a proxy or a network does,
not against somebody who forges a request, who may send whole ones just as well.
"""

import re
from contextlib import ExitStack
from io import RawIOBase
from typing import IO, TYPE_CHECKING, cast

from flask import Request, request
from markupsafe import Markup
from werkzeug.datastructures import FileStorage, MultiDict
from werkzeug.exceptions import BadRequest
from werkzeug.formparser import FormDataParser

if TYPE_CHECKING:
    from werkzeug.formparser import TStreamFactory

NAME, VALUE = "form_end", "whole"
FIELD = Markup('<input type="hidden" name="%s" value="%s">') % (NAME, VALUE)
"""Stands before `</form>` in every form that is sent by POST."""
TYPES = frozenset({"application/x-www-form-urlencoded", "multipart/form-data"})

_PAIR = f"{NAME}={VALUE}".encode()
_PART = re.compile(
    rb'--(?P<boundary>[^\r\n]+)\r\n(?i:content-disposition): form-data; name="%b"\r\n\r\n%b\r\n--(?P=boundary)--\r\n'
    % (NAME.encode(), VALUE.encode())
)
_NOT_FORMS = {None, "respond.store", "respond.look"}
"""Addresses that take no form: those that there are not, and those that respondents' pages send JSON to."""
_PROGRAMS = "api"
"""The blueprint that takes JSON of programs."""
_REACH = 512
"""Bytes in which the last field of either kind has room: a boundary has 70 characters at most."""


class CutForm(BadRequest):
    """A form came without its last field."""


class WholeFormParser(FormDataParser):
    """Reads forms that end with the last field, without it; every other one raises `CutForm`."""

    def parse(
        self,
        stream: IO[bytes],
        mimetype: str,
        content_length: int | None,
        options: dict[str, str] | None = None,
    ) -> tuple[IO[bytes], "MultiDict[str, str]", "MultiDict[str, FileStorage]"]:
        if mimetype not in TYPES:
            raise CutForm
        seen = _TailStream(stream)
        with ExitStack() as refused:
            self.stream_factory = _closed_with(refused, self.stream_factory)
            rest, form, files = super().parse(cast(IO[bytes], seen), mimetype, content_length, options)
            # What cannot be parsed comes back empty, also where its last bytes are right.
            if form.getlist(NAME) != [VALUE] or not _ends_whole(seen.end, mimetype, options or {}):
                raise CutForm
            refused.pop_all()  # from here on its files are the request's, which closes them
        fields = [(name, text) for name, text in form.items(multi=True) if name != NAME]
        return rest, self.cls(fields), files


class FormRequest(Request):
    """A request whose form is whole, or is not read at all."""

    form_data_parser_class = WholeFormParser


def refuse_cut_forms() -> None:
    """Read what was sent to be acted on, all of it, and refuse everything but a form that has its end.

    Before the database is asked anything: SQLite's write lock must not wait for a slow sender.
    """
    if request.method in ("GET", "HEAD", "OPTIONS") or request.endpoint in _NOT_FORMS:
        return
    if request.blueprint == _PROGRAMS:  # a JSON object that ends early is none
        _ = request.get_data()
        return
    if request.mimetype not in TYPES:
        raise CutForm
    _ = request.form


class _TailStream(RawIOBase):
    """A stream that remembers the last bytes that were read of it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.end = b""

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self.end = (self.end + data[-_REACH:])[-_REACH:]
        return data


def _closed_with(files: ExitStack, make: "TStreamFactory") -> "TStreamFactory":
    """Makes the files of a form, which are closed together."""

    def make_one(
        total_content_length: int | None,
        content_type: str | None,
        filename: str | None,
        content_length: int | None = None,
    ) -> IO[bytes]:
        return files.enter_context(make(total_content_length, content_type, filename, content_length))

    return make_one


def _ends_whole(end: bytes, mimetype: str, options: dict[str, str]) -> bool:
    if mimetype == "application/x-www-form-urlencoded":
        return end == _PAIR or end.endswith(b"&" + _PAIR)
    boundary = options.get("boundary", "").encode()
    found = _PART.search(end)
    return found is not None and found.end() == len(end) and found["boundary"] == boundary
