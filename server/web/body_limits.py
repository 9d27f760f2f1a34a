"""How large the body of a request may be: a view says it, the front and Flask hold to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from flask import Flask, Request
from werkzeug.exceptions import HTTPException

from server.study.definitions.definition_reader import DEFINITION_LIMIT

View = TypeVar("View", bound=Callable[..., Any])


@dataclass(frozen=True)
class BodyLimit:
    """What a view takes: most bytes, and whether it may be a file of somebody who is signed in."""

    size: int
    upload: bool = False


FORM = BodyLimit(DEFINITION_LIMIT)
"""Of every view that says nothing else."""
LONG_FORM = 4 * DEFINITION_LIMIT
"""Bytes of a form that holds a definition, percent-encoded and each text with its path, or all codes of a batch."""


def limit_body(size: int, *, upload: bool = False) -> Callable[[View], View]:
    """Let a view take bodies of up to `size` bytes; stands right below its route."""

    def mark(view: View) -> View:
        view.body_limit = BodyLimit(size, upload)  # type: ignore[attr-defined]
        return view

    return mark


def find_limit(app: Flask, endpoint: str | None) -> BodyLimit:
    """What the view of an endpoint takes."""
    found: BodyLimit = getattr(app.view_functions.get(endpoint or ""), "body_limit", FORM)
    return found


def match_limit(app: Flask, request: Request) -> BodyLimit:
    """What the view takes that a request will reach."""
    try:
        endpoint, _values = app.create_url_adapter(request).match()  # type: ignore[union-attr]
    except HTTPException:
        return FORM
    return find_limit(app, endpoint)
