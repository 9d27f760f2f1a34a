"""What archive folders can be counted with."""

from collections.abc import Iterator
from contextlib import contextmanager

from server.archives.folders.duckdb_tallies import open_duckdb
from server.archives.folders.tallying import TallyEngine

ENGINES = ("duckdb",)


@contextmanager
def open_engine(name: str) -> Iterator[TallyEngine]:
    """An engine by its name."""
    if name == "duckdb":
        with open_duckdb() as engine:
            yield engine
        return
    raise ValueError(f"the engine must be one of {', '.join(ENGINES)}; it is {name!r}")
