"""What programs call: the same rules as on the pages, and a description that is true of it."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator
from werkzeug.test import TestResponse

from server import archives
from server.people import api_tokens, survey_access
from server.people.reply_keeping import KEEPING
from server.people.tokens import hash_of, now
from server.store.models import ApiToken, AuditEntry, KeptReply, Researcher, Survey
from server.web.api.kept_replies import HEADER
from server.web.api.operations import OPERATIONS
from tests.support import completion_claims, factories, sample_releases
from tests.support.explainable_survey import collect
from tests.support.study_form import study_document

Call = Callable[..., TestResponse]

QUESTION = factories.definition()["questions"][0]["name"]


@pytest.fixture
def owner(database_url: str) -> int:
    """Somebody with an account."""
    return factories.account(database_url, "ana")


def make_token(
    database_url: str, owner: int, role: str = "editor", slug: str | None = None, days: str = "30"
) -> str:
    """A token of theirs."""
    with factories.writing(database_url) as session:
        researcher = session.get_one(Researcher, owner)
        survey = None if slug is None else survey_access.find(session, slug)
        secret = api_tokens.create_token(session, researcher, survey, role, "nightly", days)
        session.commit()
    return secret


def calling(app: Flask, token: str) -> Call:
    """A program with this token."""

    def call(method: str, path: str, body: object = None, **headers: str) -> TestResponse:
        extra = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
        return app.test_client().open(
            f"/api/v1{path}", method=method, headers={"Authorization": f"Bearer {token}", **headers}, **extra
        )

    return call


@pytest.fixture
def call(app: Flask, database_url: str, owner: int) -> Call:
    """A program that may do whatever its researcher may."""
    return calling(app, make_token(database_url, owner))


def new_survey(call: Call, **changes: object) -> str:
    """The slug of a new draft."""
    answer = call("POST", "/surveys", factories.definition(**changes), **{HEADER: "first"})
    assert answer.status_code == 201
    return str(answer.json["slug"])


def test_a_survey_from_its_definition_to_its_estimates(call: Call, app: Flask, database_url: str) -> None:
    slug = new_survey(call)
    assert call("GET", f"/surveys/{slug}").json["state"] == "draft"
    lines = {"strata": [{"path": ["Spain", "Getafe"], "population": 900}, {"path": ["Spain", "Leganés"]}]}
    strata = call("POST", f"/surveys/{slug}/strata", lines).json["strata"]
    assert [(each["path"], each["population"]) for each in strata] == [
        (["Spain"], None),
        (["Spain", "Getafe"], 900),
        (["Spain", "Leganés"], None),
    ]
    opened = call("POST", f"/surveys/{slug}/publish", {"despite_plan": True})
    assert (opened.status_code, opened.json["state"], len(opened.json["versions"])) == (200, "open", 1)
    links = call("GET", f"/surveys/{slug}/links").json["links"]
    assert [each["stratum"] for each in links] == [None, ["Spain", "Getafe"], ["Spain", "Leganés"]]
    document = call("GET", f"/surveys/{slug}/definition").json
    published = factories.Published(slug, opened.json["versions"][0]["sha256"], document)
    factories.store(database_url, published, [((0, 1), 30)])
    assert call("POST", f"/surveys/{slug}/close").json["state"] == "closed"
    found = call("GET", f"/surveys/{slug}/estimates").json
    assert found["n"] == 30
    assert found["questions"] == call("GET", f"/surveys/{slug}/report.json").json["questions"]
    for ending in ("csv", "html", "xlsx", "pdf"):
        assert call("GET", f"/surveys/{slug}/report.{ending}").status_code == 200
    assert call("GET", f"/surveys/{slug}/microdata.zip").data.startswith(b"PK")
    assert call("GET", f"/surveys/{slug}/responses.sav").data.startswith(b"$FL2")
    assert call("GET", f"/surveys/{slug}/responses.dta?language=en").data.startswith(b"<stata_dta>")
    assert call("GET", f"/surveys/{slug}/responses.dta?language=es").status_code == 422
    assert b"ddi:codebook:2_5" in call("GET", f"/surveys/{slug}/ddi.xml").data
    assert len(call("GET", f"/surveys/{slug}/responses.csv").text.splitlines()) == 31


def test_a_report_holds_what_is_asked_in_its_address(call: Call, database_url: str) -> None:
    """It was passed over without a word: the program got a report without what it had asked for."""
    slug = collect(database_url).slug
    at = f"/surveys/{slug}/report.json"
    plain = call("GET", at).json
    assert not {"explanation", "comparisons"} & plain.keys()
    explained = call("GET", f"{at}?explain=copied&by=stole&by=stratum").json["explanation"]
    assert [each["name"] for each in explained["predictors"]] == ["stole", "stratum"]
    two = "first_stratum=South+%3E+Coast&second_stratum=South+%3E+Hills"
    (compared,) = call("GET", f"{at}?question=copied&{two}").json["comparisons"]
    assert [group["stratum"] for group in compared["groups"]] == ["South > Coast", "South > Hills"]
    assert compared["rows"][0]["difference"] is not None
    assert call("GET", f"/surveys/{slug}/report.csv?question=copied&{two}").text.count(",compared,") == 5


@pytest.mark.parametrize(
    ("path", "field", "message"),
    [
        (
            "report.json?first_strata=North",
            "first_strata",
            "is not known here; allowed: lang, digits, version",
        ),
        ("estimates?explain=copied", "explain", "is not known here; allowed: lang, digits, version"),
        ("report.json?version=1&version=2", "version", "must be given once"),
        ("report.json?by=stole", "explain", "is required where something is named that it may go with"),
        ("report.json?question=copied&first_stratum=North", "second_stratum", "is required where two strata"),
        ("?x=1", "x", "is not known here"),
    ],
)
def test_what_an_address_asks_in_vain_is_refused(
    call: Call, database_url: str, path: str, field: str, message: str
) -> None:
    survey = factories.publish(database_url, factories.definition(questions=[factories.question("copied")]))
    factories.store(database_url, survey, [([1], 30), ([0], 30)])
    factories.close(database_url, survey.slug)
    answer = call("GET", f"/surveys/{survey.slug}/{path}".replace("/?", "?"))
    assert answer.status_code == 422
    (problem,) = answer.json["errors"]
    assert problem["field"] == field
    assert message in json.dumps(problem, ensure_ascii=False)


def test_what_devices_keep_is_changed_like_on_the_page(call: Call, database_url: str) -> None:
    slug = new_survey(call)
    factories.settle(database_url, slug, keep_rows=30)
    found = call("POST", f"/surveys/{slug}/settings", {"forgets": True, "tablet": True}).json
    assert [found[name] for name in ("offline", "forgets", "tablet", "keep_rows", "keep_counts")] == [
        False,
        True,
        True,
        30,
        None,
    ]
    assert call("POST", f"/surveys/{slug}/settings", {}).json == found
    for body in ({"forgets": "yes"}, {"forgets": False, "keep_rows": 1}):
        assert call("POST", f"/surveys/{slug}/settings", body).status_code == 422, body
    assert call("GET", f"/surveys/{slug}").json == found
    call("POST", f"/surveys/{slug}/publish", {"despite_plan": True})
    call("POST", f"/surveys/{slug}/close")
    refused = call("POST", f"/surveys/{slug}/settings", {"forgets": False})
    assert (refused.status_code, refused.json["errors"][0]["field"]) == (409, "state")
    with factories.writing(database_url) as session:
        actions = list(session.scalars(sa.select(AuditEntry.action)))
    assert actions.count("notes left out") == 1
    assert "notes kept" not in actions


def test_answers_are_what_the_description_says(call: Call, database_url: str) -> None:
    document = call("GET", "/openapi.json").json
    components = document["components"]
    described = {each["operationId"]: each for path in document["paths"].values() for each in path.values()}
    assert described.keys() == OPERATIONS.keys()
    slug = new_survey(call)
    opened = call("POST", f"/surveys/{slug}/publish", {"despite_plan": True})
    published = factories.Published(slug, opened.json["versions"][0]["sha256"], factories.definition())
    factories.store(database_url, published, [((0, 1), 30)])
    sample_releases.grant(database_url, slug, 2)
    at = f"/surveys/{slug}"
    plan = {
        "format": 1,
        "items": [{"kind": "count"}, {"kind": "histogram", "question": QUESTION}],
        "epsilon": 1,
    }
    price = call("POST", f"{at}/releases/price", plan)
    payment = {
        "plan": price.json["paying"],
        **{name: price.json[name] for name in ("epsilon", "delta", "cells")},
    }
    answers = {
        "list_surveys": call("GET", "/surveys"),
        "show_survey": call("GET", at),
        "show_definition": call("GET", f"{at}/definition"),
        "add_strata": call("POST", f"{at}/strata", {"strata": [{"path": ["Getafe"]}]}),
        "list_strata": call("GET", f"{at}/strata"),
        "list_links": call("GET", f"{at}/links"),
        "list_invitations": call("GET", f"{at}/invitations"),
        "enter_sheets": call(
            "POST",
            f"{at}/sheets",
            {"version": 1, "batch": "a" * 32, "sheets": ["AB"]},
        ),
        "show_estimates": call("GET", f"{at}/estimates"),
        "download_report_json": call("GET", f"{at}/report.json"),
        "price_plan": price,
        "make_release": call("POST", f"{at}/releases", payment, **{HEADER: "pay"}),
        "show_ledger": call("GET", f"{at}/ledger"),
        "create_webhook": call("POST", f"{at}/webhooks", {"url": "https://hooks.example.org/"}),
        "list_webhooks": call("GET", f"{at}/webhooks"),
        "show_searches": call("GET", f"{at}/searches"),
        "quote_search": call("POST", f"{at}/searches/price", {"share": "0.1", "epsilon": "0.5"}),
        "replace_study_sheet": call("PUT", f"{at}/study", study_document()),
        "show_study_sheet": call("GET", f"{at}/study"),
        "change_settings": call("POST", f"{at}/settings", {"offline": True, "forgets": True}),
        "pause_survey": call("POST", f"{at}/pause"),
        "close_survey": call("POST", f"{at}/close"),
        "start_search": call(
            "POST", f"{at}/searches", {"limit": 3, "epsilon": "0.5", "positives": 9}, **{HEADER: "seek"}
        ),
        "answer_search": call("POST", f"{at}/searches/2/answers", {"question": QUESTION, "answer": "yes"}),
    }
    for name, answer in answers.items():
        content = described[name]["responses"][str(answer.status_code)]["content"]["application/json"]
        rules = {**content["schema"], "components": components}
        assert list(Draft202012Validator(rules).iter_errors(answer.json)) == [], name
    problem = call("GET", "/surveys/nothing")
    assert (problem.status_code, problem.mimetype) == (404, "application/problem+json")
    rules = {"$ref": "#/components/schemas/problem", "components": components}
    assert list(Draft202012Validator(rules).iter_errors(problem.json)) == []


def test_completion_codes_are_good_once_whoever_asks_again(app: Flask, call: Call, database_url: str) -> None:
    slug = new_survey(call)
    at = f"/surveys/{slug}"
    assert call("POST", f"{at}/settings", {"completions": True}).json["completions"]
    version = call("POST", f"{at}/publish", {"despite_plan": True}).json["versions"][0]["sha256"]
    late = call("POST", f"{at}/settings", {"completions": False})
    assert (late.status_code, late.json["errors"][0]["field"]) == (422, "completions")
    code = completion_claims.finish(database_url, slug, version)
    with completion_claims.noting_connections(app.extensions["moneda.engine"]) as used:
        found = [
            call("POST", f"{at}/completions", {"codes": [code, "x"]}, **{HEADER: key}).json["codes"]
            for key in ("check", "check", "again")
        ]
    assert used == [0, 0]  # nobody waits to write, and what is known is not computed again
    assert [[each["verdict"] for each in codes] for codes in found] == [
        ["good", "false"],
        ["good", "false"],
        ["accepted", "false"],
    ]


def test_without_a_valid_token_nothing_is_told(app: Flask, database_url: str, owner: int, call: Call) -> None:
    slug = new_survey(call)
    valid = make_token(database_url, owner)
    ended = make_token(database_url, owner)
    with factories.writing(database_url) as session:
        session.get_one(ApiToken, hash_of(ended)).expires_at = now() - timedelta(seconds=1)
        session.commit()
    for each in OPERATIONS.values():
        path = each.path.replace("<slug>", slug).replace("<int:batch>", "1")
        for header in (None, "", "Bearer", f"Bearer {ended}", f"Basic {valid}", f"Bearer {valid}x"):
            headers = {} if header is None else {"Authorization": header}
            answer = app.test_client().open(f"/api/v1{path}", method=each.method, headers=headers)
            assert answer.status_code in (401, 429), (each.name, header)
            assert answer.json["errors"][0]["field"] == "Authorization"
    for _ in range(100):
        answer = calling(app, "wrong")("GET", "/surveys")
    assert answer.status_code == 429  # they were counted
    assert calling(app, valid)("GET", "/surveys").status_code == 200  # and keep nobody out who has one


def test_a_token_does_what_it_allows_and_no_more(
    app: Flask, database_url: str, owner: int, call: Call
) -> None:
    slug = new_survey(call)
    other = factories.draft(database_url, factories.definition(), "zoe")
    mine = call("POST", "/surveys", factories.definition(), **{HEADER: "second"}).json["slug"]
    reads = calling(app, make_token(database_url, owner, "viewer"))
    one = calling(app, make_token(database_url, owner, "editor", slug))
    for each in OPERATIONS.values():
        path = each.path.replace("<slug>", slug).replace("<int:batch>", "1")
        body = {"format": 1} if each.takes else None
        if each.needed == "editor":
            answer = reads(each.method, path, body, **{HEADER: "key"})
            assert (answer.status_code, answer.json["errors"][0]["field"]) == (403, "Authorization"), (
                each.name
            )
        if each.on_survey:
            for hidden, program in ((other, call), (mine, one)):
                path = each.path.replace("<slug>", hidden).replace("<int:batch>", "1")
                answer = program(each.method, path, body, **{HEADER: "key"})
                assert answer.status_code in (404, 422), (each.name, answer.text)
    assert [each["slug"] for each in one("GET", "/surveys").json["surveys"]] == [slug]
    assert one("POST", "/surveys", factories.definition(), **{HEADER: "third"}).status_code == 403


def test_a_member_has_no_more_rights_by_a_token(app: Flask, database_url: str, call: Call) -> None:
    slug = new_survey(call)
    number = factories.account(database_url, "berta")
    factories.join(database_url, slug, number, "viewer")
    hers = calling(app, make_token(database_url, number, "editor"))
    assert hers("GET", f"/surveys/{slug}").json["role"] == "viewer"
    assert hers("POST", f"/surveys/{slug}/publish", {}).status_code == 403


def test_a_revoked_token_and_a_shut_out_researcher(app: Flask, database_url: str, owner: int) -> None:
    secret = make_token(database_url, owner)
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, owner))
    page = browser.get("/manage/account/programs").text
    assert "nightly" in page
    assert secret not in page
    assert calling(app, secret)("GET", "/surveys").status_code == 200
    number = factories.account(database_url, "berta")
    other = factories.sign_in(app.test_client(), factories.link_of(database_url, number))
    address = "/manage/account/programs/revoke"
    assert other.post(address, data={"token": hash_of(secret).hex()}).status_code == 404
    assert browser.post(address, data={"token": hash_of(secret).hex()}).status_code == 303
    assert calling(app, secret)("GET", "/surveys").status_code == 401
    secret = make_token(database_url, owner)
    with factories.writing(database_url) as session:
        session.get_one(Researcher, owner).disabled_on = now().date()
        session.commit()
    assert calling(app, secret)("GET", "/surveys").status_code == 401


def test_a_token_is_made_on_the_page_and_shown_once(app: Flask, database_url: str, owner: int) -> None:
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, owner))
    form = {"name": "  nightly   copy ", "role": "viewer", "days": "30", "survey": ""}
    page = browser.post("/manage/account/programs", data=form).text
    secret = page.split('<pre id="token" translate="no">')[1].split("</pre>")[0]
    assert secret not in browser.get("/manage/account/programs").text
    assert calling(app, secret)("GET", "/surveys").status_code == 200
    with factories.writing(database_url) as session:
        assert session.scalars(sa.select(ApiToken.name)).all() == ["nightly copy"]
        assert secret.encode() not in b"".join(session.scalars(sa.select(ApiToken.secret_hash)))
    for wrong, field in (
        ({"days": "0"}, "from 1 to 366; it is 0"),
        ({"days": "367"}, "it is 367"),
        ({"days": "soon"}, "it is soon"),
        ({"name": " "}, "1 to 100 characters"),
        ({"role": "owner"}, "it is owner"),
        ({"survey": "nothing"}, "is not known"),
    ):
        answer = browser.post("/manage/account/programs", data={**form, **wrong})
        assert answer.status_code in (404, 422)
        assert field in answer.text


def test_what_is_sent_again_with_its_key_is_done_once(call: Call, database_url: str) -> None:
    body = factories.definition()
    first = call("POST", "/surveys", body, **{HEADER: "make"})
    again = call("POST", "/surveys", body, **{HEADER: "make"})
    assert (again.status_code, again.json) == (201, first.json)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert len(call("GET", "/surveys").json["surveys"]) == 1
    other = call("POST", "/surveys", {**body, "title": "Another"}, **{HEADER: "make"})
    assert (other.status_code, other.json["errors"][0]["field"]) == (422, HEADER)
    with factories.writing(database_url) as session:
        session.execute(sa.update(KeptReply).values(kept_at=now() - KEEPING - timedelta(minutes=1)))
        session.commit()
    assert call("POST", "/surveys", body, **{HEADER: "make"}).json["slug"] != first.json["slug"]
    for key in ("", " ", "x" * 101, "two words"):
        assert call("POST", "/surveys", body, **{HEADER: key}).status_code == 422


def test_what_was_answered_is_kept_for_a_day_and_no_longer_than_its_survey(
    app: Flask, call: Call, database_url: str
) -> None:
    """Also where no program asks for anything any more: the server forgets it by itself."""
    for title in ("Zqxjkept", "Another"):
        assert (
            call("POST", "/surveys", factories.definition(title=title), **{HEADER: title}).status_code == 201
        )
    factories.keep_house(app)
    assert len(factories.dump(database_url)["kept_replies"]) == 2
    with factories.writing(database_url) as session:
        survey = session.scalars(sa.select(Survey).order_by(Survey.id)).first()
        assert survey is not None
        archives.delete(session, survey)
    factories.keep_house(app)
    assert "Zqxjkept" not in repr(factories.dump(database_url))
    assert len(factories.dump(database_url)["kept_replies"]) == 1
    with factories.writing(database_url) as session:
        session.execute(sa.update(KeptReply).values(kept_at=now() - KEEPING - timedelta(minutes=1)))
    factories.keep_house(app)
    assert factories.dump(database_url)["kept_replies"] == []


def test_what_was_refused_is_kept_under_no_key(call: Call) -> None:
    body = factories.definition()
    assert call("POST", "/surveys", {**body, "title": ""}, **{HEADER: "make"}).status_code == 422
    assert call("POST", "/surveys", body, **{HEADER: "make"}).status_code == 201


def test_codes_are_answered_once_and_kept_nowhere(call: Call, database_url: str) -> None:
    slug = new_survey(call)
    factories.settle(database_url, slug, by_invitation=True)
    body = {"size": 3, "label": "first"}
    issued = call("POST", f"/surveys/{slug}/invitations", body, **{HEADER: "issue"})
    codes = [each["code"] for each in issued.json["codes"]]
    assert len(set(codes)) == 3
    again = call("POST", f"/surveys/{slug}/invitations", body, **{HEADER: "issue"})
    assert (again.status_code, again.mimetype) == (409, "application/problem+json")
    batches = call("GET", f"/surveys/{slug}/invitations").json["batches"]
    assert [(each["label"], each["size"]) for each in batches] == [("first", 3)]
    assert not any(code in repr(factories.dump(database_url)) for code in codes)
    gone = call("POST", f"/surveys/{slug}/invitations/{issued.json['id']}/withdraw").json["batches"]
    assert gone[0]["withdrawn_on"] is not None
    assert call("POST", f"/surveys/{slug}/invitations/999999999999/withdraw").status_code == 404


def test_whole_numbers_may_be_written_with_a_point(call: Call, database_url: str) -> None:
    """As JSON Schema has it, and some programs write them: 3.0 is an integer."""
    slug = new_survey(call)
    at = f"/surveys/{slug}"
    call("POST", f"{at}/publish", {"despite_plan": True})
    sample_releases.grant(database_url, slug, 3)
    sheets = {"version": 1.0, "batch": "0" * 32, "sheets": ["AB"]}
    terms = {"limit": 3.0, "epsilon": "0.5", "positives": 2.0, "most": 4.0}
    plan = {
        "format": 1.0,
        "items": [{"kind": "exceeding", "question": QUESTION, "share": 0.5, "positives": 2.0}],
    }

    assert call("POST", f"{at}/sheets", sheets).json == {"sheets": 1, "stored": 1}
    assert call("POST", f"{at}/searches/price", terms).status_code == 200
    assert call("POST", f"{at}/releases/price", {**plan, "epsilon": 1, "people": 100.0}).status_code == 200
    factories.settle(database_url, slug, by_invitation=True)
    issued = call("POST", f"{at}/invitations", {"size": 3.0, "label": "first"}, **{HEADER: "issue"})
    assert (issued.status_code, len(issued.json["codes"])) == (201, 3)
    call("POST", f"{at}/close")
    assert call("POST", f"{at}/searches", terms, **{HEADER: "seek"}).json["positives"] == 2


def test_a_batch_of_sheets_is_stored_once_and_a_wrong_one_not_at_all(call: Call, database_url: str) -> None:
    slug = new_survey(call)
    call("POST", f"/surveys/{slug}/publish", {"despite_plan": True})
    body = {"version": 1, "batch": "0" * 32, "sheets": ["AB", "BB"]}

    answers = [call("POST", f"/surveys/{slug}/sheets", body) for _ in range(2)]
    wrong = call("POST", f"/surveys/{slug}/sheets", {**body, "batch": "f" * 32, "sheets": ["AB", "AC"]})

    assert [answer.json for answer in answers] == [{"sheets": 2, "stored": 2}, {"sheets": 2, "stored": 0}]
    assert (wrong.status_code, wrong.json["errors"][0]["field"]) == (422, "lines[2]")
    assert len(factories.dump(database_url)["responses"]) == 2


@pytest.mark.parametrize("change", [{"epsilon": "0.5"}, {"cells": "0" * 64}])
def test_no_release_for_another_price_than_was_shown(
    call: Call, database_url: str, change: Mapping[str, str]
) -> None:
    slug = new_survey(call)
    call("POST", f"/surveys/{slug}/publish", {"despite_plan": True})
    sample_releases.grant(database_url, slug, 2)
    plan: dict[str, Any] = {"format": 1, "items": [{"kind": "count"}], "epsilon": 1}
    price = call("POST", f"/surveys/{slug}/releases/price", plan).json
    payment = {"plan": price["paying"], **{name: price[name] for name in ("epsilon", "delta", "cells")}}
    refused = call("POST", f"/surveys/{slug}/releases", {**payment, **change}, **{HEADER: "a"})
    assert refused.status_code == 409
    assert call("GET", f"/surveys/{slug}/ledger").json["entries"] == []
    paid = call("POST", f"/surveys/{slug}/releases", payment, **{HEADER: "b"})
    assert paid.status_code == 201
    again = call("POST", f"/surveys/{slug}/releases", payment, **{HEADER: "b"})
    assert again.json == paid.json
    assert Decimal(call("POST", f"/surveys/{slug}/releases/price", plan).json["left"]) == 1


def test_the_log_names_the_program(call: Call, app: Flask, database_url: str, owner: int) -> None:
    slug = new_survey(call)
    call("PUT", f"/surveys/{slug}/definition", factories.definition(title="Changed"))
    browser = factories.sign_in(app.test_client(), factories.link_of(database_url, owner))
    assert browser.get(f"/manage/surveys/{slug}/log").text.count("by the program") == 2
    with factories.writing(database_url) as session:
        details = [json.loads(each) for each in session.scalars(sa.select(AuditEntry.details))]
    assert sum(each.get("program") == "nightly" for each in details) == 2


def test_a_draft_that_somebody_else_changed_is_not_replaced(call: Call) -> None:
    slug = new_survey(call)
    state = call("GET", f"/surveys/{slug}/definition").headers["ETag"]
    changed = factories.definition(title="Changed")
    assert call("PUT", f"/surveys/{slug}/definition", changed, **{"If-Match": state}).status_code == 200
    late = call("PUT", f"/surveys/{slug}/definition", factories.definition(), **{"If-Match": state})
    assert late.status_code == 409
    assert call("GET", f"/surveys/{slug}/definition").json["title"] == "Changed"


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"{", "application/json", 400),
        (b"[]", "application/json", 422),
        (b"{}", "text/plain", 415),
        (b'{"size": true, "label": "x"}', "application/json", 422),
        (b'{"size": 0, "label": "x"}', "application/json", 422),
        (b'{"size": 1, "label": "x", "other": 1}', "application/json", 422),
    ],
)
def test_bodies_that_are_not_what_they_should_be(
    app: Flask, database_url: str, owner: int, call: Call, body: bytes, content_type: str, status: int
) -> None:
    slug, secret = new_survey(call), make_token(database_url, owner)
    headers = {"Authorization": f"Bearer {secret}", HEADER: "key"}
    before = factories.dump(database_url)
    answer = app.test_client().post(
        f"/api/v1/surveys/{slug}/invitations", data=body, content_type=content_type, headers=headers
    )
    assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    assert answer.json["errors"][0]["field"]
    assert factories.dump(database_url) == before


def test_refusals_are_in_the_language_that_is_accepted(app: Flask) -> None:
    headers = {"Accept-Language": "es"}
    answer = app.test_client().get("/api/v1/surveys", headers=headers)
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "clave" in answer.json["detail"]
    assert answer.json["title"] == "No se puede hacer"


def test_the_reference_says_every_operation(client: FlaskClient) -> None:
    page = client.get("/api").text
    for each in OPERATIONS.values():
        assert f'id="{each.name}"' in page


def test_the_page_for_programs_names_what_needs_a_key() -> None:
    named = {
        "/surveys": "making a survey",
        "/surveys/<slug>/invitations": "issuing invitations",
        "/surveys/<slug>/completions": "checking [completion codes](panels.md)",
        "/surveys/<slug>/releases": "releasing",
        "/surveys/<slug>/searches": "opening a [search](releases.md#searches)",
    }
    assert {each.path for each in OPERATIONS.values() if each.keyed} == named.keys()
    page = (factories.ROOT / "docs/api.md").read_text("utf-8")
    (told,) = [
        line for line in page.splitlines() if line.startswith("Five operations need an `Idempotency-Key`")
    ]
    assert all(words in told for words in named.values())


def test_every_type_that_bodies_may_have_is_named_where_another_was_sent(call: Call) -> None:
    slug = new_survey(call)
    for value in (None, [], {}, "x", True, 1.5, 2):
        for field, path in (
            ("stratum", "invitations"),
            ("size", "invitations"),
            ("label", "invitations"),
            ("strata", "strata"),
            ("sha256", "publish"),
            ("despite_plan", "publish"),
            ("plan", "releases"),
            ("cells", "releases"),
        ):
            body = {"size": 1, "label": "x"} if path == "invitations" else {}
            answer = call("POST", f"/surveys/{slug}/{path}", {**body, field: value}, **{HEADER: "key"})
            assert answer.status_code < 500, (field, value)
