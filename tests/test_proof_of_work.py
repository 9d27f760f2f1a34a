"""Work against robots: asked for where an operator switches it on, of whatever comes by an open link; never stored."""

import json
import re
import secrets
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.collect.proofs_of_work import GRACE, check_work, parse_work
from server.collect.submissions import hash_receipt
from server.config import Config, ProofOfWork, from_environment
from tests.support import factories
from tests.support.factories import Published
from tests.support.front_client import create_app
from tests.support.work_solver import solve

RUNS = re.compile(r'data-modules="[^"]*\bwork\.js\b')
"""Modules are joined in few files, of which a page names those that it runs."""


@pytest.fixture
def working(database_url: str) -> Iterator[Flask]:
    """The site, where work is asked for."""
    app = create_app(Config(database_url=database_url, proof_of_work=ProofOfWork.ALWAYS))
    yield app
    app.extensions["moneda.engine"].dispose()


def refusal(client: FlaskClient, survey: Published, body: dict[str, Any]) -> tuple[int, str, str]:
    """Status, field and message; nothing was stored."""
    answer = client.post(survey.url, json=body)
    assert answer.json is not None
    error = answer.json["error"]
    return answer.status_code, error["field"], error["message"]


def test_a_response_with_work_is_stored_as_without(
    working: Flask, client: FlaskClient, survey: Published, database_url: str
) -> None:
    """The rows of both are alike: nothing of the work is in them. Sent again, also in another hour, it counts once."""
    # As the manual's program does it.
    (program,) = re.findall(
        r"```python\n(.*?)```", (factories.ROOT / "docs/definition.md").read_text(), re.DOTALL
    )
    names: dict[str, Any] = {}
    exec(program, names)  # noqa: S102
    worked, plain = survey.response([0, 1]), survey.response([0, 1])
    receipt, now = str(worked["id"]), int(time.time()) // 3600
    with_work = worked | {"work": names["work"](survey.slug, receipt)}
    site = working.test_client()
    answers = [
        site.post(survey.url, json=with_work),
        client.post(survey.url, json=plain),
        site.post(survey.url, json=with_work),
        site.post(survey.url, json=worked | {"work": solve(survey.slug, receipt, now - GRACE + 1)}),
        # Where it is not asked for, what a page has worked out before it was switched off is let pass.
        client.post(survey.url, json=with_work),
    ]
    assert [answer.status_code for answer in answers] == [201, 201, 200, 200, 200]
    one, other = factories.list_responses(database_url)
    assert one[1:] == other[1:]


def test_what_is_not_the_work_of_this_response_is_refused(
    working: Flask, survey: Published, database_url: str
) -> None:
    site = working.test_client()
    body = survey.response([0, 1])
    receipt, now = str(body["id"]), int(time.time()) // 3600
    found = solve(survey.slug, receipt, now)
    numbers = [found[start : start + 6] for start in range(6, 54, 6)]
    odd = {
        "of another link": solve("another", receipt, now),
        "of another receipt": solve(survey.slug, secrets.token_hex(16), now),
        "said to be of another hour": f"{now - 1:06d}{found[6:]}",
        "one number in place of all": found[:6] + numbers[0] * 8,
        "in another order": found[:6] + "".join(reversed(numbers)),
        "the last one wrong": found[:-6] + f"{int(numbers[-1], 16) + 1:06x}",
    }
    for name, work in odd.items():
        status, field, message = refusal(site, survey, body | {"work": work})
        assert (status, field) == (428, "work"), name
        assert message.startswith("must hold numbers in ascending order"), name
    for hour in (now - GRACE - 1, now + 3, 0, 999_999):
        status, field, message = refusal(site, survey, body | {"work": f"{hour:06d}{found[6:]}"})
        assert (status, field) == (428, "work")
        assert message.endswith(f"it is for {hour}")
    assert refusal(site, survey, body)[:2] == (428, "work")
    malformed: list[Any] = ["", found[:-1], found + "0", found.upper().replace("0", "G"), 7, None, [found]]
    for work in malformed:
        assert refusal(site, survey, body | {"work": work})[:2] == (422, "work"), work
    assert factories.list_responses(database_url) == []
    assert site.post(survey.url, json=body | {"work": found}).status_code == 201


def test_a_code_stands_in_for_work_where_codes_are_asked_for(
    working: Flask, survey: Published, database_url: str
) -> None:
    """By an open link nothing is let in with one."""
    (code,) = factories.invite(database_url, survey.slug, 1)
    opened = factories.publish(database_url)
    site = working.test_client()
    for link, invitation, status in [(survey, code, 201), (opened, code, 410), (opened, "0" * 16, 410)]:
        assert site.post(link.url, json=link.response([0, 1], invitation=invitation)).status_code == status
    assert len(factories.list_responses(database_url)) == 1


def test_only_pages_that_need_it_load_what_works(
    working: Flask, client: FlaskClient, survey: Published, database_url: str
) -> None:
    """Where a survey takes nothing, too, since something may still wait on a device."""
    invited, paused = factories.publish(database_url), factories.publish(database_url)
    factories.settle(database_url, invited.slug, by_invitation=True)
    factories.settle(database_url, paused.slug, paused=True)
    site = working.test_client()
    loaded = {
        link.slug: [bool(RUNS.search(each.get(f"/s/{link.slug}").text)) for each in (site, client)]
        for link in (survey, invited, paused)
    }
    assert loaded == {survey.slug: [True, False], invited.slug: [False, False], paused.slug: [True, False]}


def test_what_the_page_finds_is_what_the_server_takes() -> None:
    """The numbers that tests/client/work.test.js finds with the page's own script, and an hour later."""
    for vector in json.loads((factories.ROOT / "tests/vectors/work.json").read_text()):
        receipt = hash_receipt(bytes.fromhex(vector["receipt"]))
        for later in (0, 3600):
            now = datetime.fromtimestamp(vector["hour"] * 3600 + later, UTC).replace(tzinfo=None)
            check_work(parse_work(vector["work"]), vector["link"], receipt, now)


def test_a_server_that_leaves_it_to_surveys_asks_for_it_by_links_of_those_that_are_set_to(
    survey: Published, database_url: str
) -> None:
    """From the next response on, and its page says it by then."""
    plain = factories.publish(database_url)
    factories.settle(database_url, survey.slug, works=True)
    app = create_app(Config(database_url=database_url, proof_of_work=ProofOfWork.BY_SURVEY))
    site = app.test_client()
    assert [bool(RUNS.search(site.get(f"/s/{each.slug}").text)) for each in (survey, plain)] == [True, False]
    assert refusal(site, survey, survey.response([0, 1]))[:2] == (428, "work")
    assert site.post(plain.url, json=plain.response([0, 1])).status_code == 201

    body = survey.response([0, 1])
    work = solve(survey.slug, str(body["id"]), int(time.time()) // 3600)
    assert site.post(survey.url, json=body | {"work": work}).status_code == 201
    factories.settle(database_url, survey.slug, works=False)
    factories.settle(database_url, plain.slug, works=True)
    assert [bool(RUNS.search(site.get(f"/s/{each.slug}").text)) for each in (survey, plain)] == [False, True]
    assert site.post(survey.url, json=survey.response([0, 1])).status_code == 201
    assert refusal(site, plain, plain.response([0, 1]))[:2] == (428, "work")
    app.extensions["moneda.engine"].dispose()


@pytest.mark.parametrize(
    ("switch", "works", "asked", "said"),
    [
        (ProofOfWork.OFF, True, False, "it has no effect for now"),
        (ProofOfWork.BY_SURVEY, True, True, ""),
        (ProofOfWork.BY_SURVEY, False, False, ""),
        (ProofOfWork.ALWAYS, False, True, "it is asked for, ticked or not"),
    ],
)
def test_researchers_read_what_it_costs_and_whether_their_server_asks_for_it(
    switch: ProofOfWork, works: bool, asked: bool, said: str, survey: Published, database_url: str
) -> None:
    factories.settle(database_url, survey.slug, works=works)
    app = create_app(Config(database_url=database_url, proof_of_work=switch))
    signed_in = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))
    page = signed_in.get(f"/manage/surveys/{survey.slug}/schedule").text
    assert "About 5 seconds of an old phone" in page
    assert [each in page for each in ("it has no effect for now", "ticked or not")] == [
        bool(said) and each in said for each in ("it has no effect for now", "ticked or not")
    ]
    plan = signed_in.get(f"/manage/surveys/{survey.slug}").text
    assert ("each device also works against robots" in plan) == asked
    app.extensions["moneda.engine"].dispose()


def test_the_setting_is_one_of_three() -> None:
    read = [from_environment({"MONEDA_PROOF_OF_WORK": said}).proof_of_work for said in ("", *ProofOfWork)]
    assert read == ["off", "off", "by-survey", "always"]
    with pytest.raises(ValueError, match="must be one of off, by-survey, always; it is 'on'"):
        from_environment({"MONEDA_PROOF_OF_WORK": "on"})
