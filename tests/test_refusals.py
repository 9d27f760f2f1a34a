"""Bad responses: each refused with status, field and message, and nothing stored."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config import Config
from tests.support import factories
from tests.support.factories import Published, dump
from tests.support.front_client import create_app
from tests.support.scale import choose_size

WHOLE = "must be a whole number from 0 to 255; it is "
HEX = "must be 32 hexadecimal digits in lower case; it is "

BAD_VALUES: list[tuple[dict[str, Any], str, str]] = [
    ({"reports": [0, 2]}, "reports[1]", "must be a whole number from 0 to 1; it is 2"),
    ({"reports": [255, 0]}, "reports[0]", "must be a whole number from 0 to 1; it is 255"),
    ({"reports": [0, 256]}, "reports[1]", WHOLE + "256"),
    ({"reports": [-1, 0]}, "reports[0]", WHOLE + "-1"),
    ({"reports": [0.5, 0]}, "reports[0]", WHOLE + "0.5"),
    ({"reports": [1.0, 0]}, "reports[0]", WHOLE + "1.0"),
    ({"reports": [10**30, 0]}, "reports[0]", WHOLE + "1" + "0" * 30),
    ({"reports": [10**100, 0]}, "reports[0]", WHOLE + "1" + "0" * 59 + "…"),
    ({"reports": [True, 0]}, "reports[0]", WHOLE + "true"),
    ({"reports": [0, False]}, "reports[1]", WHOLE + "false"),
    ({"reports": ["1", 0]}, "reports[0]", WHOLE + "1"),
    ({"reports": [None, 0]}, "reports[0]", WHOLE + "null"),
    ({"reports": [[0], 0]}, "reports[0]", WHOLE + "[0]"),
    ({"reports": [{"0": 1}, 0]}, "reports[0]", WHOLE + '{"0": 1}'),
    ({"reports": []}, "reports", "must have 2 entries, one for each question; it has 0"),
    ({"reports": [0]}, "reports", "must have 2 entries, one for each question; it has 1"),
    ({"reports": [0, 0, 0]}, "reports", "must have 2 entries, one for each question; it has 3"),
    ({"reports": "00"}, "reports", "must be a list of whole numbers; it is 00"),
    ({"reports": {"0": 0}}, "reports", 'must be a list of whole numbers; it is {"0": 0}'),
    ({"reports": None}, "reports", "must be a list of whole numbers; it is null"),
    ({"reports": True}, "reports", "must be a list of whole numbers; it is true"),
    ({"reports": 0}, "reports", "must be a list of whole numbers; it is 0"),
    ({"id": "0" * 31}, "id", HEX + "0" * 31),
    ({"id": "0" * 33}, "id", HEX + "0" * 33),
    ({"id": "A" * 32}, "id", HEX + "A" * 32),
    ({"id": "g" * 32}, "id", HEX + "g" * 32),
    ({"id": "٣" * 32}, "id", HEX + "٣" * 32),
    ({"id": "0" * 32 + "\n"}, "id", HEX + "0" * 32 + "\ufffd"),
    ({"id": " " + "0" * 31}, "id", HEX + " " + "0" * 31),
    ({"id": ""}, "id", HEX),
    ({"id": 0}, "id", HEX + "0"),
    ({"id": None}, "id", HEX + "null"),
    ({"id": ["0" * 32]}, "id", HEX + '["' + "0" * 32 + '"]'),
    ({"version": "0" * 64}, "version", "it is " + "0" * 64 + ". Load the page again"),
    (
        {"version": "F" * 64},
        "version",
        "must be 64 hexadecimal digits in lower case; it is " + "F" * 60 + "…",
    ),
    ({"version": 1}, "version", "must be 64 hexadecimal digits in lower case; it is 1"),
    ({"truth": [1, 0]}, "truth", "is not a field of a response; allowed: id, version, reports"),
    ({"time": "12:00"}, "time", "is not a field of a response; allowed: id, version, reports"),
    ({"id\x00": ""}, "id\ufffd", "must not contain a NUL character"),
    ({"id": "\x00" * 32}, "id", "must not contain a NUL character"),
    ({"id": "\ud800"}, "id", "must not contain half of a surrogate pair"),
]

BAD_BODIES: list[tuple[bytes, int, str, str]] = [
    (b"", 400, "body", "must be JSON; it is not from character 0 on"),
    (b"not JSON", 400, "body", "must be JSON; it is not from character 0 on"),
    (b"\x00", 400, "body", "must be JSON; it is not from character 0 on"),
    (b'{"id"\x00: 1}', 400, "body", "must be JSON; it is not from character 5 on"),
    (b'{"id": "\x00"}', 400, "body", "must be JSON; it is not from character 8 on"),
    (b'{"id": 1,}', 400, "body", "must be JSON; it is not from character "),
    (b"{'id': 1}", 400, "body", "must be JSON; it is not from character 1 on"),
    (b"{} {}", 400, "body", "must be JSON; it is not from character 3 on"),
    (b'\xef\xbb\xbf{"id": 1}', 422, "version", "is required"),
    (b'{"id": "\xff"}', 400, "body", "must be UTF-8; byte 8 is not"),
    (b'{"id": "\xed\xa0\x80"}', 400, "body", "must be UTF-8; byte 8 is not"),
    ('{"id": 1}'.encode("utf-16"), 400, "body", "must be UTF-8; byte 0 is not"),
    (b'{"reports": [NaN]}', 400, "body", "must be JSON; NaN is not"),
    (b'{"reports": [-Infinity]}', 400, "body", "must be JSON; -Infinity is not"),
    (b'{"reports": [' + b"1" * 5000 + b"]}", 400, "body", "must not hold a number of thousands of digits"),
    (b'{"id": 1, "id": 2}', 400, "id", "must stand only once in its object"),
    (b'{"reports": [{"a": 1, "a": 1}]}', 400, "a", "must stand only once in its object"),
    (b'{"id": "\\ud800"}', 422, "id", "must not contain half of a surrogate pair"),
    (b'{"id": "\\u0000"}', 422, "id", "must not contain a NUL character"),
    (b"[" * 100 + b"]" * 100, 400, "body", "must not be nested this deeply"),
    (b"[" * 8_000 + b"]" * 8_000, 400, "body", "must not be nested this deeply"),
    (b'{"a":' * 100 + b"1" + b"}" * 100, 400, "body", "must not be nested this deeply"),
    (b"[" * 100_000, 413, "body", "must be at most 16384 bytes; it has more"),
    (b" " * 16_385, 413, "body", "must be at most 16384 bytes; it has more"),
    (b"a" * 2_000_000, 413, "body", "must be at most 16384 bytes; it has more"),
    (b"null", 422, "body", "must be a JSON object; it is null"),
    (b"[]", 422, "body", "must be a JSON object; it is []"),
    (b'"<script>"', 422, "body", "must be a JSON object; it is <script>"),
    (b"{}", 422, "id", "is required"),
]


@dataclass(frozen=True)
class Site:
    """An application with one published survey. All tests share it: none of them changes it."""

    client: FlaskClient
    survey: Published
    database_url: str


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def site(request: pytest.FixtureRequest) -> Iterator[Site]:
    database_url = request.getfixturevalue(request.param)(True)
    app = create_app(Config(database_url=database_url))
    yield Site(app.test_client(), factories.publish(database_url), database_url)
    app.extensions["moneda.engine"].dispose()


def _check_refusal(answer: Any, status: int, field: str, message: str) -> None:
    assert answer.status_code == status, answer.data
    error = answer.get_json()
    assert error.keys() == {"error"}
    assert error["error"].keys() == {"field", "message"}
    assert error["error"]["field"] == field
    assert error["error"]["message"].endswith(message) or error["error"]["message"].startswith(message)


def _is_error(document: Any) -> bool:
    return (
        document.keys() == {"error"}
        and document["error"].keys() == {"field", "message"}
        and all(isinstance(text, str) for text in document["error"].values())
        and "Traceback" not in document["error"]["message"]
    )


@pytest.mark.parametrize(("changes", "field", "message"), BAD_VALUES, ids=lambda value: str(value)[:40])
def test_bad_value_is_refused_with_range_and_value(
    changes: dict[str, Any],
    field: str,
    message: str,
    site: Site,
) -> None:
    before = dump(site.database_url)
    body = {**site.survey.response(), **changes}

    answer = site.client.post(site.survey.url, data=json.dumps(body), content_type="application/json")

    _check_refusal(answer, 409 if changes.get("version") == "0" * 64 else 422, field, message)
    assert dump(site.database_url) == before


@pytest.mark.parametrize("missing", ["id", "version", "reports"])
def test_missing_field_is_named(missing: str, site: Site) -> None:
    before = dump(site.database_url)
    body = site.survey.response()
    del body[missing]

    _check_refusal(site.client.post(site.survey.url, json=body), 422, missing, "is required")
    assert dump(site.database_url) == before


@pytest.mark.parametrize("spelling", [b"1.0", b"1e0", b"1E400", b"0.0"])
def test_report_must_be_spelled_as_a_whole_number(spelling: bytes, site: Site) -> None:
    before = dump(site.database_url)
    body = json.dumps(site.survey.response()).encode().replace(b"[0, 0]", b"[0, %b]" % spelling)

    answer = site.client.post(site.survey.url, data=body, content_type="application/json")

    _check_refusal(answer, 422, "reports[1]", WHOLE)
    assert dump(site.database_url) == before


@pytest.mark.parametrize(
    ("body", "status", "field", "message"), BAD_BODIES, ids=lambda value: str(value)[:40]
)
def test_bad_body_is_refused(
    body: bytes,
    status: int,
    field: str,
    message: str,
    site: Site,
) -> None:
    before = dump(site.database_url)

    _check_refusal(
        site.client.post(site.survey.url, data=body, content_type="application/json"), status, field, message
    )
    assert dump(site.database_url) == before


@pytest.mark.parametrize(
    ("content_type", "shown"),
    [
        (None, "-"),
        ("", "-"),
        ("text/plain", "text/plain"),
        ("application/x-www-form-urlencoded", "application/x-www-form-urlencoded"),
        ("multipart/form-data; boundary=x", "multipart/form-data"),
        ("application/jsonp", "application/jsonp"),
        ("text/plain; application/json", "text/plain"),
    ],
)
def test_other_content_type_is_refused(content_type: str | None, shown: str, site: Site) -> None:
    before = dump(site.database_url)
    body = json.dumps(site.survey.response())

    answer = site.client.post(site.survey.url, data=body, content_type=content_type)

    _check_refusal(answer, 415, "Content-Type", f"must be application/json; it is {shown}")
    assert dump(site.database_url) == before


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 3) | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.scaled
@settings(max_examples=choose_size(50, 1_500), deadline=None)
@given(data=st.data())
def test_whatever_is_sent_is_stored_if_valid_and_refused_otherwise(site: Site, data: st.DataObject) -> None:
    valid = site.survey.response()
    near = st.fixed_dictionaries(
        {
            "id": st.just(valid["id"]) | ANYTHING,
            "version": st.just(valid["version"]) | ANYTHING,
            "reports": st.lists(st.integers(0, 2), min_size=1, max_size=3) | ANYTHING,
        },
        optional={"extra": ANYTHING},
    )
    body = data.draw(
        st.binary(max_size=200) | (near | ANYTHING).map(lambda value: json.dumps(value).encode())
    )
    before = dump(site.database_url)

    answer = site.client.post(site.survey.url, data=body, content_type="application/json")

    after = dump(site.database_url)
    if answer.status_code == 201:
        sent = json.loads(body)
        assert (sent["version"], len(sent["reports"]), sent.keys()) == (site.survey.version, 2, valid.keys())
        assert all(type(report) is int and report in (0, 1) for report in sent["reports"])
        assert len(after.pop("responses")) == len(before.pop("responses")) + 1
        for counts in ("cells", "batches", "counters"):  # a response is entered into the books
            after.pop(counts), before.pop(counts)
    elif answer.status_code == 200:
        # Bytes may be drawn that were sent before: known, and nothing changes.
        assert bytes.fromhex(json.loads(body)["id"]) in {bytes(row[0]) for row in before["responses"]}  # type: ignore[call-overload]
    else:
        assert answer.status_code in (400, 409, 422)
        assert _is_error(answer.get_json())
    assert after == before
