"""What a release will be like, drawn before it is paid for: of every kind, and of nothing that was answered."""

import re
from typing import Any

import pytest
from flask.testing import FlaskClient
from lxml.html import document_fromstring as html_of
from lxml.html import tostring

from server.simulation import Assumptions, simulate
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.release_form import COUNT, build
from tests.support.sample_releases import find_survey, grant

PEOPLE = 400
ITEMS: list[dict[str, Any]] = [
    COUNT,
    {"kind": "hierarchy"},
    {"kind": "share", "questions": ["coin"], "option": "yes"},
    {"kind": "histogram", "questions": ["party"]},
    {"kind": "histogram", "questions": ["drugs"]},
    {"kind": "mean", "questions": ["cups"]},
    {"kind": "mean", "questions": ["cups"], "by_stratum": True},
    {"kind": "most_common", "questions": ["party"]},
    {"kind": "top", "questions": ["city"], "how_many": 3},
    {"kind": "table", "questions": ["coin", "party"]},
    {"kind": "table", "questions": ["coin"], "by_stratum": True},
    {"kind": "exceeding", "questions": ["coin", "mirror"], "share": 0.2, "positives": 1},
    {"kind": "count", "stratum": ["North"]},
]


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite: what is drawn here asks no database."""
    return sqlite(True)


def make_survey(database_url: str, answered: int) -> str:
    """A survey that asks everything, in two strata; so many have answered."""
    survey = factories.publish(database_url, every_kind.document())
    factories.plant(database_url, survey.slug, "North; 300\nSouth; 100")
    if answered:
        with factories.writing(database_url) as session:
            for _ in simulate(session, find_survey(session, survey.slug), answered, Assumptions()):
                pass
    grant(database_url, survey.slug)
    return survey.slug


def look(client: FlaskClient, slug: str, *items: dict[str, Any], **rest: object) -> list[Any]:
    """The example of each item of a plan, None where there is none."""
    plan = {"format": 1, "epsilon": 2, "people": PEOPLE, **rest, "items": list(items)}
    if plan["people"] is None:
        del plan["people"]
    page = html_of(build(client, slug).upload(plan).answer.text)
    found = [li.xpath("./details/figure") for li in page.xpath("//ol[@class='plan-items']/li")]
    assert len(found) == len(items)
    return [figures[0] if figures else None for figures in found]


def test_every_kind_of_item_shows_an_example_before_it_is_paid_for(
    signed_in: FlaskClient, database_url: str
) -> None:
    slug = make_survey(database_url, 0)

    for item, figure in zip(ITEMS, look(signed_in, slug, *ITEMS), strict=True):
        assert figure is not None, item
        words = figure.text_content()
        assert "An example, not your data" in words
        assert "The result is made up" in words
        assert figure.xpath(".//svg//path[@class='range' or @class='line']")


def test_an_example_is_the_same_whatever_was_answered(signed_in: FlaskClient, database_url: str) -> None:
    drawn = []
    for answered in (0, 60):
        figures = look(signed_in, make_survey(database_url, answered), *ITEMS)
        drawn.append([tostring(figure) for figure in figures])

    assert drawn[0] == drawn[1]


def test_an_example_is_as_wide_as_its_numbers_say(signed_in: FlaskClient, database_url: str) -> None:
    """Half of the people, 360 units wide with 10 beside the axis; the plan's error is the first of two intervals."""
    slug = make_survey(database_url, 0)
    (narrow,) = look(signed_in, slug, {"kind": "share", "questions": ["coin"], "option": "yes"}, epsilon=5)
    (wide,) = look(signed_in, slug, {"kind": "share", "questions": ["coin"], "option": "yes"}, epsilon="0.1")

    for figure in (narrow, wide):
        said = figure.xpath(".//desc")[0].text_content().replace("\N{NO-BREAK SPACE}", " ")
        sizes = [float(size) for size in re.findall(r"± ([\d.]+) points", said)]
        marks = [float(line.get("x1")) for line in figure.xpath(".//line[@class='limit']")[:2]]
        unit = (marks[1] - marks[0]) / 100
        ends = [
            [float(number) for number in re.match(r"M([\d.]+) [\d.]+H([\d.]+)", path.get("d")).groups()]
            for path in figure.xpath(".//path[@class='range']")
        ]
        assert [(high - low) / 2 / unit for low, high in ends] == pytest.approx(sizes, abs=0.1)
        assert all((low + high) / 2 == pytest.approx(sum(marks) / 2, abs=0.1) for low, high in ends)
        assert sizes[0] < sizes[1]  # the coins and who is asked come on top


def test_without_a_number_of_people_nothing_is_drawn(signed_in: FlaskClient, database_url: str) -> None:
    slug = make_survey(database_url, 60)

    assert look(signed_in, slug, COUNT, {"kind": "most_common", "questions": ["party"]}, people=None) == [
        None,
        None,
    ]


def test_the_number_of_people_is_that_of_the_plan_of_the_survey(
    signed_in: FlaskClient, database_url: str
) -> None:
    planned = factories.publish(database_url, factories.definition(plan={"respondents": 750, "margin": 0.1}))
    grant(database_url, planned.slug)
    unplanned = factories.publish(database_url)
    grant(database_url, unplanned.slug)

    assert build(signed_in, planned.slug).read().values("people") == ["750"]
    assert build(signed_in, unplanned.slug).read().values("people") == [""]
