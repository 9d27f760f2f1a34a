"""What counts archive folders is chosen by name; Spark is asked for with its master, and told when it is missing.

That Spark counts is tested in `tests/spark`, which needs Java.
"""

import sys

import pytest

from tests.support import factories


def refuse(*arguments: str) -> str:
    """What the command line says of a wish that it refuses."""
    result = factories.run("", "estimate", "--archive", "/proc/nowhere", *arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output
    return " ".join(result.stderr.partition("Error: ")[2].split())


@pytest.mark.parametrize(
    ("arguments", "engine"), [(["--engine", "spark"], "spark"), (["--master", "local[2]"], "duckdb")]
)
def test_spark_and_its_master_go_together(arguments: list[str], engine: str) -> None:
    said = refuse(*arguments)
    assert said == f"--master must be given with --engine spark, and with it alone; the engine is {engine}"


@pytest.mark.parametrize(
    "master", ["", "yarn", "local[0]", "local[x]", "spark://", "spark://host", "http://h:1", "spark://h:1,"]
)
def test_a_master_that_is_none_is_named(master: str) -> None:
    said = refuse("--engine", "spark", "--master", master)
    assert said == f"--master must be local, local[N], local[*] or spark://HOST:PORT; it is {master!r}"


def test_pyspark_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    said = refuse("--engine", "spark", "--master", "local[2]")
    assert said == "this needs pyspark, which is not installed; install what requirements-spark.txt lists"
