"""The page of invitations: codes are handed over once, for the link they belong to, and nothing tells who used them."""

import csv
import hashlib
import html
import json
import re
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from werkzeug.http import parse_options_header
from werkzeug.test import TestResponse

from server.collect import response_codes
from server.inputs import normalise_code
from server.output import typesetting
from server.store.models import InvitationBatch
from server.study import surveys
from tests.support import factories, pdf_reader, ticket_buyers
from tests.support.factories import Published, dump

VECTORS = json.loads((factories.ROOT / "tests" / "vectors" / "codes.json").read_text("utf-8"))


@pytest.fixture
def survey(database_url: str) -> Published:
    """A published survey whose links ask for codes."""
    published = factories.publish(database_url)
    factories.settle(database_url, published.slug, by_invitation=True)
    return published


@pytest.mark.parametrize(("typed", "code"), VECTORS["read"])
def test_code_is_read_as_the_browser_reads_it(typed: str, code: str) -> None:
    assert normalise_code(typed) == code


@pytest.mark.parametrize("typed", VECTORS["refused"])
def test_what_is_no_code_here_is_none_in_the_browser(typed: str) -> None:
    assert normalise_code(typed) is None


def path(survey: Published, page: str = "") -> str:
    return f"/manage/surveys/{survey.slug}/invitations{page}"


def issue(
    client: FlaskClient, survey: Published, size: object = 3, label: str = "By letter", **more: object
) -> TestResponse:
    return client.post(path(survey), data={"size": size, "label": label, **more})


def codes_on(page: TestResponse) -> list[str]:
    assert page.status_code == 200
    return re.findall(r"^(?:[0-9A-Z]{4}-){3}[0-9A-Z]{4}$", page.text.replace(">", ">\n"), re.MULTILINE)


def alert(page: TestResponse) -> str:
    found = re.search(r'class="problems".*?</div>', page.text, re.DOTALL)
    assert found is not None
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", found[0])).split())


def test_codes_are_shown_once_and_kept_as_hashes(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    page = issue(signed_in, survey, 3, "  By   letter ")
    codes = codes_on(page)

    assert len(codes) == 3
    assert page.headers["Cache-Control"] == "no-store"
    hashes = {hashlib.sha256(code.replace("-", "").encode()).digest() for code in codes}
    assert {bytes(row[0]) for row in dump(database_url)["invitations"]} == hashes  # type: ignore[call-overload]
    everything = repr(dump(database_url)) + signed_in.get(path(survey)).text
    assert not any(form in everything for code in codes for form in (code, code.replace("-", "")))
    (entry,) = [row for row in dump(database_url)["audit_entries"] if row[4] == "invitations issued"]
    assert json.loads(str(entry[5])) == {"count": 3, "label": "By letter"}


@pytest.mark.parametrize("stratum", ["", "Spain > Madrid"])
def test_table_links_and_sheet_are_those_of_the_batch(
    signed_in: FlaskClient, survey: Published, database_url: str, stratum: str
) -> None:
    slugs = factories.plant(database_url, survey.slug, "Spain > Madrid")
    numbers = {str(row[6]): row[0] for row in dump(database_url)["strata"]}
    chosen = numbers[slugs[stratum]] if stratum else ""
    codes = codes_on(issue(signed_in, survey, 12, stratum=chosen))
    address = f"http://localhost/s/{slugs[stratum] if stratum else survey.slug}"
    links = [f"{address}#{code.replace('-', '')}" for code in codes]
    before = dump(database_url)

    def request_page(page: str, *some: str) -> TestResponse:
        answer = signed_in.post(path(survey, f"/1/{page}"), data={"codes": "\r\n".join(some or codes)})
        assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
        name = parse_options_header(answer.headers["Content-Disposition"])[1]["filename"]
        assert name.startswith(f"{survey.definition['title']}, invitations 1")
        return answer

    assert list(csv.reader(request_page("codes.csv").text.splitlines())) == [
        ["code", "link"],
        *([code, link] for code, link in zip(codes, links, strict=True)),
    ]
    assert request_page("links.txt").text.split() == links
    sheet = request_page("sheet.pdf")
    assert sheet.mimetype == "application/pdf"
    said = "".join(page.text for page in pdf_reader.pages(sheet.data))
    assert re.findall(r"^[0-9A-Z-]{19}$", said, re.MULTILINE) == codes
    assert said.count(f"{address}\n") == 12
    # In any form, and only some of them.
    assert request_page("links.txt", codes[1].lower(), codes[0].replace("-", "")).text.split() == [
        links[1],
        links[0],
    ]
    assert dump(database_url) == before


def test_a_sheet_that_takes_too_long_loses_nothing_and_can_be_asked_for_again(
    signed_in: FlaskClient, survey: Published, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"codes": "\r\n".join(codes_on(issue(signed_in, survey)))}
    before = dump(database_url)
    for name, said in (
        (
            "LONGEST",
            "PDF or picture: took more than 0 seconds to make, and was given up; nothing was changed",
        ),
        ("LONGEST_WAIT", "PDF or picture: cannot be made now, as others are being made; nothing was changed"),
    ):
        with monkeypatch.context() as hurried, typesetting.TURN if name == "LONGEST_WAIT" else nullcontext():
            hurried.setattr(typesetting, name, 0)
            refused = signed_in.post(path(survey, "/1/sheet.pdf"), data=data)
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert said in refused.text
    assert signed_in.post(path(survey, "/1/sheet.pdf"), data=data).mimetype == "application/pdf"
    assert dump(database_url) == before


def test_sheet_is_in_the_surveys_language(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition(language="es", title="Exámenes: ¿y tú?"))
    factories.settle(database_url, survey.slug, by_invitation=True)
    codes = codes_on(issue(signed_in, survey))

    sheet = signed_in.post(path(survey, "/1/sheet.pdf"), data={"codes": "\r\n".join(codes)})

    assert b"/Lang(es)" in sheet.data
    assert "Exámenes: ¿y tú?\n" in pdf_reader.pages(sheet.data)[0].text


def test_sheet_of_a_draft_has_the_title_it_has_so_far(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft_unfinished(database_url, {**factories.definition(), "title": "", "language": "xx"})
    survey = Published(slug, "", {})
    factories.settle(database_url, slug, by_invitation=True)
    codes = codes_on(issue(signed_in, survey))

    (page,) = pdf_reader.pages(
        signed_in.post(path(survey, "/1/sheet.pdf"), data={"codes": "\r\n".join(codes)}).data
    )

    assert all(code in page.text for code in codes)


def test_many_codes_come_in_sheets_of_a_thousand(signed_in: FlaskClient, survey: Published) -> None:
    page = issue(signed_in, survey, 2_001)
    codes = codes_on(page)

    assert re.findall(r'name="sheet" value="(\d+)"', page.text) == [str(number) for number in range(3)]
    table = signed_in.post(path(survey, "/1/codes.csv"), data={"codes": "\r\n".join(codes)})
    assert len(table.text.splitlines()) == 2_002
    last = signed_in.post(path(survey, "/1/sheet.pdf"), data={"codes": "\r\n".join(codes), "sheet": "2"})
    assert [len(page.codes) for page in pdf_reader.pages(last.data)] == [1]
    for sheet in ("3", "999", "-1", "x", "1e1"):
        data = {"codes": "\r\n".join(codes[:9]), "sheet": sheet}
        refused = signed_in.post(path(survey, "/1/sheet.pdf"), data=data)
        assert (refused.status_code, "Sheet: must be one of this batch" in refused.text) == (422, True)


def test_the_largest_batch_fits_into_a_form(signed_in: FlaskClient, survey: Published) -> None:
    line = "0000-0000-0000-0000"
    answer = signed_in.post(path(survey, "/1/codes.csv"), data={"codes": "\r\n".join([line] * 100_000)})
    # Read whole, and refused for another reason than its size.
    assert answer.status_code == 404


def test_codes_of_another_link_or_batch_that_is_not_theirs_are_refused(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    other = factories.publish(database_url)
    factories.settle(database_url, other.slug, by_invitation=True)
    factories.plant(database_url, survey.slug, "Spain")
    (own, *_), (elsewhere, *_) = codes_on(issue(signed_in, survey)), codes_on(issue(signed_in, other))
    in_stratum = codes_on(issue(signed_in, survey, label="Spain", stratum=1))[0]

    for page in ("codes.csv", "links.txt", "sheet.pdf"):
        for wrong in (elsewhere, in_stratum, f"{own} {elsewhere}", "x", "0000-0000-0000-0000"):
            answer = signed_in.post(path(survey, f"/1/{page}"), data={"codes": wrong})
            assert (answer.status_code, "must be those that were issued" in answer.text) == (422, True)
        for number in ("2", "4", "0", "9" * 9, "9" * 40, "x", "-1"):
            assert signed_in.post(path(survey, f"/{number}/{page}"), data={"codes": own}).status_code == 404
    assert signed_in.post(path(survey, "/2/withdraw")).status_code == 404


REFUSED: list[tuple[dict[str, str], int, str]] = [
    ({"size": "0"}, 422, "How many: must be a whole number from 1 to 100000; it is 0"),
    ({"size": "100001"}, 422, "How many: must be a whole number from 1 to 100000; it is 100001"),
    ({"size": "-1"}, 422, "How many: must be a whole number from 1 to 100000; it is -1"),
    ({"size": "1.5"}, 422, "How many: must be a whole number from 1 to 100000; it is 1.5"),
    ({"size": ""}, 422, "How many: must be a whole number from 1 to 100000; it is -"),
    ({"size": "9" * 5000}, 422, "How many: must be a whole number from 1 to 100000; it is 999"),
    ({"size": "٣"}, 422, "How many: must be a whole number from 1 to 100000; it is ٣"),
    ({"label": " "}, 422, "Name of the batch: must have 1 to 200 characters, in one line; it is -"),
    ({"label": "a" * 201}, 422, "Name of the batch: must have 1 to 200 characters"),
    (
        {"label": "Before"},
        409,
        "Name of the batch: must be new, so that no batch is issued twice; it is Before",
    ),
    ({"stratum": "77"}, 404, "Stratum: is not known"),
    ({"stratum": "x"}, 404, "Stratum: is not known"),
]


def test_what_cannot_be_issued_is_refused_and_what_was_typed_stays(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    issue(signed_in, survey, 1, "Before")
    before = dump(database_url)

    for form, status, said in REFUSED:
        page = signed_in.post(path(survey), data={"size": "7", "label": "My <b>own", **form})

        assert (page.status_code, said in alert(page)) == (status, True)
        typed = {"size": "7", "label": "My &lt;b&gt;own", **form}
        assert all(f'value="{typed[name]}"' in page.text for name in ("size", "label"))
    assert dump(database_url) == before


def test_a_page_that_is_loaded_again_issues_nothing_twice(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    assert [issue(signed_in, survey).status_code for _ in range(2)] == [200, 409]
    assert len(dump(database_url)["invitations"]) == 3


def test_how_many_are_used_is_told_in_steps_only(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, minimum=5)
    codes = factories.invite(database_url, survey.slug, 12)
    told = {}
    for used, code in enumerate(codes):
        page = " ".join(signed_in.get(path(survey)).text.split())
        told[used] = re.findall(r"(?:fewer than|at least) \d+ used", page)
        assert signed_in.post(survey.url, json=survey.response(invitation=code)).status_code == 201

    few, many = ["fewer than 6 used"], ["at least 6 used"]  # 3, 6, 12, ...: the first from 5 on
    assert told == {used: few if used < 6 else many for used in range(12)}
    assert "12 codes" in page


def test_a_batch_too_small_for_steps_tells_nothing(signed_in: FlaskClient, database_url: str) -> None:
    survey = factories.publish(database_url, minimum=5)
    pages = set()
    for used in range(3):
        (code, *_) = factories.invite(database_url, survey.slug, 9)
        if used:
            assert signed_in.post(survey.url, json=survey.response(invitation=code)).status_code == 201
        pages.add(signed_in.get(path(survey)).text.count("too few codes to tell how many are used"))
    assert pages == {1, 2, 3}


def test_a_reminder_is_the_same_whoever_has_answered(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, database_url: str
) -> None:
    def reminders() -> list[str]:
        page = signed_in.get(path(survey), headers={"Accept-Language": "en"}).text
        return re.findall(r'<textarea class="reminder"[^>]*lang="\w+"[^>]*>[^<]+', page)

    assert reminders() == []
    code, *_ = codes_on(issue(signed_in, survey))
    before = reminders()
    assert [re.findall(' lang="(..)"', each) for each in before] == [["en"], ["es"]]
    assert "goes alike to everybody who got one" in before[0]
    assert client.post(survey.url, json=survey.response(invitation=code)).status_code == 201
    assert reminders() == before
    # A code that has bought a ticket is used, and only that browser can go on.
    factories.settle(database_url, survey.slug, tickets=True)
    assert ["in the browser where you fetched it" in each for each in (before[0], reminders()[0])] == [
        False,
        True,
    ]
    assert signed_in.post(f"/manage/surveys/{survey.slug}/close").status_code == 303
    assert reminders() == []


def test_nobody_is_reminded_of_a_code_that_was_withdrawn(signed_in: FlaskClient, survey: Published) -> None:
    """The reminder says that the same code still lets an answer in."""
    for label in ("Class 3A", "Class 3B"):
        issue(signed_in, survey, label=label)
    first, second = dict.fromkeys(re.findall(r"/invitations/\d+/withdraw", signed_in.get(path(survey)).text))
    excepted = "A batch that was withdrawn is left out as a whole"
    told = []
    for batch in ("", first, second):
        if batch:
            signed_in.post(f"/manage/surveys/{survey.slug}{batch}")
        page = signed_in.get(path(survey)).text
        told.append(("you can still answer with the same code" in page, excepted in page))
    assert told == [(True, False), (True, True), (False, False)]


def test_codes_that_were_deleted_or_left_behind_are_not_said_to_be_none(
    signed_in: FlaskClient, survey: Published, database_url: str, tmp_path: Path
) -> None:
    issue(signed_in, survey)
    factories.settle(database_url, survey.slug, minimum=3)  # no archive has a smaller one
    factories.close(database_url, survey.slug)
    file = tmp_path / "survey.zip"
    assert factories.run(database_url, "survey", "export", survey.slug, "--zip", str(file)).exit_code == 0
    imported = factories.run(database_url, "survey", "import", str(file), "--json")
    assert imported.exit_code == 0, imported.stderr
    brought = json.loads(imported.stdout)["survey"]
    factories.settle(database_url, survey.slug, keep_rest=1, closed_at=surveys.now() - timedelta(days=2))
    assert factories.run(database_url, "tidy").exit_code == 0
    for slug in (survey.slug, brought):
        page = signed_in.get(f"/manage/surveys/{slug}/invitations").text
        assert ("None yet." in page, "No codes are known here" in page) == (False, True)


def test_withdrawing_lets_the_unused_codes_in_no_more(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    codes = factories.invite(database_url, survey.slug, 2)
    assert signed_in.post(survey.url, json=survey.response(invitation=codes[0])).status_code == 201

    for _ in range(2):
        assert signed_in.post(path(survey, "/1/withdraw")).status_code == 303

    answer = signed_in.post(survey.url, json=survey.response(invitation=codes[1]))
    assert (answer.status_code, answer.json["error"]["field"]) == (422, "invitation")  # type: ignore[index]
    page = signed_in.get(path(survey)).text
    assert "withdrawn on" in page
    assert "Withdraw the unused codes" not in page
    assert signed_in.post(path(survey, "/1/sheet.pdf"), data={"codes": codes[1]}).status_code == 422
    assert [row[4] for row in dump(database_url)["audit_entries"]].count("invitations withdrawn") == 1


def test_nothing_is_issued_for_a_closed_survey(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.close(database_url, survey.slug)

    assert "Issue the codes" not in signed_in.get(path(survey)).text
    assert issue(signed_in, survey).status_code == 409


def _told_of(client: FlaskClient, survey: Published) -> list[str]:
    text = " ".join(re.sub("<[^>]*>", " ", client.get(path(survey)).text).split())
    return re.findall(r"(?:at least|fewer than) \d+ used|too few codes|\d+ of \d+ used", text)


def _use(database_url: str, codes: list[str]) -> None:
    with factories.writing(database_url) as session:
        pairs = [(1, code.replace("-", "")) for code in codes]
        response_codes.spend(session.connection(), pairs)


def test_once_closed_it_is_told_exactly_how_many_codes_were_used(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, minimum=10)
    codes = factories.invite(database_url, survey.slug, 100)
    _use(database_url, codes)
    factories.store(database_url, survey, [([1, 0], 60), ([0, 1], 40)])
    assert _told_of(signed_in, survey) == ["at least 84 used"]

    factories.close(database_url, survey.slug)

    assert _told_of(signed_in, survey) == ["100 of 100 used"]
    # A second batch of the same link would be told apart by no report.
    with factories.writing(database_url) as session:
        batch = session.get_one(InvitationBatch, 1)
        session.add(InvitationBatch(survey_id=1, label="b", issued_on=batch.issued_on, size=30))
    assert _told_of(signed_in, survey) == ["fewer than 12 used", "at least 84 used", "100 of 130 used"]


@pytest.mark.parametrize(
    ("without_code", "north", "told"),
    [
        (0, 20, ["20 of 30 used", "30 of 40 used"]),
        (12, 20, ["20 of 30 used", "30 of 40 used"]),  # 42 answered there, 12 of them without a code
        (4, 20, ["20 of 30 used", "at least 24 used"]),  # the exact number would tell of 4
        (
            0,
            6,
            ["fewer than 12 used", "at least 24 used"],
        ),  # few answered in the north: it and the south are withheld
    ],
)
def test_what_no_report_tells_no_number_of_codes_tells(
    signed_in: FlaskClient, database_url: str, without_code: int, north: int, told: list[str]
) -> None:
    survey = factories.publish(database_url, minimum=10)
    links = factories.plant(database_url, survey.slug, "North\nSouth\nWest")
    for link, size, used, others in (("South", 40, 30, without_code), ("North", 30, north, 0)):
        codes = factories.invite(database_url, survey.slug, size, links[link])
        _use(database_url, codes[:used])
        factories.store(database_url, survey, [([1, 0], used + others)], links[link])
    factories.store(database_url, survey, [([1, 0], 50)], links["West"])
    factories.close(database_url, survey.slug)

    assert _told_of(signed_in, survey) == told


@pytest.mark.parametrize(("without_code", "told"), [(0, ["12 of 12 used"]), (20, ["too few codes"])])
def test_an_invited_part_is_told_exactly_although_a_few_came_by_the_open_link(
    signed_in: FlaskClient, database_url: str, without_code: int, told: list[str]
) -> None:
    """Its number is in every report; who else came, and is left out of them, is not in it."""
    survey = factories.publish(database_url, minimum=10)
    links = factories.plant(database_url, survey.slug, "North\nStaff")
    _use(database_url, factories.invite(database_url, survey.slug, 12, links["Staff"]))
    factories.store(database_url, survey, [([1, 0], 12 + without_code)], links["Staff"])
    factories.store(database_url, survey, [([1, 0], 60)], links["North"])
    factories.store(database_url, survey, [([1, 0], 3)])
    factories.close(database_url, survey.slug)

    assert _told_of(signed_in, survey) == told


def test_what_files_tell_of_codes_is_said_as_it_is_with_and_without_tickets(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    sold, _links = ticket_buyers.publish(database_url)
    plain, ticketed = (
        signed_in.get(f"/manage/surveys/{slug}/invitations").text for slug in (survey.slug, sold.slug)
    )
    together = "can see which code came with which response"
    apart = "A code and a response never arrive together."
    assert (together in plain, apart in plain) == (True, False)
    assert (together in ticketed, apart in ticketed) == (False, True)
