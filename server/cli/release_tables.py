"""`python -m server release --data`: central releases from a table that is not a survey, storing nothing."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from server import releases
from server.cli.common import print_document
from server.cli.released import (
    agreed,
    costs_json,
    decoded,
    print_costs,
    print_figures,
    print_nothing,
    working,
)
from server.inputs.columns import DECLARING, Columns, parse_columns
from server.inputs.releases import Plan, parse_plan, plain
from server.releases import Released
from server.releases.files import Coded, read_table
from server.releases.spending import losses
from server.releases.tables import check_for_table, release_table, table_source
from server.reports.ledgers import entry_json


def release_from_table(
    data: IO[bytes], plan: IO[bytes] | None, yes: bool, output: Path | None, as_json: bool
) -> None:
    """Look at a plan, and make what it asks for."""
    if plan is None:
        raise click.UsageError("--data needs --plan; it is missing")
    columns, asked = _declared(decoded(plan))
    source = table_source(_read(data, columns))
    divided = releases.divide(asked, source.shape)
    costs = releases.expected(divided, source.shape)
    quiet = as_json or output is not None
    document: dict[str, Any] = {
        "neighbours": columns.neighbours,
        "rows": source.shape.respondents,
        "plan": costs_json(costs),
    }
    if not quiet:
        print_costs(costs)
    if not agreed(yes, quiet):
        print_nothing(document, as_json)
        return
    # The file is opened first: what cannot be written down would have been lost for nothing.
    with _opened(output) as file, working("Releasing"):
        made = release_table(divided, source)
        epsilon, delta = losses(columns.neighbours, made)
        document |= {"epsilon": float(epsilon), "delta": float(delta), "released": _table_json(made)}
        if file is not None:
            file.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
    if as_json:
        print_document(document, as_json)
    elif output is None:
        print_figures(made)
        click.echo(f"Lost together: epsilon {plain(epsilon)}, delta {plain(delta)}. Nothing was stored.")


def _declared(document: Any) -> tuple[Columns, Plan]:
    """What a plan says of its table, and what it asks for."""
    if not isinstance(document, dict):
        parse_plan(document)  # says that it is no plan
    columns = parse_columns({name: value for name, value in document.items() if name in DECLARING})
    plan = parse_plan({name: value for name, value in document.items() if name not in DECLARING})
    check_for_table(plan)
    return columns, plan


def _read(file: IO[bytes], columns: Columns) -> Coded:
    size = _size(file)
    with click.progressbar(length=size or 1, label="Reading", file=sys.stderr) as bar:
        return read_table(file, columns, lambda done: bar.update(min(done, size) - bar.pos))


def _size(file: IO[bytes]) -> int:
    """Bytes of a file; 0 of what comes through a pipe."""
    try:
        return Path(file.name).stat().st_size
    except OSError:
        return 0


def _table_json(made: tuple[Released, ...]) -> list[dict[str, Any]]:
    """As entries of a ledger, but for what only a survey has."""
    surveys_own = ("entry", "release", "covers")
    return [
        {name: value for name, value in entry_json(entry, names=False).items() if name not in surveys_own}
        for entry in made
    ]


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[str] | None]:
    """A new file; if writing it fails, there is none."""
    if path is None:
        yield None
        return
    try:
        with path.open("x", encoding="utf-8") as file:
            try:
                yield file
            except BaseException:
                path.unlink()
                raise
    except OSError as error:
        raise click.UsageError(
            f"--output must be a new file that can be written; {str(path)!r} is not: {error.strerror}"
        ) from error
