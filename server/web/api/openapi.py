"""The description of all operations (OpenAPI 3.1), made from what requests are held to.

apispec puts it together. The larger tools on top of it (flask-smorest, APIFlask) and spectree bring a second
language for what a body may be; here it is JSON Schema, in which definitions and plans are described already.
"""

import re
from collections.abc import Mapping
from typing import Any

from apispec import APISpec

from server import __version__
from server.inputs.schema import schema
from server.web.api.kept_replies import HEADER
from server.web.api.operations import ESTIMATES, OPERATIONS, SCHEMA, Operation, blueprint

_WHOLE = {"definition": "survey", "plan": "release", "report": "report", "study": "study"}
"""What has a shipped schema of its own."""
_OF_REPORTS = {
    "ledger": ("ledger",),
    "entries": ("ledger", "properties", "entries"),
    "questions": ("questions",),
}
"""Parts of a report that are answered by themselves."""
_PLACE = re.compile(r"<(?:(int):)?(\w+)>")
_FAILURES = {
    401: "There is no valid token.",
    403: "Researcher or token may not do this.",
    404: "There is no such survey, or part of it, that the token reaches.",
    409: "It cannot be done as things stand.",
    410: "The responses were deleted, as they are kept for so many days after closing only.",
    422: "Something that was sent is not possible.",
    429: "There were too many wrong tokens.",
    501: "It needs a package that this server does without.",
    503: "The database cannot be used at the moment.",
}


def describe_interface() -> dict[str, Any]:
    """The document, in English."""
    spec = APISpec(
        title="Moneda",
        version=__version__,
        openapi_version="3.1.0",
        info={"description": "Surveys whose answers are randomised before they are sent."},
        servers=[{"url": blueprint.url_prefix}],
        security=[{"token": []}],
    )
    spec.components.security_scheme("token", {"type": "http", "scheme": "bearer"})
    for name, described in _list_components().items():
        spec.components.schema(name, described)
    for operation in OPERATIONS.values():
        spec.path(
            path=_PLACE.sub(r"{\2}", operation.path),
            operations={operation.method.lower(): _describe(operation)},
        )
    document: dict[str, Any] = spec.to_dict()
    return document


def _list_components() -> dict[str, Any]:
    found = {name: _place(schema(shipped), name) for name, shipped in _WHOLE.items()}
    found |= {name: _place(rules, None) for name, rules in schema(SCHEMA)["$defs"].items()}
    for name, path in _OF_REPORTS.items():
        part: Any = schema("report")["properties"]
        for step in path:
            part = part[step]
        found[name] = _place(part, "report")
    found["released"] = _object(entries="entries")
    found["estimates"] = _object(questions="questions")
    for name in ESTIMATES:
        found["estimates"]["properties"].setdefault(
            name, _place(schema("report")["properties"][name], "report")
        )
    found["estimates"]["required"] = list(ESTIMATES)
    return found


def _object(**parts: str) -> dict[str, Any]:
    properties = {name: {"$ref": f"#/components/schemas/{part}"} for name, part in parts.items()}
    return {"type": "object", "required": list(parts), "properties": properties}


def _place(rules: Any, home: str | None) -> Any:
    """A schema as it stands in the document: what it refers to is found there, below `home` where that holds it."""
    if isinstance(rules, list):
        return [_place(each, home) for each in rules]
    if not isinstance(rules, Mapping):
        return rules
    placed = {name: _place(each, home) for name, each in rules.items() if name not in ("$schema", "$id")}
    reference = placed.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        inside = f"{home}/$defs/" if home else ""
        placed["$ref"] = f"#/components/schemas/{inside}{reference.removeprefix('#/$defs/')}"
    return placed


def _describe(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "description": f"Needs the role {operation.needed}.",
        "parameters": _list_parameters(operation),
        "responses": _list_responses(operation),
    }
    if operation.takes is not None:
        described["requestBody"] = {"required": True, "content": _content(operation.takes)}
    return described


def _list_parameters(operation: Operation) -> list[dict[str, Any]]:
    found = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "integer" if kind else "string"},
        }
        for kind, name in _PLACE.findall(operation.path)
    ]
    found += [
        {"name": name, "in": "query", "description": meaning, "schema": {"type": "integer", "minimum": 1}}
        for name, meaning in operation.parameters.items()
    ]
    text = {"type": "string", "minLength": 1}
    found += [
        {"name": name, "in": "query", "description": meaning, "schema": text}
        for name, meaning in operation.texts.items()
    ]
    texts = {"type": "array", "items": text}
    found += [
        {"name": name, "in": "query", "description": meaning, "schema": texts}
        for name, meaning in operation.repeated.items()
    ]
    if operation.keyed:
        meaning = "New for each thing to be done. Sent again within a day, nothing is done twice."
        found.append(
            {
                "name": HEADER,
                "in": "header",
                "required": True,
                "description": meaning,
                "schema": {"type": "string", "minLength": 1, "maxLength": 100},
            }
        )
    return found


def _list_responses(operation: Operation) -> dict[str, Any]:
    done: dict[str, Any] = {"description": "Done."}
    if operation.gives is not None:
        done["content"] = _content(operation.gives)
    elif operation.file:
        done["content"] = {operation.file: {"schema": {"type": "string", "format": "binary"}}}
    found: dict[str, Any] = {str(operation.status): done}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/problem"}}}
    for status, meaning in _FAILURES.items():
        found[str(status)] = {"description": meaning, "content": problem}
    if "explain" in operation.texts:
        found["413"] = {"description": "What is asked for takes too long.", "content": problem}
    if operation.takes is not None:
        for status, meaning in (
            (400, "What was sent is no JSON."),
            (413, "Too large."),
            (415, "Not sent as JSON."),
        ):
            found[str(status)] = {"description": meaning, "content": problem}
    return found


def _content(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
