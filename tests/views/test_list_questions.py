"""The list of surveys asks the database as often for many surveys as for a few."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient

from server.collect.batches import batch_reader
from tests.support import factories
from tests.support.collected_numbers import read_listed

MANY = 12


@contextmanager
def count_statements(app: Flask) -> Iterator[list[str]]:
    """What the application asks its database meanwhile."""
    engine, asked = app.extensions["moneda.engine"], []

    def note(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)


def test_more_surveys_take_no_more_questions(app: Flask, signed_in: FlaskClient, database_url: str) -> None:
    slugs, numbers = [], []
    signed_in.get("/manage/surveys")  # the first look of a day is noted
    for number in range(MANY):
        survey = factories.publish(database_url)
        factories.store(database_url, survey, [([1, 0], 3 * number + 1)])
        slugs.append(survey.slug)
        with count_statements(app) as asked:
            page = signed_in.get("/manage/surveys").text
        numbers.append(len(asked))
    assert numbers[0] > 3
    assert set(numbers) == {numbers[0]}, asked
    assert [read_listed(page, slug)[0] for slug in slugs] == [3 * number + 1 for number in range(MANY)]
    assert MANY < batch_reader._TOGETHER < 500
