"""How much arrives before somebody sees what was found: the page and every file that it names, as they are sent.

Bytes, and no time: `make bench-results` measures that. The responses are the same in every run.
"""

import gzip
import re
from collections.abc import Iterator
from datetime import date, timedelta

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from server.collect import batches
from server.config import Config
from server.output.languages import LANGUAGES
from server.people import survey_access
from server.reports.public_page import write_public_page
from server.study import strata
from server.web.compressed_pages import make_compressed
from tests.benchmarks.first_look import MOST_BYTES
from tests.benchmarks.live import TREE, document
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.front_client import create_app
from tests.test_public_page import ADDRESSES, publish

RESPONSES = 100_000
DAYS = 21


def weigh(client: FlaskClient, path: str, language: str) -> int:
    """Bytes of a page and its files, for a browser that takes gzip and has none of them yet."""
    asked = {"Accept-Encoding": "gzip", "Accept-Language": language}
    page = client.get(path, headers=asked)
    assert page.status_code == 200
    files = set(re.findall(r'(?:src|href)="(/client/[^"]+)"', page.text))
    assert len(files) > 3
    return sum(len(answer.data) for answer in (page, *(client.get(file, headers=asked) for file in files)))


@pytest.fixture
def researcher(sqlite: NewDatabase) -> Iterator[tuple[FlaskClient, str]]:
    """Somebody with twenty questions of every kind, answered in twelve strata within three weeks; the survey's slug."""
    database_url = sqlite(True)
    slug = factories.publish(database_url, document(), minimum=10).slug
    factories.plant(database_url, slug, TREE)
    generator = np.random.default_rng(20261129)
    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        version = survey.current
        # Reports of each kind equally often, as of people who are evenly divided.
        reports = generator.integers(0, list(version.reports), (RESPONSES, len(version.reports)), np.uint8)
        leaves = strata.list_leaves(strata.tree(session, survey))
        for node, rows in zip(leaves, np.array_split(reports, len(leaves)), strict=True):
            sizes = [len(some) for some in np.array_split(rows, DAYS)]
            days = {date(2026, 5, 1) + timedelta(place): size for place, size in enumerate(sizes)}
            group = batches.Group(survey.minimum, [row.tobytes() for row in rows], days)
            key = batches.CellKey(version.id, node.stratum.id)
            batches.add(session.connection(), survey.id, {key: group})
        batches.count(session.connection(), {survey.id: RESPONSES})
    app = create_app(Config(database_url=database_url))
    yield factories.sign_in(app.test_client(), factories.sign_in_secret(database_url)), slug
    app.extensions["moneda.engine"].dispose()


def test_results_of_many_responses_arrive_in_few_bytes(researcher: tuple[FlaskClient, str]) -> None:
    """With the intervals that take the most room."""
    client, slug = researcher
    path = f"/manage/surveys/{slug}/results?interval=anytime"
    weights = {language: weigh(client, path, language) for language in LANGUAGES}
    assert 50_000 < max(weights.values()) <= MOST_BYTES, weights


def test_a_public_report_arrives_in_few_bytes() -> None:
    """Of a survey and releases of every kind: compressed, as it holds nothing that is secret or was brought along."""
    app, published = Flask(__name__), publish()
    for language in LANGUAGES:
        page = write_public_page(published, language, addresses=ADDRESSES)
        with app.test_request_context(headers={"Accept-Encoding": "gzip"}):
            sent = make_compressed(page)
        assert gzip.decompress(sent.data).decode() == page
        assert 10_000 < len(sent.data) <= MOST_BYTES / 2, language
        with app.test_request_context():
            assert make_compressed(page).data.decode() == page
