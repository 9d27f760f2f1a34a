"""What takes long says on standard error what it is doing and how far it is; standard output stays as it was."""

import json
from pathlib import Path

from server.archives import invariants
from server.archives.folders import archive_survey
from server.collect import batches
from server.people import survey_access
from tests.support import factories
from tests.support.factories import Published

SIZES = {"": 40, "North": 25, "South": 12}


def fill(database_url: str) -> Published:
    """A closed survey with 77 responses in three cells."""
    survey = factories.publish(database_url, minimum=5)
    links = factories.plant(database_url, survey.slug, "North\nSouth")
    for name, number in SIZES.items():
        factories.store(database_url, survey, [([1, 0], number)], links.get(name, ""))
    factories.close(database_url, survey.slug)
    return survey


def test_recounting_tells_how_many_rows_of_all(database_url: str) -> None:
    survey = fill(database_url)
    told: list[tuple[int, int]] = []
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        batches.recount(session.connection(), found.id, lambda done, of: told.append((done, of)))

    assert {of for _done, of in told} == {77}
    assert list(dict.fromkeys(done for done, _of in told)) == [40, 65, 77]


def test_archiving_tells_how_many_responses_of_all(database_url: str, tmp_path: Path) -> None:
    survey = fill(database_url)
    told: list[tuple[int, int]] = []
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        archive_survey(session, found, tmp_path / "archive", lambda done, of: told.append((done, of)))

    done = [done for done, _of in told]
    assert done == sorted(done)
    assert told[-1] == (77, 77)


def test_checking_names_each_step_before_it_begins(database_url: str) -> None:
    fill(database_url)
    begun: list[str] = []

    with factories.writing(database_url) as session:
        assert invariants.find_broken(session, quick=False, begin=begun.append) == []

    assert begun == list(invariants.FULL)


def test_commands_say_it_beside_what_they_print(database_url: str, tmp_path: Path) -> None:
    survey = fill(database_url)
    commands = {
        f"Counting {survey.slug}": ("recount", "--json"),
        f"Archiving {survey.slug}": ("archive", survey.slug, "--to", str(tmp_path / "archive"), "--json"),
        "Checking: counts": ("check", "--json"),
    }
    for said, words in commands.items():
        done = factories.run(database_url, *words)
        assert done.exit_code == 0, done.stderr
        assert said in done.stderr
        assert json.loads(done.stdout)
