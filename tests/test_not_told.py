"""Where a sentence says that the responses do not tell, no number beside it looks like a finding; it stays readable."""

from flask.testing import FlaskClient

from server.config import Config
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.folded_parts import ALL_OPEN
from tests.support.front_client import create_app


def collect(url: str, gammas: list[float], responses: list[tuple[list[int], int]]) -> tuple[FlaskClient, str]:
    """Whoever owns a closed survey with these responses, signed in; and where its pages are."""
    survey = factories.publish(url, factories.definition(gammas))
    factories.store(url, survey, responses)
    factories.close(url, survey.slug)
    client = create_app(Config(database_url=url)).test_client()
    return factories.sign_in(client, factories.sign_in_secret(url)), f"/manage/surveys/{survey.slug}"


def test_an_estimate_that_tells_nothing_is_marked_in_tables(sqlite: NewDatabase) -> None:
    """Gamma 0.1 and 10 of 10 reports of no: an estimate of -200 %, and an interval from 0 to 100."""
    client, address = collect(sqlite(True), [0.45, 0.1], [([1, 0], 5), ([0, 0], 5)])
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert "These responses do not tell" in page
    assert "<small>not told, out of its range</small>" in page
    assert "“Out of its range”: nothing is cut" in page


def test_an_estimate_that_tells_is_not(sqlite: NewDatabase) -> None:
    client, address = collect(sqlite(True), [0.45], [([1], 90), ([0], 110)])
    page = client.get(f"{address}/results?{ALL_OPEN}").text
    assert "number strong" in page
    assert "<small>" not in page
