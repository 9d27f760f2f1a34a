"""The pages of links, strata, times and limits: what they keep, what they refuse, and what is put on record."""

import csv
import html
import io
import json
import re
import struct

import pytest
import segno
from flask.testing import FlaskClient

from server.config import Config
from server.web.form_ends import NAME as FORM_END
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published, dump
from tests.support.front_client import create_app

SPAIN = "Spain > Madrid > Getafe, 183000\nSpain > Madrid > Parla, 132000\nSpain > Murcia\nFrance"
USUAL = {"time_zone": "Europe/Madrid", "opens_at": "", "closes_at": "", "cap": "", "minimum": "10"}


@pytest.fixture
def strata(survey: Published, database_url: str) -> dict[str, str]:
    """The paths of a survey's strata, and the slugs of their links."""
    return factories.plant(database_url, survey.slug, SPAIN)


def path(survey: Published, page: str = "") -> str:
    return f"/manage/surveys/{survey.slug}{page}"


def number(database_url: str, name: str) -> int:
    (found,) = [int(str(row[0])) for row in dump(database_url)["strata"] if name in row]
    return found


def log(database_url: str) -> list[tuple[str, dict[str, object]]]:
    """What the survey's log says, in order."""
    entries = sorted(dump(database_url)["audit_entries"], key=lambda row: int(str(row[0])))
    return [(str(row[4]), json.loads(str(row[5]))) for row in entries if row[3] is not None]


def list_complaints(page: str) -> list[str]:
    """What a page complains about."""
    found = re.findall(r"<li><strong>(.*?):</strong> (.*?)</li>", page)
    return [f"{name}: {message}" for name, message in found]


def test_invitations_hold_for_new_links_and_the_old_ones_close(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, strata: dict[str, str], database_url: str
) -> None:
    leaves = {name: slug for name, slug in strata.items() if name not in ("Spain", "Spain > Madrid")}
    old = [survey.slug, *leaves.values()]
    assert f"closes {len(old)} links" in html.unescape(signed_in.get(path(survey, "/schedule")).text)
    changed = signed_in.post(path(survey, "/schedule"), data={**USUAL, "by_invitation": "yes"})
    assert changed.location.endswith("said=replaced")

    table = signed_in.get(path(survey, "/links.csv")).text
    new = [row["link"].rpartition("/")[2] for row in csv.DictReader(io.StringIO(table))]
    assert len(set(new) | set(old)) == 2 * len(old)
    body = {"id": "8c" * 16, "version": survey.version, "reports": [0, 1], "invitation": "0" * 16}
    for slug in old:
        for language, said in (("en", "This link is closed"), ("es", "Este enlace está cerrado")):
            page = client.get(f"/s/{slug}?lang={language}")
            assert (page.status_code, f"<h1>{said}</h1>" in page.text) == (410, True)
            assert language == "es" or "no answer was sent now." in page.text
        refused = client.get(f"/s/{slug}/survey.json"), client.post(f"/s/{slug}/responses", json=body)
        assert [(each.status_code, each.json["error"]["field"]) for each in refused] == [
            (410, "replaced_link")
        ] * 2
    for slug in new:
        assert client.get(f"/s/{slug}").status_code == 200
        assert client.get(f"/s/{slug}/survey.json").status_code == 200
        refused_code = client.post(f"/s/{slug}/responses", json=body)
        assert (refused_code.status_code, refused_code.json["error"]["field"]) == (422, "invitation")
    assert dump(database_url)["responses"] == []
    assert ("links replaced", {"count": len(old)}) in log(database_url)
    # The survey's pages are where they were, and only links that work have a QR code.
    assert signed_in.get(path(survey, f"/qr/{new[1]}.svg")).status_code == 200
    assert signed_in.get(path(survey, f"/qr/{old[1]}.svg")).status_code == 404
    for page in ("", "/links", "/links/sheet"):
        drawn = re.findall(r'"([^"]*/qr/[^"]*)"', signed_in.get(path(survey, page)).text)
        assert {signed_in.get(address).status_code for address in drawn} == {200}, page

    # Switched off, the new links stay and let everybody in; a pause does not make closed ones wait.
    signed_in.post(path(survey, "/schedule"), data=USUAL)
    again = signed_in.get(path(survey, "/links.csv")).text
    assert [row["link"].rpartition("/")[2] for row in csv.DictReader(io.StringIO(again))] == new
    assert "is by invitation now" not in client.get(f"/s/{old[0]}").text
    factories.settle(database_url, survey.slug, paused=True)
    assert {client.get(f"/s/{slug}{end}").status_code for slug in old for end in ("", "/survey.json")} == {
        410
    }
    assert {client.get(f"/s/{slug}").status_code for slug in new} == {423}
    factories.close(database_url, survey.slug)
    for slug in (*old, *new):
        assert "<h1>This survey is closed</h1>" in client.get(f"/s/{slug}").text
        assert client.get(f"/s/{slug}/survey.json").json["error"]["field"] == "survey"


def test_a_draft_keeps_its_links(signed_in: FlaskClient, database_url: str) -> None:
    slug = factories.draft(database_url, factories.definition())
    changed = signed_in.post(f"/manage/surveys/{slug}/schedule", data={**USUAL, "by_invitation": "yes"})
    assert changed.location.endswith("said=saved")
    assert dump(database_url)["closed_links"] == []


def test_the_page_the_definition_and_the_intake_say_the_same_of_a_link_that_was_divided(
    client: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, "Kenya")
    slug = factories.plant(database_url, survey.slug, "Kenya > Kisumu\nKenya > Nakuru")["Kenya"]
    body = {"id": "8c" * 16, "version": survey.version, "reports": [0, 1]}
    page = client.get(f"/s/{slug}")
    assert (page.status_code, "Its group was divided" in page.text) == (410, True)
    assert "no answer was sent now." in page.text
    for answer in (client.get(f"/s/{slug}/survey.json"), client.post(f"/s/{slug}/responses", json=body)):
        assert (answer.status_code, answer.json["error"]["field"]) == (410, "link")
    factories.settle(database_url, survey.slug, paused=True)
    assert client.get(f"/s/{slug}/survey.json").status_code == 410
    assert client.post(f"/s/{slug}/responses", json=body).status_code == 410


def test_every_link_is_on_the_page_and_in_the_table(
    signed_in: FlaskClient, survey: Published, strata: dict[str, str]
) -> None:
    page = signed_in.get(path(survey, "/links"))
    table = signed_in.get(path(survey, "/links.csv"))
    sheet = signed_in.get(path(survey, "/links/sheet"))

    leaves = {name: slug for name, slug in strata.items() if name not in ("Spain", "Spain > Madrid")}
    shown = dict.fromkeys(re.findall(r'href="http://localhost/s/(\w+)"', page.text))
    assert list(shown) == [survey.slug, *leaves.values()]
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [row["link"].rpartition("/")[2] for row in rows] == list(shown)
    assert [(row["stratum"], row["population"]) for row in rows] == [
        ("", ""),
        ("Spain > Madrid > Getafe", "183000"),
        ("Spain > Madrid > Parla", "132000"),
        ("Spain > Murcia", ""),
        ("France", ""),
    ]
    assert re.findall(r'<p class="link">http://localhost/s/(\w+)</p>', sheet.text) == list(leaves.values())


def test_survey_without_strata_has_its_link_and_is_told_what_strata_are(
    signed_in: FlaskClient, survey: Published
) -> None:
    page = signed_in.get(path(survey, "/links")).text
    assert re.findall(r'href="http://localhost/s/(\w+)"', page) == [survey.slug]
    assert "Strata are parts of the people you ask" in page
    sheet = signed_in.get(path(survey, "/links/sheet")).text
    assert re.findall(r'<p class="link">http://localhost/s/(\w+)</p>', sheet) == [survey.slug]


def test_formula_in_a_name_stays_a_text_in_the_table(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.plant(database_url, survey.slug, '=cmd|"/c calc"!A1\n@x')
    rows = list(csv.DictReader(io.StringIO(signed_in.get(path(survey, "/links.csv")).text)))
    assert [row["stratum"] for row in rows[1:]] == ['\'=cmd|"/c calc"!A1', "'@x"]


def test_qr_codes_are_images_of_the_survey_s_own_links_only(
    signed_in: FlaskClient, survey: Published, strata: dict[str, str], database_url: str
) -> None:
    other = factories.publish(database_url)
    for slug in (survey.slug, strata["Spain > Madrid > Getafe"]):
        svg, png = (signed_in.get(path(survey, f"/qr/{slug}.{kind}")) for kind in ("svg", "png"))
        made = io.BytesIO()
        segno.make(f"http://localhost/s/{slug}", error="m").save(
            made, kind="svg", scale=8, border=4, light="white"
        )
        assert (svg.mimetype, svg.data) == ("image/svg+xml", made.getvalue())
        assert png.mimetype == "image/png"
        width, height = struct.unpack(">II", png.data[16:24])
        assert png.data.startswith(b"\x89PNG")
        assert width == height >= 500
    # An inner stratum has no link; another survey's link is none of this one.
    for slug in (strata["Spain"], other.slug, "unknown", "%00", "a" * 5000):
        assert signed_in.get(path(survey, f"/qr/{slug}.svg")).status_code == 404


def test_only_links_of_leaves_lead_to_the_survey(
    client: FlaskClient, survey: Published, strata: dict[str, str]
) -> None:
    assert client.get(f"/s/{strata['Spain > Murcia']}").status_code == 200
    assert client.get(f"/s/{strata['Spain']}").status_code == 410


def test_one_form_keeps_everything_that_was_typed(
    signed_in: FlaskClient, survey: Published, strata: dict[str, str], database_url: str
) -> None:
    spain, murcia, france = (number(database_url, name) for name in ("Spain", "Murcia", "France"))
    form = {f"name.{murcia}": "Región de Murcia", f"population.{murcia}": "1.500.000"}

    answer = signed_in.post(
        path(survey, "/strata"),
        data={**form, "lines": "Lyon, 5\nNice, 6", "under": france, "action": f"up-{france}"},
    )

    assert answer.status_code == 303
    assert answer.location == path(survey, f"/strata?said=up&at={france}")
    page = signed_in.get(answer.location).text
    paths = re.findall(r"Name of ([^<]+)<", page.replace("&gt;", ">"))
    assert paths == [
        "France", "France > Lyon", "France > Nice", "Spain", "Spain > Madrid", "Spain > Madrid > Getafe",
        "Spain > Madrid > Parla", "Spain > Región de Murcia",
    ]  # fmt: skip
    assert log(database_url) == [
        ("strata changed", {"count": 1}),
        ("strata added", {"count": 2}),
        ("population changed", {"stratum": "Spain > Región de Murcia", "old": "–", "new": 1500000}),
        ("stratum moved", {"stratum": "France"}),
    ]
    assert signed_in.post(path(survey, "/strata"), data={"action": f"delete-{spain}"}).status_code == 303
    assert log(database_url)[-1] == ("stratum removed", {"stratum": "Spain"})
    assert len(dump(database_url)["strata"]) == 3
    assert signed_in.post(path(survey, "/strata"), data={"action": "save"}).status_code == 303
    assert len(log(database_url)) == 5


def test_what_is_refused_changes_nothing_and_stays_on_the_page(
    signed_in: FlaskClient, survey: Published, strata: dict[str, str], database_url: str
) -> None:
    murcia, madrid = number(database_url, "Murcia"), number(database_url, "Madrid")
    before = dump(database_url)
    typed = {
        f"name.{murcia}": "Kept <b>x",
        f"population.{madrid}": "7",
        "lines": "Kept too, 0\n>",
        "under": str(madrid),
    }
    for form, status, problems in [
        ({**typed, f"name.{murcia}": "madrid"}, 422, ["Spain &gt; Murcia: must not have the same name"]),
        ({**typed, f"population.{murcia}": "x"}, 422, ["Spain &gt; Murcia: its population must be a whole number"]),
        (typed, 422, ["Spain &gt; Madrid: its population must be the sum of its parts, 315000; it is 7"]),
        ({**typed, f"population.{madrid}": ""}, 422, ["Line 1: its population must be", "Line 2: a name must not"]),
        ({"lines": "", "action": "add"}, 422, ["Add strata: must be 1 to 2000 lines; it has 0"]),
        ({"lines": "A > B > C > D > E > F > G"}, 422, ["Line 1: must be at most 6 levels deep; it has 7"]),
        ({"lines": "New", "under": "999"}, 404, ["Stratum: is not known"]),
        ({"name.999": "New"}, 404, ["Stratum: is not known"]),
        ({"lines": "New", "action": "delete-999"}, 404, ["Stratum: is not known"]),
        ({"lines": "New", "action": "below-999"}, 404, ["Stratum: is not known"]),
    ]:  # fmt: skip
        answer = signed_in.post(path(survey, "/strata"), data=form)
        assert answer.status_code == status, form
        told = list_complaints(answer.text)
        assert len(told) == len(problems), told
        assert all(message.startswith(known) for message, known in zip(told, problems, strict=True)), told
        assert dump(database_url) == before
        for text in form.values():
            if text.startswith("Kept"):
                assert text.replace("<", "&lt;").replace(">", "&gt;").partition("\n")[0] in answer.text
        assert "Kept <" not in answer.text


def test_strata_of_another_survey_are_not_reached_by_their_numbers(
    signed_in: FlaskClient, survey: Published, strata: dict[str, str], database_url: str
) -> None:
    other = factories.publish(database_url)
    factories.plant(database_url, other.slug, "Secret, 5")
    theirs, before = number(database_url, "Secret"), dump(database_url)
    for form in (
        {f"name.{theirs}": "Mine"},
        {f"population.{theirs}": "6"},
        {"lines": "New", "under": str(theirs)},
        *({"action": f"{button}-{theirs}"} for button in ("up", "down", "delete", "below")),
    ):
        answer = signed_in.post(path(survey, "/strata"), data=form)
        assert (form, answer.status_code) == (form, 404)
        assert "Secret" not in answer.text
        assert dump(database_url) == before


def test_two_thousand_strata_are_one_folded_page(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    text = "\n".join(f"R{n // 100} > P{n // 10 % 10} > M{n % 10}, {n}" for n in range(1000, 2800))
    slugs = factories.plant(database_url, survey.slug, text)
    app = create_app(Config(database_url=database_url))
    browser = factories.sign_in(app.test_client(), factories.sign_in_secret(database_url))

    page = browser.get(path(survey, "/links")).text
    edit = browser.get(path(survey, "/strata")).text

    assert len(re.findall(r"<details>", page)) == 18 * 11
    assert "<details open>" not in page
    assert len({*slugs.values()} & {*re.findall(r"/s/(\w+)<", page)}) == 1800
    assert 'class="more" open' not in edit
    fields = dict(re.findall(r'name="((?:name|population)\.\d+)" value="([^"]*)"', edit))
    assert len(fields) == 2 * (18 * 11 + 1800)
    last = number(database_url, "R27")
    assert browser.post(path(survey, "/strata"), data={**fields, f"name.{last}": "Last"}).status_code == 303
    assert log(database_url) == [("strata changed", {"count": 1})]
    app.extensions["moneda.engine"].dispose()


def test_times_and_limits_are_kept_shown_and_put_on_record(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, database_url: str
) -> None:
    form = {
        **USUAL,
        "opens_at": "2199-07-01T09:00",
        "closes_at": "2199-08-01T09:00",
        "cap": "50",
        "by_invitation": "yes",
    }

    assert signed_in.post(path(survey, "/schedule"), data=form).status_code == 303

    page = signed_in.get(path(survey, "/schedule")).text
    assert 'value="2199-07-01T09:00"' in page
    assert re.search(r"<option selected>Europe/Madrid</option>", page)
    assert "data-here" not in page
    overview = signed_in.get(path(survey)).text
    assert "It is planned to open on July 1, 2199, 09:00 (Europe/Madrid)" in overview
    assert "It is planned to close on August 1, 2199, 09:00 (Europe/Madrid)" in overview
    assert client.get(f"/s/{survey.slug}").status_code != 200
    assert log(database_url) == [
        ("time zone set", {"zone": "Europe/Madrid"}),
        ("opening set", {"time": "2199-07-01 07:00"}),
        ("closing set", {"time": "2199-08-01 07:00"}),
        ("cap set", {"number": 50}),
        ("minimum set", {"number": 10}),
        ("by invitation", {}),
        ("links replaced", {"count": 1}),
    ]
    assert signed_in.post(path(survey, "/schedule"), data={**USUAL, "minimum": "11"}).status_code == 303
    assert [action for action, _details in log(database_url)[7:]] == [
        "opening removed",
        "closing removed",
        "cap removed",
        "minimum set",
        "by link",
    ]


def test_refused_settings_stay_on_the_page(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    before = dump(database_url)
    form = {
        "time_zone": "Europe/Madrid",
        "opens_at": "2026-03-29T02:30",
        "closes_at": "x<b>",
        "cap": "-1",
        "minimum": "0",
    }

    answer = signed_in.post(path(survey, "/schedule"), data=form)

    assert answer.status_code == 422
    assert [message.partition(":")[0] for message in list_complaints(answer.text)] == [
        "Opening time", "Closing time", "Maximum number of responses", "Smallest group shown",
    ]  # fmt: skip
    assert 'value="2026-03-29T02:30"' in answer.text
    assert "x&lt;b&gt;" in answer.text
    assert answer.text.count('aria-invalid="true"') == 4
    assert dump(database_url) == before
    assert signed_in.post(path(survey, "/schedule")).status_code == 422
    assert dump(database_url) == before


def test_paused_survey_takes_nothing_until_it_goes_on(
    signed_in: FlaskClient, client: FlaskClient, survey: Published, database_url: str
) -> None:
    assert signed_in.post(path(survey, "/pause")).status_code == 303

    assert "It is paused" in signed_in.get(path(survey)).text
    assert client.get(f"/s/{survey.slug}").status_code != 200
    assert client.post(survey.url, json=survey.response()).status_code == 423
    assert signed_in.post(path(survey, "/resume")).status_code == 303
    assert client.get(f"/s/{survey.slug}").status_code == 200
    assert client.post(survey.url, json=survey.response()).status_code == 201
    assert log(database_url) == [("paused", {}), ("resumed", {})]
    assert signed_in.post(path(survey, "/close")).status_code == 303
    assert signed_in.post(path(survey, "/pause")).status_code == 409


def test_full_survey_says_so(signed_in: FlaskClient, client: FlaskClient, survey: Published) -> None:
    assert (
        signed_in.post(path(survey, "/schedule"), data={**USUAL, "minimum": "3", "cap": "3"}).status_code
        == 303
    )
    statuses = [client.post(survey.url, json=survey.response()).status_code for _ in range(4)]
    assert statuses == [201, 201, 201, 410]
    assert "It is full: it takes no more than 3 responses." in signed_in.get(path(survey)).text


def test_of_a_closed_survey_the_minimum_is_all_that_is_left_to_change(
    signed_in: FlaskClient, survey: Published, database_url: str
) -> None:
    factories.close(database_url, survey.slug)
    page = signed_in.get(path(survey, "/schedule")).text
    assert re.findall(r'<(?:input|select) [^>]*name="(\w+)"', page) == [FORM_END, "minimum", FORM_END]
    answer = signed_in.post(
        path(survey, "/schedule"), data={"minimum": "20", "cap": "5", "closes_at": "2199-01-01T00:00"}
    )
    assert answer.status_code == 303
    assert log(database_url) == [("minimum set", {"number": 20})]
