"""Somebody with an account, and their browser."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.full_installation import ADMINISTRATOR, EDITOR, OWNER, VIEWER, Scene
from tests.support.sign_in_form import PASSWORD


@pytest.fixture
def ana(database_url: str) -> int:
    """Somebody who signs in as "ana" with `PASSWORD`."""
    return factories.account(database_url, "ana", PASSWORD)


@pytest.fixture
def browser(app: Flask, ana: int, database_url: str) -> FlaskClient:
    """Ana's browser, signed in."""
    return factories.sign_in(app.test_client(), factories.link_of(database_url, ana))


@pytest.fixture
def scene(app: Flask, database_url: str, signed_in: FlaskClient) -> Scene:
    """One of each kind of people, and a survey."""
    names = (OWNER, EDITOR, VIEWER, "stranger", ADMINISTRATOR)
    numbers = {
        name: factories.account(database_url, f"the-{name}", administrator=name == ADMINISTRATOR)
        for name in names
    }
    people = {
        name: factories.sign_in(app.test_client(), factories.link_of(database_url, number))
        for name, number in numbers.items()
    }
    made = Scene(app, database_url, people, numbers)
    made.new_survey()
    return made
