"""A server without the large packages collects and reports; what needs one of them says which, and changes nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from server.config import OPTIONAL_PACKAGES, find_missing_package
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.every_page import Reader
from tests.support.factories import ROOT, Published, Served

WITHOUT = f"""
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {OPTIONAL_PACKAGES!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""


@pytest.fixture
def small(sqlite: NewDatabase, tmp_path: Path) -> Iterator[tuple[Served, Published]]:
    """A server that has none of them, with a survey that was answered."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 40), ([0, 0], 60)])
    with factories.serving(database_url, PYTHONPATH=f"{tmp_path}:{ROOT}") as served:
        yield served, survey


def test_it_collects_and_reports(small: tuple[Served, Published]) -> None:
    served, survey = small
    assert factories.ask(f"{served.url}/s/{survey.slug}")[0] == 200
    assert factories.ask(served.url + survey.url, survey.response())[0] == 201
    reader = Reader(served, factories.sign_in_secret(served.database_url))
    manage = f"/manage/surveys/{survey.slug}"
    for path in (
        "/results",
        "/links",
        "/releases",
        "/report.csv",
        "/responses.csv",
        "/report.xlsx",
        "/report.json",
    ):
        reader.get(manage + path)
        assert reader.status == 200, path


def test_what_needs_one_says_which(small: tuple[Served, Published]) -> None:
    served, survey = small
    reader = Reader(served, factories.sign_in_secret(served.database_url))
    manage = f"/manage/surveys/{survey.slug}"
    for path, name in (("/report.pdf", "typst"), ("/microdata.zip", "duckdb")):
        reader.get(manage + path)
        assert reader.status == 501
        assert f"Esto necesita {name}" in reader.last


def test_a_release_without_noise_is_none(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 40), ([0, 0], 60)])
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    plan = tmp_path / "plan.json"
    plan.write_text('{"format": 1, "division": "given", "items": [{"kind": "count", "epsilon": 0.5}]}')
    command = [sys.executable, "-m", "server", "release", survey.slug]
    environment = factories.environment(database_url, PYTHONPATH=f"{tmp_path}:{ROOT}")

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *more], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )

    assert run("--budget-epsilon", "1").returncode == 0
    before = factories.dump(database_url)["releases"]
    done = run("--plan", str(plan), "--yes")
    assert (done.returncode, factories.dump(database_url)["releases"]) == (2, before)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error")]
    assert line == "Error: this needs opendp, which is not installed; install what requirements.txt lists"


def test_an_archive_folder_is_not_even_begun(sqlite: NewDatabase, tmp_path: Path) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 0], 40), ([0, 0], 60)])
    factories.close(database_url, survey.slug)
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    folder = str(tmp_path / "archive")
    for arguments in (["archive", survey.slug, "--to", folder], ["estimate", "--archive", folder]):
        done = factories.moneda(database_url, *arguments, PYTHONPATH=f"{tmp_path}:{ROOT}")
        assert done.returncode == 2
        (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error")]
        assert line == "Error: this needs duckdb, which is not installed; install what requirements.txt lists"
    assert not (tmp_path / "archive").exists()


def test_another_package_that_is_missing_is_a_mistake_of_ours() -> None:
    assert find_missing_package(ModuleNotFoundError(name="opendp.mod")) == "opendp"
    assert find_missing_package(ModuleNotFoundError(name="flask")) is None
    assert find_missing_package(ValueError()) is None


def test_the_small_list_is_the_large_one_without_them() -> None:
    def names(path: Path) -> set[str]:
        lines = path.read_text("utf-8").splitlines()
        return {line.partition(" ;")[0].rstrip(" \\") for line in lines if line[:1].isalpha()}

    all_of_it, small = (
        names(ROOT / each) for each in ("requirements.txt", "docs/deploy/requirements-collecting.txt")
    )
    assert small < all_of_it
    brought = {"anyio", "certifi", "cryptography", "h11", "httpcore", "idna", "py-minisign"}
    brought |= {"deprecated", "wrapt"}  # by OpenDP
    imported = {name.partition("==")[0] for name in all_of_it - small} - brought
    assert imported == set(OPTIONAL_PACKAGES) - {"minisign"}, "the last is how py-minisign is imported"
