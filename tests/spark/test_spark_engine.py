"""Archive folders counted by a real Spark, here and on a small cluster: what DuckDB counts, byte for byte."""

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import ROOT, Published
from tests.support.spark_clusters import Cluster, run_moneda, running_master, spark_environment

pytestmark = pytest.mark.spark


def fill(database_url: str, survey: Published, link: str, responses: int, draw: random.Random) -> None:
    """Made-up reports by a link, of which some come more than once."""
    possible = [design.weights.shape[1] for design in parse_definition(survey.definition).designs]
    rows = [([draw.randrange(most) for most in possible], draw.randint(1, 3)) for _ in range(responses)]
    factories.store(database_url, survey, rows, link)


def archive(database_url: str, slug: str, folder: Path) -> None:
    """Close a survey and put it into an archive folder."""
    factories.close(database_url, slug)
    done = factories.run(database_url, "archive", slug, "--to", str(folder))
    assert done.exit_code == 0, done.output


@pytest.fixture(scope="module")
def folders(sqlite: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two archive folders: every kind of question; and versions, strata, and names that look like patterns."""
    draw = random.Random(14)
    one, other = sqlite(True), sqlite(True)
    below = tmp_path_factory.mktemp("archives")
    # The columns of every kind are counted in several groups, and none of them as it happens to be called.
    every = factories.publish(one, every_kind.document(), minimum=5)
    fill(one, every, "", 300, draw)
    archive(one, every.slug, below / "of one")
    asked = [factories.question(name, f"Of {name}?") for name in ("survey", "stratum")]
    parted = factories.publish(other, factories.definition(questions=asked), minimum=5)
    links = factories.plant(other, parted.slug, "North > A; 100\nNorth > B; 200\nC; 50")
    for path, responses in {"North > A": 30, "North > B": 2, "C": 20}.items():
        fill(other, parted, links[path], responses, draw)
    later = factories.definition(questions=[*asked, factories.question("new", "More?")])
    fill(other, factories.publish(other, later, parted.slug), links["C"], 15, draw)
    odd = below / "it's [an] archive*, {100%}: ñ \N{PILE OF POO}"
    archive(other, parted.slug, odd)
    return below / "of one", odd


def arguments(folders: tuple[Path, ...], *engine: str) -> list[str]:
    """What is asked of all folders."""
    named = [part for folder in folders for part in ("--archive", str(folder))]
    return ["estimate", *named, "--json", *engine]


def count_with_duckdb(*folders: Path) -> str:
    """What DuckDB's estimates print."""
    done = factories.run("", *arguments(folders))
    assert done.exit_code == 0, done.output
    assert [survey["n"] > 0 for survey in json.loads(done.stdout)["surveys"]] == [True] * len(folders)
    return done.stdout


def refuse(done: subprocess.CompletedProcess[str]) -> str:
    """What a refusal says, in one line and without a traceback."""
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    lines = done.stderr.splitlines()
    assert [line for line in lines if line.startswith("Error: ")] == lines[-1:], done.stderr
    assert "Traceback" not in done.stderr
    return lines[-1]


def list_left(folder: Path) -> list[str]:
    """What stands in a folder that a run had to itself."""
    return sorted(path.name for path in folder.iterdir() if path.name != "conf")


def test_one_machine_counts_what_duckdb_counts(folders: tuple[Path, Path], tmp_path: Path) -> None:
    done = run_moneda(tmp_path, *arguments(folders, "--engine", "spark", "--master", "local[2]"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == count_with_duckdb(*folders)
    assert list_left(tmp_path) == []  # TMPDIR is here, too


def test_a_cluster_counts_what_duckdb_counts(folders: tuple[Path, Path], tmp_path: Path) -> None:
    driver = tmp_path / "driver"
    driver.mkdir()
    (tmp_path / "cluster").mkdir()
    with running_master(tmp_path / "cluster") as cluster:
        check_no_worker(driver, cluster)
        workers = [cluster.add_worker() for _ in range(2)]
        spark = ["--engine", "spark", "--master", cluster.url]
        done = run_moneda(driver, *arguments(folders, *spark))
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == count_with_duckdb(*folders)
        for worker in workers:
            assert len(list(worker.glob("app-*/*"))) == 1, "each worker has run something"

        # The folder of each process itself: what is named so is another place on a worker.
        (driver / "archive").symlink_to(folders[0])
        said = refuse(run_moneda(driver, *arguments((Path("/proc/self/cwd/archive"),), *spark)))
        assert "every Spark worker must see the archive folder under the same path as this machine" in said
        assert "/proc/self/cwd/archive/survey=" in said
        (driver / "archive").unlink()
        assert list_left(driver) == []
    said = refuse(run_moneda(driver, *arguments(folders, *spark)))
    assert f"the Spark master {cluster.url} does not answer" in said


def check_no_worker(folder: Path, cluster: Cluster) -> None:
    """A master that has no worker is not waited for forever."""
    program = (
        "from server.archives.folders.spark_tallies import open_spark\n"
        f"with open_spark({cluster.url!r}, patience=1): pass"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env={
            **spark_environment(folder),
            "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.stderr.splitlines()[-1].endswith("cannot reach this machine as 127.0.0.1"), done.stderr
    assert "SparkEngineError: " + cluster.url + " gave no worker within 1 seconds" in done.stderr


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (None, "cannot be run"),
        ("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n", "is Java 11"),
        ("#!/bin/sh\necho 'java version \"1.8.0_292\"' >&2\n", "is Java 8"),
        ("#!/bin/sh\nexit 1\n", "does not say which it is"),
    ],
)
def test_java_that_does_not_do_is_named(
    program: str | None, said: str, folders: tuple[Path, Path], tmp_path: Path
) -> None:
    java = tmp_path / "java home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    if program is not None:
        java.write_text(program)
        java.chmod(0o755)
    home = str(java.parent.parent)
    spark = ["--engine", "spark", "--master", "local[2]"]
    found = refuse(run_moneda(tmp_path, *arguments(folders, *spark), JAVA_HOME=home))
    assert "Spark needs Java 17 or newer" in found
    assert str(java) in found
    assert said in found


def test_no_java_at_all_is_said(folders: tuple[Path, Path], tmp_path: Path) -> None:
    spark = ["--engine", "spark", "--master", "local[2]"]
    found = refuse(run_moneda(tmp_path, *arguments(folders, *spark), JAVA_HOME="", PATH=str(tmp_path)))
    assert found.endswith("there is none: no JAVA_HOME is set, and no java is on the PATH")


def test_a_master_that_does_not_answer_is_said(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with socket.socket() as bound:  # and not listening
        bound.bind(("127.0.0.1", 0))
        master = f"spark://127.0.0.1:{bound.getsockname()[1]}"
        found = refuse(run_moneda(tmp_path, *arguments(folders, "--engine", "spark", "--master", master)))
    assert f"the Spark master {master} does not answer" in found
