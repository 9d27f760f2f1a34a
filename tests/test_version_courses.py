"""A question that stood in several published versions is told version by version, and not only pooled."""

import csv
import html
import io
import re
from xml.etree import ElementTree

import pytest
from flask.testing import FlaskClient

from server import reports
from server.people import survey_access
from server.reports.version_courses import VersionCourse, follow_versions
from tests.support import factories
from tests.support.factories import Published

TRUE = {1: 0.3, 2: 0.6}
"""Of those who answered each version, how many say Yes: with two fair coins 40 and 55 of 100 arrive so."""
EACH = 10_000


def publish_twice(database_url: str, minimum: int = 10, second: int = EACH) -> Published:
    """A survey whose title changed once, answered by as many before and after."""
    questions = [factories.question("copied", "Have you ever copied?")]
    survey = factories.publish(database_url, factories.definition(questions=questions), minimum=minimum)
    for number, n in ((1, EACH), (2, second)):
        if number == 2:
            later = factories.definition(questions=questions, title="Asked again")
            survey = factories.publish(database_url, later, survey.slug)
        arrived = round(n * (0.25 + 0.5 * TRUE[number]))
        factories.store(database_url, survey, [([1], arrived), ([0], n - arrived)])
    factories.close(database_url, survey.slug)
    return survey


def follow(database_url: str, survey: Published) -> VersionCourse | None:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        report = reports.read(session, found)
        return follow_versions(report, report.question("copied"), anytime=False)


def test_each_version_has_its_own_share_in_order(database_url: str) -> None:
    survey = publish_twice(database_url)
    course = follow(database_url, survey)
    assert course is not None
    assert [(point.number, point.n) for point in course.points] == [(1, EACH), (2, EACH)]
    for point in course.points:
        assert point.figure.value == pytest.approx(TRUE[point.number], abs=1e-9)
        low, high = point.figure.interval(anytime=False)
        assert low < TRUE[point.number] < high < low + 0.05
    # What is pooled says neither.
    assert course.entry.shown[0].value == pytest.approx(0.45, abs=1e-9)
    assert course.change.value == pytest.approx(0.3, abs=1e-9)


def test_the_page_and_the_files_tell_it(database_url: str, signed_in: FlaskClient) -> None:
    survey = publish_twice(database_url)
    home = f"/manage/surveys/{survey.slug}"
    page = html.unescape(signed_in.get(f"{home}/results", headers={"Accept-Language": "en"}).text)
    said = re.search(r'<p id="versions-copied">(.*?)</p>', page, re.DOTALL)
    assert said is not None
    assert re.search(r"version 1: 2\d to 3\d; version 2: 5\d to 6\d\. Of 100", said[1])
    assert re.search(r"Of 100, “Yes” is true of 2\d to 3\d more in version 2 than in version 1\.", said[1])
    drawn = ElementTree.fromstring(signed_in.get(f"{home}/versions.svg?question=copied").data)  # noqa: S314 - our own
    shapes = [shape.get("class") for shape in drawn.iter() if shape.tag.endswith(("circle", "path"))]
    assert shapes == ["line", "range", "dot", "range", "dot"]
    rows = list(csv.DictReader(io.StringIO(signed_in.get(f"{home}/versions.csv?question=copied").text)))
    assert [row["version"] for row in rows] == ["1", "2"]
    assert [float(row["estimate"]) for row in rows] == pytest.approx([0.3, 0.6])
    assert "version 1: 2" in html.unescape(signed_in.get(f"{home}/report.html").text)


def test_a_version_that_is_too_small_to_stand_alone_is_in_no_course(
    database_url: str, signed_in: FlaskClient
) -> None:
    survey = publish_twice(database_url, minimum=50, second=20)
    assert follow(database_url, survey) is None
    home = f"/manage/surveys/{survey.slug}"
    assert "versions-copied" not in signed_in.get(f"{home}/results").text
    assert signed_in.get(f"{home}/versions.csv?question=copied").status_code == 409
