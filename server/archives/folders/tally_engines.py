"""What archive folders can be counted with."""

from collections.abc import Iterator
from contextlib import contextmanager

from server.archives.folders.duckdb_tallies import open_duckdb
from server.archives.folders.spark_tallies import open_spark
from server.archives.folders.tallying import TallyEngine

ENGINES = ("duckdb", "spark")


@contextmanager
def open_engine(name: str, master: str | None = None) -> Iterator[TallyEngine]:
    """An engine by its name; `master` says where Spark runs (`open_spark`), and is for it alone."""
    if (name == "spark") != (master is not None):
        raise ValueError(
            f"--master must be given with --engine spark, and with it alone; the engine is {name}"
        )
    if name == "duckdb":
        with open_duckdb() as engine:
            yield engine
        return
    if name == "spark":
        with open_spark(str(master)) as engine:
            yield engine
        return
    raise ValueError(f"the engine must be one of {', '.join(ENGINES)}; it is {name!r}")
