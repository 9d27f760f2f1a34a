"""`python -m server release --data`: central releases from a table that is not a survey."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import click

from server import releases
from server.cli.common import check_file_name, print_document
from server.cli.release_output import (
    announce_work,
    ask_agreement,
    costs_json,
    decode_plan,
    print_costs,
    print_figures,
    print_nothing,
)
from server.releases import Released
from server.releases.disjoint_items import charge_items
from server.releases.plans.plan_reader import ReleasePlan, format_decimal, parse_plan
from server.releases.spending import sum_losses
from server.releases.survey_shapes import Source
from server.releases.table_columns import DECLARING, Columns, parse_columns
from server.releases.table_files import Coded, read_table
from server.releases.table_ledgers import TableLedger, read_ledger, write_ledger
from server.releases.table_releases import check_for_table, release_table, table_source
from server.reports.contents.table_release_document import NO_SURVEY
from server.reports.ledger_files import entry_json
from server.reports.table_release_files import TableRun
from server.store.private_files import lock_beside

NOBODY_ADDS_UP = (
    "Nothing adds up the runs: what this release loses is added to all others from the same people by "
    "nobody. With --ledger FILE a budget is kept."
)


@dataclass(frozen=True)
class BudgetPlace:
    """Where the budget of a table is kept, if anywhere, and what is said of it on the command line."""

    path: Path | None
    epsilon: str | None
    delta: str | None

    def read(self, columns: Columns) -> TableLedger | None:
        """What the ledger says by now."""
        if self.path is None:
            return None
        person = None if columns.person is None else columns.person.column
        return read_ledger(self.path, columns.neighbours, self.epsilon, self.delta, person)


@dataclass(frozen=True)
class TableFiles:
    """Where what is released is written, and in which language a document is."""

    paths: tuple[Path, ...]
    language: str


def release_from_table(
    data: IO[bytes], plan: IO[bytes] | None, yes: bool, files: TableFiles, as_json: bool, kept: BudgetPlace
) -> None:
    """Look at a plan, and make what it asks for."""
    if plan is None:
        raise click.UsageError("--data needs --plan; it is missing")
    quiet = as_json or bool(files.paths)
    columns, asked = _read_declaration(decode_plan(plan))
    before = kept.read(columns)
    source = table_source(_read(data, columns))
    divided = releases.divide(asked, source.shape)
    costs = releases.expect_results(divided, source.shape)
    epsilon, delta = sum_losses(columns.neighbours, charge_items(divided.items, source.shape))
    document: dict[str, Any] = {
        **({"warning": NOBODY_ADDS_UP} if before is None else {"left": float(before.left)}),
        "neighbours": columns.neighbours,
        "rows": source.shape.respondents,
        "plan": costs_json(costs),
        "epsilon": float(epsilon),
        "delta": float(delta),
    }
    if before is None:
        click.echo(NOBODY_ADDS_UP, err=quiet)
    if not quiet:
        print_costs(costs)
        click.echo(f"Costs together: epsilon {format_decimal(epsilon)}, delta {format_decimal(delta)}.")
        if before is not None:
            click.echo(f"Left of the budget: epsilon {format_decimal(before.left)}.")
    if not ask_agreement(yes, quiet):
        print_nothing(document, as_json)
        return
    # The files are opened first: what cannot be written down would have been lost for nothing.
    with ExitStack() as stack:
        targets = [(path, stack.enter_context(_open_new_file(path))) for path in files.paths]
        stack.enter_context(announce_work("Releasing"))
        made, after = _make(divided, source, kept, columns)
        if after is not None:
            document["left"] = float(after.left)
        document["released"] = _table_json(made)
        with _print_unwritten(document):
            run = TableRun(made, (epsilon, delta), document)
            for path, target in targets:
                target.write(run.write(path.suffix, files.language))
                target.flush()
    if as_json:
        print_document(document, as_json)
    elif not files.paths:
        print_figures(made, NO_SURVEY)
        lost = f"Lost together: epsilon {format_decimal(epsilon)}, delta {format_decimal(delta)}."
        left = (
            "Nothing was stored."
            if after is None
            else f"Left of the budget: epsilon {format_decimal(after.left)}."
        )
        click.echo(f"{lost} {left}")


def _make(
    plan: ReleasePlan, source: Source, kept: BudgetPlace, columns: Columns
) -> tuple[tuple[Released, ...], TableLedger | None]:
    """Draw what a plan asks for, paid for and on the disk before anybody sees a number of it; what is booked then."""
    if kept.path is None:
        return release_table(plan, source), None
    try:
        with lock_beside(kept.path):
            before = kept.read(columns)
            assert before is not None
            made = release_table(plan, source)
            after = before.with_run(made)
            write_ledger(kept.path, after)
    except OSError as error:
        raise click.UsageError(
            f"--ledger must be a file that can be written; {str(kept.path)!r} is not: {error.strerror}"
        ) from error
    return made, after


def _read_declaration(document: Any) -> tuple[Columns, ReleasePlan]:
    """What a plan says of its table, and what it asks for."""
    if not isinstance(document, dict):
        parse_plan(document)  # says that it is no plan
    columns = parse_columns({name: value for name, value in document.items() if name in DECLARING})
    plan = parse_plan({name: value for name, value in document.items() if name not in DECLARING})
    check_for_table(plan, columns)
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
def _print_unwritten(document: Mapping[str, Any]) -> Iterator[None]:
    """Print, as JSON, what was paid for and cannot be written into files, as where a disk is full."""
    try:
        yield
    except BaseException:
        click.echo("The files cannot be written. What was released follows as JSON, once.", err=True)
        print_document(document, as_json=True)
        raise


@contextmanager
def _open_new_file(path: Path) -> Iterator[IO[bytes]]:
    """A new file; if writing it fails, there is none."""
    check_file_name(path, "--output")
    try:
        with path.open("xb") as file:
            try:
                yield file
            except BaseException:
                path.unlink()
                raise
    except OSError as error:
        raise click.UsageError(
            f"--output must be a new file that can be written; {str(path)!r} is not: {error.strerror}"
        ) from error
