"""Budgets and ledgers go where their survey goes: moving a survey never refills its budget.

What copies may release that came otherwise is in `test_rights`.
"""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.people import survey_access
from server.releases.report_links import make_link
from server.study import strata
from tests.conftest import NewDatabase
from tests.support import factories, sample_archives
from tests.support.factories import dump, dump_tidied
from tests.support.sample_archives import entries, moving, pack, with_entry

LEDGER = "releases.json"
ITEMS = [
    {"kind": "count", "epsilon": "0.2"},
    {"kind": "table", "questions": ["q1", "q2"], "epsilon": "0.1"},
    {"kind": "hierarchy", "epsilon": "0.1"},
    {"kind": "share", "question": "q1", "option": "yes", "stratum": ["North"], "epsilon": "0.3"},
    {"kind": "count", "stratum": ["South"], "epsilon": "0.1"},
]


def run(url: str, *arguments: str, text: str | bytes = "") -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, arguments, input=text)


def run_json(url: str, *arguments: str, text: str | bytes = "") -> Any:
    done = run(url, *arguments, "--json", text=text)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def release(url: str, slug: str, *items: Any) -> Any:
    document = {"format": 1, "items": list(items), "division": "given"}
    return run_json(url, "release", slug, "--plan", "-", "--yes", text=json.dumps(document))


def spending(url: str) -> str:
    """A closed survey of two versions in strata that spent 0.7 of 0.9; its slug."""
    survey = factories.publish(url, minimum=3)
    links = factories.plant(url, survey.slug, "North > Alba\nNorth > Bruma\nSouth")
    factories.store(url, survey, [([0, 0], 30), ([1, 0], 20)], links["North > Alba"])
    factories.store(url, survey, [([0, 1], 10)], links["South"])
    run(url, "release", survey.slug, "--budget-epsilon", "0.9", "--budget-delta", "1e-6")
    release(url, survey.slug, *ITEMS[:3])
    again = factories.publish(url, factories.definition([0.25, 0.05]), survey.slug)
    factories.store(url, again, [([0, 0], 30)])
    release(url, survey.slug, *ITEMS[3:])
    factories.close(url, survey.slug)
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        make_link(session, found)
    return survey.slug


def ledger(url: str, slug: str) -> Any:
    return run_json(url, "release", slug)


@pytest.fixture(scope="module")
def archive_and_ledger(sqlite: NewDatabase) -> tuple[bytes, Any]:
    """The archive of such a survey, and its ledger."""
    url = sqlite(True)
    slug = spending(url)
    return pack(url, slug), ledger(url, slug)


def test_a_ledger_goes_along_and_the_budget_stays_spent(
    new_database: NewDatabase, archive_and_ledger: tuple[bytes, Any], tmp_path: Path
) -> None:
    body, before = archive_and_ledger
    url, file = new_database(True), tmp_path / "survey.zip"
    factories.publish(url)  # so that numbers of surveys and strata are others
    factories.plant(url, factories.publish(url).slug, "A\nB")
    file.write_bytes(moving(url, body))

    slug = run_json(url, "survey", "import", str(file))["survey"]

    assert before["spent"]["epsilon"] == 0.7
    assert dump(url)["report_links"] == []
    assert ledger(url, slug) == {**before, "survey": slug}
    free = release(url, slug, ITEMS[0], ITEMS[3])["released"]
    assert [entry["figures"] for entry in free] == [before["entries"][k]["figures"] for k in (0, 3)]
    assert run(url, "release", slug, "--budget-epsilon", "5").exit_code == 2
    # 0.2 is left of the whole; South alone lost 0.2 less than North.
    over = json.dumps(
        {"format": 1, "items": [{"kind": "count", "anew": True, "epsilon": "0.3"}], "division": "given"}
    )
    assert "0.2 is left" in run(url, "release", slug, "--plan", "-", "--yes", text=over).stderr
    south = {"kind": "share", "question": "q1", "option": "no", "stratum": ["South"], "epsilon": "0.4"}
    assert release(url, slug, south)["left"] == 0


def test_the_same_ledger_gives_the_same_bytes_elsewhere(
    new_database: NewDatabase, archive_and_ledger: tuple[bytes, Any], tmp_path: Path
) -> None:
    body, _ = archive_and_ledger
    url = new_database(True)
    slug = run_json(url, "survey", "import", "-", text=body)["survey"]
    assert entries(pack(url, slug))[LEDGER] == entries(body)[LEDGER]
    assert json.loads(entries(body)[LEDGER])["releases"][1]["entries"][0]["strata"] == [2, 3]


def test_a_budget_without_releases_goes_along(sqlite: NewDatabase) -> None:
    url = sqlite(True)
    slug = factories.publish(url, minimum=3).slug
    run(url, "release", slug, "--budget-epsilon", "2", "--neighbours", "bounded")
    factories.close(url, slug)
    other = sqlite(True)
    run_json(other, "survey", "import", "-", text=moving(other, pack(url, slug)))
    assert ledger(other, slug) == ledger(url, slug)


def test_a_copy_starts_without_a_budget_and_a_deleted_survey_takes_its_ledger_along(
    new_database: NewDatabase,
) -> None:
    url = new_database(True)
    slug = spending(url)
    copied = run_json(url, "survey", "duplicate", slug, "--strata")["survey"]
    assert ledger(url, copied)["budget"] is None

    assert run(url, "survey", "delete", slug, "--confirm", slug).exit_code == 0
    after = dump(url)
    tables = ("privacy_budgets", "releases", "ledger_entries", "released_values", "responses")
    assert [after[name] for name in tables] == [[]] * len(tables)


def test_deleted_strata_still_count_apart(sqlite: NewDatabase) -> None:
    """What a stratum lost that is no more is neither forgotten nor added to all others."""
    url = sqlite(True)
    survey = factories.publish(url)
    factories.plant(url, survey.slug, "A\nB\nC")
    factories.store(url, survey, [([0, 0], 30)])
    run(url, "release", survey.slug, "--budget-epsilon", "1")
    release(url, survey.slug, *({"kind": "count", "stratum": [name], "epsilon": "0.5"} for name in "AB"))
    with factories.writing(url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        for node in strata.tree(session, found)[:2]:
            strata.remove(session, found, node.stratum.id)
    factories.settle(url, survey.slug, minimum=3)
    factories.close(url, survey.slug)
    other = sqlite(True)
    run_json(other, "survey", "import", "-", text=moving(other, pack(url, survey.slug)))
    assert ledger(other, survey.slug) == ledger(url, survey.slug)
    assert ledger(other, survey.slug)["spent"]["epsilon"] == 0.5


def change_place(*path: str | int, value: Any = None) -> Callable[[Any], None]:
    """Say something else at a place, or nothing."""

    def change(document: Any) -> None:
        for step in path[:-1]:
            document = document[step]
        if value is None:
            del document[path[-1]]
        else:
            document[path[-1]] = value

    return change


def dearer(document: Any) -> None:
    """With a price that its entry and its item agree on."""
    for path in (("epsilon",), ("what", "epsilon")):
        change_place(*ENTRY, *path, value="0.5")(document)


ENTRY = ("releases", 0, "entries", 0)
WHOLE = "must be a release as Moneda keeps it"
BAD: dict[str, tuple[Callable[[Any], None], str]] = {
    "no budget": (change_place("budget"), "budget: is required where there are releases"),
    "less than was spent": (
        change_place("budget", "epsilon", value="0.69"),
        "budget.epsilon: must be at least what the releases lost together, 0.7; it is 0.69",
    ),
    "a dearer release": (change_place(*ENTRY, "epsilon", value="0.41"), f"releases[0].entries[0]: {WHOLE}"),
    "dearer in both places": (dearer, "lost together, 1; it is 0.9"),
    "delta": (
        change_place(*ENTRY, "delta", value="0.0001"),
        "budget.delta: must be at least what the releases lost together, 0.0001",
    ),
    "large budget": (
        change_place("budget", "epsilon", value="1000"),
        "budget.epsilon: must be from 0 to 100; it is 1000",
    ),
    "number": (change_place("budget", "epsilon", value=1), "budget.epsilon: must be text; it is 1"),
    "no number": (
        change_place("budget", "epsilon", value="much"),
        "budget.epsilon: must be from 0 to 100; it is much",
    ),
    "other spelling": (
        change_place("budget", "epsilon", value="0.90"),
        "budget.epsilon: must be written like 0.9; it is 0.90",
    ),
    "negative": (change_place(*ENTRY, "epsilon", value="-1"), "epsilon: must be from 0 to 100; it is -1"),
    "neighbours": (
        change_place("budget", "neighbours", value="near"),
        "must be one of bounded, unbounded; it is near",
    ),
    "other neighbours": (
        change_place(*ENTRY, "neighbours", value="bounded"),
        "releases[0].entries[0].neighbours: must be unbounded, as the budget says",
    ),
    "moment": (
        change_place("releases", 1, "made_at", value="yesterday"),
        "releases[1].made_at: must be written like",
    ),
    "future": (
        change_place("releases", 1, "made_at", value="2999-01-01T00:00:00"),
        "releases[1].made_at: must be from",
    ),
    "set at": (change_place("budget", "set_at", value="2026"), "budget.set_at: must be written like"),
    "stratum": (
        change_place("releases", 1, "entries", 0, "strata", value=[9]),
        "entries[0].strata[0]: must be the number of a stratum; it is 9",
    ),
    "hash": (change_place(*ENTRY, "asked", value="00"), "entries[0].asked: must be written like"),
    "no value": (change_place(*ENTRY, "released"), "entries[0].released: is required"),
    "empty value": (change_place(*ENTRY, "released", value={}), f"entries[0]: {WHOLE}"),
    "no figures": (change_place(*ENTRY, "released", "figures", value=[]), WHOLE),
    "text for a figure": (change_place(*ENTRY, "released", "figures", 0, "value", value="<b>"), WHOLE),
    "confidence": (change_place(*ENTRY, "released", "confidence", value=2), WHOLE),
    "kind": (change_place(*ENTRY, "what", "kind", value="secret"), WHOLE),
    "versions": (change_place("releases", 0, "covers", "versions", value=[3]), WHOLE),
    "respondents": (change_place("releases", 0, "covers", "respondents", value=60), WHOLE),
    "more": (change_place("left", value="1"), "left: is not known here"),
    "no right": (change_place("right"), "right: is required"),
    "another right": (change_place("right", "kind", value="all"), "must be one of none, move, share"),
    "a right to nothing": (change_place("right", "kind", value="share"), "right.token: is required"),
    "no entries": (change_place("releases", 0, "entries", value=[]), "entries: must not be empty"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_ledger_that_does_not_add_up_is_refused(
    name: str, archive_and_ledger: tuple[bytes, Any], refusing: str
) -> None:
    change, said = BAD[name]
    body, _ = archive_and_ledger
    document = copy.deepcopy(json.loads(entries(body)[LEDGER]))
    change(document)
    before = dump_tidied(refusing)

    done = run(
        refusing, "survey", "import", "-", text=with_entry(LEDGER, json.dumps(document).encode())(body)
    )

    assert (done.exit_code, "Traceback" in done.output, dump_tidied(refusing) == before) == (2, False, True)
    message = " ".join(done.stderr.split())
    assert f"{LEDGER}: " in message
    assert said in message


@pytest.fixture(scope="module")
def refusing(sqlite: NewDatabase) -> str:
    return sqlite(True)


def test_an_archive_without_its_ledger_is_refused(
    archive_and_ledger: tuple[bytes, Any], refusing: str
) -> None:
    done = run(refusing, "survey", "import", "-", text=sample_archives.without(LEDGER)(archive_and_ledger[0]))
    assert (done.exit_code, "releases.json: is missing from the archive" in done.stderr) == (2, True)
    for content, said in ((b"{", "must be JSON"), (b"[]", "must be an object"), (b"\xff", "must be UTF-8")):
        done = run(refusing, "survey", "import", "-", text=with_entry(LEDGER, content)(archive_and_ledger[0]))
        assert (done.exit_code, said in done.stderr) == (2, True), done.stderr
