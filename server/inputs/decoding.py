"""Untrusted bytes -> a JSON value, strictly."""

import codecs
import json
import re
from collections import Counter
from typing import Any

from server.inputs.problems import N_, InputError, refuse, shorten_value

_DEPTH_LIMIT = 32
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def parse_json(body: bytes, limit: int, field: str = "body") -> Any:
    """Decode one JSON text, strictly: UTF-8, no duplicate names, no NaN, no NUL, bounded.

    A refusal of the whole calls it `field`.
    A mark of byte order at the beginning, which some editors write, is passed over (RFC 8259, section 8.1).
    """
    if len(body) > limit:
        raise refuse(413, field, N_("must be at most %(limit)d bytes; it has more"), limit=limit)
    try:
        text = body.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(
            400, field, N_("must be UTF-8; byte %(position)d is not"), position=error.start
        ) from None
    try:
        value = _DECODER.decode(text)
    except _NoNumberError as error:
        raise refuse(400, field, N_("must be JSON; %(value)s is not"), value=str(error)) from None
    except InputError:
        raise
    except RecursionError:
        raise refuse(400, field, N_("must not be nested this deeply")) from None
    except json.JSONDecodeError as error:
        raise refuse(
            400, field, N_("must be JSON; it is not from character %(position)d on"), position=error.pos
        ) from None
    except ValueError:
        # The interpreter's own limit on the digits of one integer.
        raise refuse(400, field, N_("must not hold a number of thousands of digits")) from None
    # Nothing else than an escape can bring a NUL or half a pair; few brackets nest only a little.
    if "\\u" in text or text.count("[") + text.count("{") > _DEPTH_LIMIT:
        check_text(value, whole=field)
    return value


def unpoint_whole_numbers(value: Any) -> Any:
    """A JSON value with 3.0 as 3: JSON Schema calls both integers, and what counts by them takes the second alone."""
    if isinstance(value, dict):
        return {name: unpoint_whole_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [unpoint_whole_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        counted = Counter(name for name, _ in pairs)  # not list.count: a long object must not take minutes
        twice = next(name for name, count in counted.items() if count > 1)
        raise refuse(400, shorten_value(twice), N_("must stand only once in its object"))
    return value


class _NoNumberError(Exception):
    """NaN or an infinity, which JSON does not have."""


def _no_constant(name: str) -> Any:
    raise _NoNumberError(name)


# Made once: it is made anew for each text otherwise.
_DECODER = json.JSONDecoder(object_pairs_hook=_no_duplicates, parse_constant=_no_constant)


def check_text(value: Any, field: str = "", depth: int = 0, whole: str = "body") -> None:
    """Refuse what no database or reader can hold: NUL, lone surrogates, bottomless nesting."""
    if depth > _DEPTH_LIMIT:
        raise refuse(400, whole, N_("must not be nested this deeply"))
    if isinstance(value, str):
        if "\x00" in value:
            raise refuse(422, field or whole, N_("must not contain a NUL character"))
        if _HALF_PAIR.search(value):
            raise refuse(422, field or whole, N_("must not contain half of a surrogate pair"))
    elif isinstance(value, dict):
        for name, item in value.items():
            check_text(name, shorten_value(name), depth, whole)
            check_text(item, f"{field}.{name}" if field else name, depth + 1, whole)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            check_text(item, f"{field}[{index}]", depth + 1, whole)
