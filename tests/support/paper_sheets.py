"""Sheets of paper that are keyed in."""

from collections.abc import Sequence
from pathlib import Path

from click.testing import Result

from tests.support import factories


def key_in(
    database_url: str, slug: str, file: Path, rows: Sequence[str], *options: str, version: int = 1
) -> Result:
    """Key in sheets, a letter for each of the questions q1, q2, ..., by the command line."""
    names = ",".join(f"q{place}" for place in range(1, 1 + max(map(len, rows), default=1)))
    file.write_text("\n".join([names, *(",".join(row) for row in rows)]) + "\n", "utf-8")
    return factories.run(
        database_url, "survey", "enter", slug, str(file), "--version", str(version), *options
    )
