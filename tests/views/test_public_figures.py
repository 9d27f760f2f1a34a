"""Figures of a public report in frames of other sites, and its picture for social networks."""

import gzip
import io
import re
import struct

import pytest
from flask import Flask
from flask.testing import FlaskClient
from PIL import Image

from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published
from tests.support.release_form import COUNT, build, set_budget, share

ENGLISH = {"Accept-Language": "en"}


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture
def survey(database_url: str) -> Published:
    """A survey with responses."""
    made = factories.publish(database_url)
    factories.store(database_url, made, [([1, 0], 700), ([0, 1], 500)])
    return made


@pytest.fixture
def report(signed_in: FlaskClient, survey: Published) -> str:
    """The address of its public report, which tells a number and a share."""
    set_budget(signed_in, survey.slug)
    build(signed_in, survey.slug).tick(COUNT, share("q1")).type(people="1200").press().pay()
    signed_in.post(f"/manage/surveys/{survey.slug}/releases/link")
    page = signed_in.get(f"/manage/surveys/{survey.slug}/releases").text
    return "/r/" + page.partition("/r/")[2][:12]


def revoke(signed_in: FlaskClient, survey: Published) -> None:
    signed_in.post(f"/manage/surveys/{survey.slug}/releases/link/revoke")


def test_only_a_figure_may_be_framed(app: Flask, report: str) -> None:
    visitor = app.test_client()
    figure = visitor.get(f"{report}/figure/2-q1", headers=ENGLISH)
    assert figure.status_code == 200
    assert figure.headers["Content-Security-Policy"].startswith("default-src 'none'; style-src 'sha256-")
    assert figure.headers["Content-Security-Policy"].endswith("form-action 'none'; frame-ancestors *")
    assert "X-Frame-Options" not in figure.headers
    assert figure.headers["X-Robots-Tag"] == "noindex, nofollow"
    assert "Set-Cookie" not in figure.headers
    assert f'href="http://localhost{report}?lang=en" target="_blank"' in figure.text
    for other in ("", "/card.png", "/report.pdf", "/figure/9-q1"):
        answer = visitor.get(report + other, headers=ENGLISH)
        assert answer.headers["X-Frame-Options"] == "DENY", other
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"], other
    assert visitor.get(f"{report}/figure/9-q1").status_code == 404
    assert visitor.get("/r/bcdfghjkmnpq/figure/2-q1").headers["X-Frame-Options"] == "DENY"


def test_the_page_offers_each_figure_where_it_is(app: Flask, report: str) -> None:
    answer = app.test_client().get(f"{report}?lang=es", headers={"Accept-Encoding": "br, gzip"})
    assert answer.headers["Content-Encoding"] == "gzip"
    page = gzip.decompress(answer.data).decode()
    assert f"http://localhost{report}/figure/2-q1?lang=es" in page
    assert f'<meta property="og:image" content="http://localhost{report}/card.png">' in page


def test_a_figure_is_a_picture_that_says_what_it_is_of_and_whose(
    app: Flask, signed_in: FlaskClient, survey: Published, report: str
) -> None:
    visitor = app.test_client()
    page = visitor.get(report, headers=ENGLISH).text
    (svg, png) = (visitor.get(f"{report}/figure/2-q1.{ending}?lang=en") for ending in ("svg", "png"))
    for ending, answer in (("svg", svg), ("png", png)):
        assert f"http://localhost{report}/figure/2-q1.{ending}?lang=en" in page
        assert answer.status_code == 200
        assert f'.{ending}"' in answer.headers["Content-Disposition"]
        assert answer.headers["X-Robots-Tag"] == "noindex, nofollow"
        assert answer.headers["X-Frame-Options"] == "DENY"
    picture = Image.open(io.BytesIO(png.data))
    assert (picture.format, picture.convert("RGBA").getpixel((0, 0))) == ("PNG", (255, 255, 255, 255))
    said = " ".join(re.findall(r"<text[^>]*>([^<]+)</text>", svg.text))
    (found,) = re.findall(r"“Yes” is true of \d+\sto\s\d+\sof\s100\.", said)
    assert found in page
    for told in (
        "Exams",
        "Each range by itself holds the truth",
        "are filled: very likely",
        f"http://localhost{report}",
    ):
        assert told in said
    assert visitor.get(f"{report}/figure/9-q1.png").status_code == 404
    revoke(signed_in, survey)
    assert visitor.get(f"{report}/figure/2-q1.png").status_code == 410


def test_a_withdrawn_report_says_so_in_the_frames_too(
    app: Flask, signed_in: FlaskClient, survey: Published, report: str
) -> None:
    revoke(signed_in, survey)
    figure = app.test_client().get(f"{report}/figure/2-q1", headers=ENGLISH)
    assert figure.status_code == 410
    assert "This report was withdrawn" in figure.text
    assert "of 100" not in figure.text
    assert figure.headers["Content-Security-Policy"].endswith("frame-ancestors *")
    assert "X-Frame-Options" not in figure.headers
    card = app.test_client().get(f"{report}/card.png")
    assert card.status_code == 410
    assert not card.data.startswith(b"\x89PNG")


def test_the_card_is_a_picture_of_the_size_that_networks_ask_for(app: Flask, report: str) -> None:
    visitor = app.test_client()
    card = visitor.get(f"{report}/card.png")
    assert card.mimetype == "image/png"
    assert card.headers["Cross-Origin-Resource-Policy"] == "cross-origin"
    assert card.data.startswith(b"\x89PNG")
    assert struct.unpack(">II", card.data[16:24]) == (1200, 630)
    assert visitor.get(f"{report}/card.png").data == card.data
