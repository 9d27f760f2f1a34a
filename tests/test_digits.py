"""Digits by choice: what the server writes for whoever reads others than codes are in. Expected: CLDR 45, `arab`."""

import re
from datetime import timedelta
from html import unescape

import pytest
from flask.testing import FlaskClient

from server.config import Config
from server.output.digits import fill_message, write_digits
from server.output.languages import RESPONDENT_LANGUAGES, name_reading, split_reading
from server.study import surveys
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.front_client import create_app

CHOSEN = "lang=ar-u-nu-arab"


@pytest.mark.parametrize(
    ("latin", "eastern"),
    [
        ("1,234.5", "١٬٢٣٤٫٥"),
        ("> 99.99", "> ٩٩٫٩٩"),
        ("26 نوفمبر 2026، 20:35", "٢٦ نوفمبر ٢٠٢٦، ٢٠:٣٥"),
        ("Ends. 7, 8.", "Ends. ٧, ٨."),
        ("–", "–"),
    ],
)
def test_a_number_is_written_with_the_signs_that_go_with_its_digits(latin: str, eastern: str) -> None:
    assert write_digits(latin, "arab") == eastern
    assert write_digits(latin, "") == latin


@pytest.mark.parametrize(
    ("message", "filled"),
    [
        ("%(right)d من كل 100 مرة", "٩٨ من كل ١٠٠ مرة"),
        ("3 ثم 5 تصبح 35.", "٣ ثم ٥ تصبح ٣٥."),
        # Names and what a template fills in later stand as they are, and so does what somebody wrote.
        ("(SHA-256) {n} {label2}: 1", "(SHA-256) {n} {label2}: ١"),
        ("%(name)s, 2 &#39;3&#39;", "Room 12, ٢ &#39;٣&#39;"),
        ("100 %%", "١٠٠ %"),
    ],
)
def test_a_text_of_ours_follows_and_one_of_others_does_not(message: str, filled: str) -> None:
    text, values = fill_message(message, {"right": 98, "name": "Room 12"}, "arab")
    assert text % values == filled


def test_a_choice_is_named_as_bcp_47_does_and_the_first_is_the_language_itself() -> None:
    assert [*RESPONDENT_LANGUAGES["ar"].digits] == ["latn", "arab"]
    assert name_reading("ar", "latn") == "ar"
    assert split_reading(name_reading("ar", "arab")) == ("ar", "arab")
    assert split_reading("es") == ("es", "")
    systems = [system for language in RESPONDENT_LANGUAGES.values() for system in [*language.digits][1:]]
    assert [system for system in systems if write_digits("0", system) == "0"] == []


def read_texts(page: str) -> str:
    """The texts between the tags of what is shown, without those that are code or somebody's own."""
    shown = re.sub(
        r"<(style|script|code|nav)\b.*?</\1>|<(\w+)[^>]* translate=\"no\".*?</\2>", "", page, flags=re.S
    )
    return unescape(re.sub("<[^>]*>", " ", shown)).replace("SHA-256", "")


def test_every_page_of_a_link_follows_where_it_is_chosen(sqlite: NewDatabase) -> None:
    """From memory, too: one answer for each kind of digits, whoever asked before."""
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    group = next(iter(factories.plant(database_url, survey.slug, "Room 12\t1537").values()))
    factories.settle(database_url, survey.slug, keep_rows=30, tablet=True)
    client = create_app(Config(database_url=database_url)).test_client()
    for path in (
        f"/s/{survey.slug}",
        f"/s/{group}/screens",
        f"/s/{survey.slug}/how",
        f"/s/{survey.slug}/receipt",
        f"/s/{group}/tablet",
    ):
        plain = client.get(f"{path}?lang=ar").text
        eastern = client.get(f"{path}?{CHOSEN}").text
        assert plain == client.get(path, headers={"Accept-Language": "ar-EG"}).text
        assert eastern == client.get(f"{path}?{CHOSEN}").text
        assert 'data-digits="arab"' in eastern
        assert "data-digits" not in plain
        assert re.search("[0-9]", read_texts(plain)) or path.endswith("/receipt")
        assert re.findall("[0-9]+", read_texts(eastern)) == []
        # A broken twin: a number that was left would be found.
        assert re.findall("[0-9]+", read_texts(eastern.replace("</main>", "<p>7</p></main>"))) == ["7"]


def test_pages_that_refuse_follow_too(sqlite: NewDatabase) -> None:
    """Of links that are closed, early or unknown, and of what is refused before any page is drawn."""
    database_url = sqlite(True)
    slugs = [factories.publish(database_url).slug for _ in range(3)]
    factories.close(database_url, slugs[0])
    factories.settle(database_url, slugs[1], opens_at=surveys.now() + timedelta(days=12))
    client = create_app(Config(database_url=database_url)).test_client()
    large = {"data": b"x" * 20_000_000, "content_type": "application/json"}
    seen = [
        (410, client.get(f"/s/{slugs[0]}?{CHOSEN}").text),
        (423, client.get(f"/s/{slugs[1]}?{CHOSEN}").text),
        (404, client.get(f"/s/bcdfghjkmnpq?{CHOSEN}").text),
        (404, client.get(f"/s/{slugs[2]}/nowhere?{CHOSEN}").text),
        (405, client.post(f"/s/{slugs[2]}/how?{CHOSEN}").text),
        (413, client.post(f"/s/{slugs[2]}?{CHOSEN}", **large).text),
    ]

    for status, page in seen:
        assert 'data-digits="arab"' in page, status
        assert re.findall("[0-9]+", read_texts(page)) == [], status
    assert "١٠٤٨٥٧٦" in seen[-1][1]
    # The twin: the same refusal in the digits that are not chosen.
    assert "1048576" in client.post(f"/s/{slugs[2]}?lang=ar", **large).text


def test_who_reads_another_language_has_no_such_choice(client: FlaskClient, survey: Published) -> None:
    for wanted in ("es-u-nu-arab", "ar-u-nu-deva", "ar-u-nu-latn", "-u-nu-arab"):
        page = client.get(f"/s/{survey.slug}?lang={wanted}").text
        assert '<html lang="en">' in page, wanted
    page = client.get(f"/s/{survey.slug}?lang=es").text
    (choices,) = re.findall('<nav aria-label="Cifras"([^>]*)>', page)
    assert choices == " hidden"
    researchers = client.get(f"/manage/sign-in?{CHOSEN}").text
    assert "data-digits" not in researchers
    assert RESPONDENT_LANGUAGES["ar"].digits["arab"] not in researchers
