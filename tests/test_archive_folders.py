"""Archive folders: what was archived is estimated as on the server, digit for digit, and read by others as well."""

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server.inputs import InputError
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published
from tests.support.scale import choose_size
from tests.support.strategies import documents

TREES = (
    "",
    "A; 300\nB; 500\nC; 100\nD; 900",
    "North > A; 100\nNorth > B; 200\nSouth > C; 300\nSouth > D; 50\nE; 70",
    "North > Up > A; 100\nNorth > Up > B; 60\nNorth > C; 80\nD; 90",
    "=A\nB, or C\nñ'\"",
)
SIZES = (0, 0, 1, 3, 5, 6, 9, 20, 30, 40, 50)
MINIMUM = 5


def archive(database_url: str, folder: Path, *slugs: str) -> list[dict[str, str]]:
    """Archive surveys; what became of each."""
    result = factories.run(database_url, "archive", *slugs, "--to", str(folder), "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, str]] = json.loads(result.stdout)
    return found


def estimate(*folders: Path) -> dict[str, Any]:
    """What each survey of archive folders found, by its name."""
    arguments = [argument for folder in folders for argument in ("--archive", str(folder))]
    result = factories.run("", "estimate", *arguments, "--json")
    assert result.exit_code == 0, result.output
    return {survey["survey"]: survey for survey in json.loads(result.stdout)["surveys"]}


def read_report(database_url: str, slug: str) -> Any:
    """What the server's report says."""
    result = factories.run(database_url, "report", slug, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def store_responses(database_url: str, survey: Published, links: dict[str, str], draw: random.Random) -> None:
    """Some responses to a version by each link."""
    reports = list_reports(survey.definition)
    for link in links.values():
        size = draw.choice(SIZES)
        rows = Counter(tuple(draw.randrange(most) for most in reports) for _ in range(size))
        if rows:
            factories.store(database_url, survey, list(rows.items()), link)


def list_reports(document: Any) -> list[int]:
    """How many reports each byte of a response can hold."""
    return [design.weights.shape[1] for design in parse_definition(document).designs]


def closed_study(database_url: str, draw: random.Random, *definitions: Any) -> str:
    """A closed survey with versions of these definitions, strata and responses."""
    lines = draw.choice(TREES)
    first = factories.publish(database_url, definitions[0], minimum=MINIMUM)
    links = {"": first.slug}
    if lines:
        planted = factories.plant(database_url, first.slug, lines)
        links |= {
            path: link for path, link in planted.items() if not any(f"{path} >" in each for each in planted)
        }
    store_responses(database_url, first, links, draw)
    for definition in definitions[1:]:
        later = factories.publish(database_url, definition, first.slug)
        store_responses(database_url, later, links, draw)
    factories.close(database_url, first.slug)
    return first.slug


def manifests(folder: Path) -> list[Any]:
    """The manifests in an archive folder."""
    return [json.loads(path.read_bytes()) for path in folder.glob("survey=*/_manifest.json")]


def check_same(database_url: str, slug: str, folder: Path) -> None:
    """What the archive says is what the server says; or both refuse."""
    if factories.run(database_url, "report", slug).exit_code:
        assert factories.run(database_url, "archive", slug, "--to", str(folder)).exit_code == 2
        assert not folder.exists() or not list(folder.iterdir())
        return
    archive(database_url, folder, slug)
    found, expected = estimate(folder)[slug], read_report(database_url, slug)
    assert found["questions"] == expected["questions"]
    for name in ("n", "versions", "version", "minimum", "left_out", "simulated", "title", "strata_cut"):
        assert found[name] == expected[name], name


@pytest.mark.scaled
def test_versions_and_strata_are_estimated_as_on_the_server(database_url: str, tmp_path: Path) -> None:
    """Where some are too few for rows that name them, and not for a report on all versions, too."""
    summed = 0
    for seed in range(choose_size(8, 100)):
        draw = random.Random(seed)
        gammas = [draw.choice([(0.25, 0.1), (0.25, 0.05), (0.25,), (0.2, 0.1)]) for _ in range(3)]
        titles = [{"title": f"Round {number}"} for number in range(3)]
        definitions = [
            factories.definition(sorted(each, reverse=True), **title)
            for each, title in zip(sorted(gammas, key=len), titles, strict=True)
        ]
        try:
            slug = closed_study(database_url, draw, *definitions[: draw.randint(1, 3)])
        except InputError:  # less privacy than promised before
            continue
        check_same(database_url, slug, tmp_path / str(seed))
        summed += sum(bool(manifest["sums"]) for manifest in manifests(tmp_path / str(seed)))
    assert summed  # some did need what rows may not tell


@pytest.fixture(scope="module")
def one_sqlite(sqlite: NewDatabase) -> str:
    return sqlite(True)


@pytest.mark.scaled
@settings(
    max_examples=choose_size(8, 200),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(document=documents(), seed=st.integers(0, 1 << 30))
def test_every_kind_is_estimated_as_on_the_server(
    document: dict[str, Any], seed: int, one_sqlite: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    draw = random.Random(seed)
    try:
        slug = closed_study(one_sqlite, draw, document)
    except InputError:  # text in brackets, or a budget that cannot be divided
        return
    check_same(one_sqlite, slug, tmp_path_factory.mktemp("archive"))


@pytest.mark.scaled
def test_what_came_from_elsewhere_is_estimated_as_here(sqlite: NewDatabase, tmp_path: Path) -> None:
    """Strata that an imported archive has put together stay together, and are withheld as they are here."""
    for seed in range(choose_size(4, 30)):
        here, there = sqlite(True), sqlite(True)
        definitions = [factories.definition((0.25, gamma)) for gamma in (0.1, 0.05)]
        slug = closed_study(here, random.Random(seed), *definitions)
        packed = str(tmp_path / f"{seed}.zip")
        assert factories.run(here, "survey", "export", slug, "--zip", packed).exit_code == 0
        result = factories.run(there, "survey", "import", packed, "--json")
        assert result.exit_code == 0, result.output
        check_same(there, json.loads(result.stdout)["survey"], tmp_path / str(seed))


def test_anybody_reads_the_rows(database_url: str, tmp_path: Path) -> None:
    """By the folders' names alone, and without us."""
    survey = factories.publish(database_url, minimum=5)
    links = factories.plant(database_url, survey.slug, "North > A\nNorth > B\nC")
    for path, rows in {
        "North > A": [([0, 1], 7)],
        "North > B": [([1, 1], 2), ([0, 0], 2)],
        "C": [([1, 0], 3)],
    }.items():
        factories.store(database_url, survey, rows, links[path])
    factories.close(database_url, survey.slug)
    folder = tmp_path / "it's [an] archive*"
    (done,) = archive(database_url, folder, survey.slug)

    (tmp_path / "plain").symlink_to(folder)
    files = f"{tmp_path}/plain/survey=*/version=*/stratum=*/*.parquet"
    table = duckdb.read_parquet(files, hive_partitioning=True)
    rows = table.order("ALL").project("survey, version, stratum, q1, q2, _count").fetchall()
    assert {row[0] for row in rows} == {done["identity"]}
    # B and C are too few, and A would follow from them.
    assert [row[1:] for row in rows] == [
        (1, "w0", 0, 0, 2),
        (1, "w0", 0, 1, 7),
        (1, "w0", 1, 0, 3),
        (1, "w0", 1, 1, 2),
    ]
    assert estimate(folder)[survey.slug]["questions"] == read_report(database_url, survey.slug)["questions"]


def test_made_up_archives_say_so_and_come_near(sqlite: NewDatabase, tmp_path: Path) -> None:
    """Of a definition file, without a database; what is estimated is what was assumed."""
    file = tmp_path / "definition.json"
    file.write_text(json.dumps(every_kind.document()))
    folder = tmp_path / "archive"
    arguments = ("simulate", str(file), "--respondents", "100000", "--share", "paid=0.3", "--to", str(folder))
    result = factories.run("sqlite:////nowhere/at/all", *arguments, "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert made["simulated_respondents"] == 100_000
    again = factories.run(sqlite(True), "simulate", str(file), "--respondents", "7", "--to", str(folder))
    assert again.exit_code == 0
    found = {survey["identity"]: survey for survey in estimate(folder).values()}
    survey = found[made["identity"]]
    assert survey["simulated"]
    assert [each["n"] for each in found.values() if each is not survey] == [7]
    (paid,) = (question for question in survey["questions"] if question["name"] == "paid")
    (yes,) = (place for place, name in enumerate(paid["answers"]) if name == "yes")
    error = paid["estimate"]["standard_errors"][yes]
    # Six standard errors: wrong by chance twice in a thousand million times.
    assert abs(paid["estimate"]["shares"][yes] - 0.3) < 6 * error < 0.1
    rows = duckdb.read_parquet(f"{folder}/survey={made['identity']}/version=*/stratum=*/*.parquet")
    assert rows.aggregate("sum(_count)").fetchall() == [(100_000,)]


def test_made_up_archives_have_no_strata(tmp_path: Path) -> None:
    for option in (["--stratum", "North"], ["--dry-run"]):
        result = factories.run("", "simulate", "slug", "--to", str(tmp_path), *option)
        assert result.exit_code == 2
        assert f"{option[0]} must not be given with --to" in result.stderr
    file = tmp_path / "definition.json"
    file.write_text(json.dumps(factories.definition()))
    result = factories.run("", "simulate", str(file), "--respondents", "0", "--to", str(tmp_path / "a"))
    assert result.exit_code == 2
    assert "must be from 1 to 10000000000" in result.stderr
    assert not (tmp_path / "a").exists()
