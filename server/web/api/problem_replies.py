"""What programs are told where something was refused or failed (RFC 9457), in the words of the pages."""

from collections.abc import Sequence
from typing import Any

from flask import Response, json

from server.store.failures import RETRY_AFTER

_ROOT = "/api/"


def is_for_programs(path: str) -> bool:
    """Whether an address is one that programs call."""
    return path.startswith(_ROOT)


def write_problem(title: str, status: int, errors: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """A refusal as JSON; of each thing wrong its field, and what is wrong with it."""
    field, message = errors[0]
    return {
        "title": title,
        "status": status,
        "detail": f"{field}: {message}",
        "errors": [{"field": name, "message": text} for name, text in errors],
    }


def answer_problem(title: str, status: int, errors: Sequence[tuple[str, str]]) -> Response:
    """The same as an answer."""
    text = json.dumps(write_problem(title, status, errors), ensure_ascii=False)
    answer = Response(text + "\n", status, mimetype="application/problem+json")
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        answer.headers["Retry-After"] = str(RETRY_AFTER)
    return answer
