"""The results of a survey: what cannot be computed is said in its place, and the rest of the page stands."""

import numpy as np
import pytest
import sqlalchemy as sa
from flask.testing import FlaskClient

from server.store.own_tables import batches_of
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import Published

CANNOT = "This part cannot be shown"
QUESTIONS = 20


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: nothing here depends on the database."""
    return sqlite(True)


@pytest.fixture
def spoilt(signed_in: FlaskClient, database_url: str) -> Published:
    """A survey whose shares are counted beside a content that cannot be read any more."""
    survey = factories.publish(database_url, factories.definition([0.25] * QUESTIONS), minimum=1)
    rows = np.random.default_rng(7).integers(0, 2, (400, QUESTIONS)).tolist()
    factories.store(database_url, survey, [(row, 1) for row in rows])
    assert CANNOT not in signed_in.get(page(survey)).text
    with factories.writing(database_url) as session:
        batches = batches_of(1)
        session.execute(sa.update(batches).where(batches.c.level > 0).values(content=b""))
    return survey


def page(survey: Published) -> str:
    return f"/manage/surveys/{survey.slug}/results?row=q1&column=q2"


def test_a_part_that_cannot_be_computed_says_so_and_leaves_the_others(
    signed_in: FlaskClient, spoilt: Published, caplog: pytest.LogCaptureFixture
) -> None:
    answer = signed_in.get(page(spoilt))

    assert answer.status_code == 200
    assert answer.text.count(CANNOT) == 1
    assert all(f'id="{part}"' in answer.text for part in ("estimates", "diagnostics", "take"))
    assert 'id="joint"' not in answer.text
    assert "IndexError" in caplog.text
    assert CANNOT not in signed_in.get(page(spoilt).partition("?")[0]).text


def test_what_is_asked_for_wrongly_is_still_refused(signed_in: FlaskClient, spoilt: Published) -> None:
    for asked in ("row=q1&column=q1", "row=q1&column=nothing"):
        answer = signed_in.get(f"{page(spoilt).partition('?')[0]}?{asked}")
        assert answer.status_code == 404


def test_an_estimate_beyond_the_possible_is_not_called_close_to_it(
    signed_in: FlaskClient, database_url: str
) -> None:
    """23 of 60 report Yes through a coin that hardly tells: below 0, and still true of up to half of them."""
    document = factories.definition([0.1])
    document["questions"][0]["text"] = "هل؟"
    survey = factories.publish(database_url, document, minimum=1)
    factories.store(database_url, survey, [([1], 23), ([0], 37)])
    factories.close(database_url, survey.slug)
    said = signed_in.get(f"/manage/surveys/{survey.slug}/results").text
    assert "Below 0, as chance may have it." in said
    assert "read no more into it than the interval says" in said
    assert "close to" not in said


def test_numbers_after_an_answer_of_another_direction_keep_their_order(
    signed_in: FlaskClient, database_url: str
) -> None:
    document = factories.definition(
        questions=[
            {
                "name": "why",
                "kind": "select_one",
                "text": "لماذا؟",
                "options": [{"name": "time", "text": "لا وقت"}, {"name": "hard", "text": "صعب"}],
                "design": {"mechanism": "best_choice"},
            }
        ],
        language="ar",
        budget=2,
    )
    survey = factories.publish(database_url, document, minimum=1)
    factories.store(database_url, survey, [([0], 900), ([1], 100)])
    factories.close(database_url, survey.slug)
    said = signed_in.get(f"/manage/surveys/{survey.slug}/results").text
    assert "“<bdi>لا وقت</bdi>”" in said
