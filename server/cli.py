"""`python -m server`: everything the pages do, and what only an operator does.

Every command prints a table, or JSON with `--json`. Bad input ends with exit status 2 and
a message that names what was wrong.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from sqlalchemy.orm import Session

from server import __version__, accounts, demonstration, reports, responses, serving, simulation, surveys
from server.config import DATA, Config, from_environment
from server.db import make_engine, migrate, open_session
from server.definitions import Definition
from server.inputs import DEFINITION_LIMIT, parse_definition, parse_json
from server.models import Survey
from server.privacy.designs import coin_flip, round_up
from server.privacy.estimators import INTERVALS, estimate_shares

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
SLUG = click.argument("slug")


class _Commands(click.Group):
    """Turns what the layers below refuse into a usage error: a message, exit status 2, no traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except ValueError as error:
            raise click.UsageError(str(error)) from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="Moneda")
def main() -> None:
    """Moneda: surveys whose answers are randomised in the respondent's own browser."""


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@click.option("--sign-in-link", is_flag=True, help="Print a one-time sign-in link for the first researcher.")
def serve(host: str, port: int, sign_in_link: bool) -> None:
    """Migrate the database and serve Moneda until Ctrl-C."""
    config = from_environment()
    address = serving.address(config, host, port)
    lines = [f"Moneda {__version__} is on {address}"]
    with _session(config) as session:
        if sign_in_link:
            lines.append(f"Sign in (once, within 24 hours): {_sign_in_link(session, address)}")
    serving.serve(host, port, lines)


@main.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
def demo(host: str, port: int) -> None:
    """Serve a demonstration survey answered by 2,000 simulated respondents, on a database of its own."""
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{DATA / 'demo.sqlite3'}")
    config = from_environment()
    address = serving.address(config, host, port)
    with _session(config) as session:
        survey = demonstration.find(session)
        if survey is None:
            survey = demonstration.create(session, accounts.first_researcher(session))
            _simulate(session, survey, demonstration.RESPONDENTS, demonstration.SHARES)
        lines = [
            f"Moneda {__version__} (demonstration, simulated respondents) is on {address}",
            f"Answer the survey: {address}/s/{survey.slug}",
            f"See its results, sign in (once, within 24 hours): {_sign_in_link(session, address)}",
        ]
    serving.serve(host, port, lines)


@main.group()
def survey() -> None:
    """Import, export, publish and close surveys."""


@survey.command("import")
@click.argument("file", type=click.File("rb"))
@JSON
def import_(file: Any, as_json: bool) -> None:
    """Make a draft from a survey definition (JSON; - for standard input)."""
    definition = parse_definition(parse_json(file.read(DEFINITION_LIMIT + 1), DEFINITION_LIMIT))
    with _session() as session:
        made = surveys.create(session, accounts.first_researcher(session), definition)
        _print(_survey_json(made, definition), as_json)


@survey.command()
@SLUG
def export(slug: str) -> None:
    """Print a survey's definition as JSON."""
    with _session() as session:
        click.echo(json.dumps(surveys.draft(_found(session, slug)).as_json(), ensure_ascii=False, indent=2))


@survey.command()
@SLUG
@JSON
def publish(slug: str, as_json: bool) -> None:
    """Freeze the draft as the next version and open the survey."""
    with _session() as session:
        found = _found(session, slug)
        surveys.publish(session, found)
        _print(_survey_json(found, surveys.draft(found)), as_json)


@survey.command()
@SLUG
@JSON
def close(slug: str, as_json: bool) -> None:
    """Stop taking responses."""
    with _session() as session:
        found = _found(session, slug)
        surveys.close(found)
        _print(_survey_json(found, surveys.draft(found)), as_json)


@main.command()
@SLUG
@click.option("--respondents", default=500, show_default=True, help="How many.")
@click.option("--share", "shares", multiple=True, metavar="NAME=SHARE", help="True share of yes; repeatable.")
@JSON
def simulate(slug: str, respondents: int, shares: tuple[str, ...], as_json: bool) -> None:
    """Answer an open survey as made-up people; it is marked as simulated for good."""
    with _session() as session:
        found = _found(session, slug)
        _simulate(session, found, respondents, dict(map(_share, shares)))
        _print({"survey": slug, "simulated_respondents": respondents}, as_json)


@main.command()
@click.option("--gamma", type=float, required=True, help="Of the coin flip, in (0, 1/2).")
@click.option("--counts", required=True, metavar="NO,YES", help="Reports received.")
@click.option("--confidence", default=0.95, show_default=True)
@click.option("--interval", type=click.Choice(INTERVALS), default=INTERVALS[0], show_default=True)
@JSON
def estimate(gamma: float, counts: str, confidence: float, interval: str, as_json: bool) -> None:
    """Estimate true shares from counts of reports, without a database."""
    try:
        numbers = [int(count) for count in counts.split(",")]
    except ValueError:
        raise click.BadParameter(f"must be two whole numbers, NO,YES; it is {counts!r}") from None
    design = coin_flip(gamma)
    result = reports.estimate_json(estimate_shares(numbers, design, confidence, interval))
    if as_json:
        _print({**result, "epsilon": design.epsilon}, as_json)
        return
    _table(
        ["answer", "reported", "estimate", "standard error", f"{confidence:.0%} interval ({interval})"],
        [
            [answer, str(numbers[index]), *_estimate_row(result, index)]
            for index, answer in enumerate(("no", "yes"))
        ],
    )
    click.echo(f"n = {result['n']}, epsilon = {round_up(design.epsilon)}. {design.odds_label()}")
    if result["impossible"]:
        click.echo("Impossible share: no true shares give such reports in expectation.")


WRITERS = ("html", "csv", "json", "responses", "codebook")


@main.command()
@SLUG
@click.option(
    "--format", "kind", type=click.Choice(WRITERS), help="What to write; without it, a table is printed."
)
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="File; standard output without it."
)
@click.option(
    "--language", type=click.Choice(["en", "es"]), default="en", show_default=True, help="Of the HTML."
)
@click.option("--version", "number", type=int, help="Published version; the newest without it.")
@JSON
def report(
    slug: str, kind: str | None, output: Path | None, language: str, number: int | None, as_json: bool
) -> None:
    """Report on a survey's responses."""
    with _session() as session:
        found = _found(session, slug)
        version = surveys.published_version(found, number)
        tally = responses.tally(session, version)
        made = reports.build(found, version, tally)
    if as_json:
        kind = "json"
    if kind is None:
        _report_table(made)
        return
    writers: dict[str, Callable[[], str]] = {
        "html": lambda: reports.to_html(made, language),
        "csv": lambda: reports.to_csv(made),
        "json": lambda: reports.to_json(made),
        "responses": lambda: reports.responses_csv(made, tally),
        "codebook": lambda: reports.codebook_csv(made),
    }
    text = writers[kind]()
    if output is None:
        click.echo(text, nl=False)
    else:
        output.write_text(text, "utf-8", newline="")


@contextmanager
def _session(config: Config | None = None) -> Iterator[Session]:
    """A session on the migrated database; committed unless an error leaves it."""
    engine = make_engine((config or from_environment()).database_url)
    try:
        migrate(engine)
        with open_session(engine, writes=True) as session, session.begin():
            yield session
    finally:
        engine.dispose()


def _sign_in_link(session: Session, address: str) -> str:
    secret = accounts.new_sign_in_link(session, accounts.first_researcher(session))
    return f"{address}/manage/sign-in/{secret}"


def _found(session: Session, slug: str) -> Survey:
    found = surveys.find(session, slug)
    if found is None:
        raise click.UsageError(f"survey {slug!r} is not known")
    return found


def _simulate(session: Session, survey: Survey, respondents: int, shares: Mapping[str, float]) -> None:
    people = simulation.simulate(session, survey, respondents, shares)
    with click.progressbar(
        people, length=respondents, label="Simulating respondents", file=sys.stderr
    ) as bar:
        for _ in bar:
            pass


def _share(text: str) -> tuple[str, float]:
    name, _, share = text.partition("=")
    try:
        return name, float(share)
    except ValueError:
        raise click.UsageError(f"share must be NAME=NUMBER; it is {text!r}") from None


def _survey_json(survey: Survey, definition: Definition) -> dict[str, Any]:
    current = survey.current
    return {
        "survey": survey.slug,
        "title": definition.title,
        "state": str(survey.state),
        "version": None if current is None else current.number,
        "sha256": None if current is None else current.sha256,
        "path": f"/s/{survey.slug}",
    }


def _report_table(made: reports.Report) -> None:
    _table(
        ["question", "n", "reported yes", "estimate", "standard error", "95% interval", ""],
        [
            [entry.question.name, str(made.n), str(entry.counts[1])]
            + (
                ["-", "-", "-", ""]
                if entry.estimate is None
                else [
                    *_estimate_row(reports.estimate_json(entry.estimate), 1),
                    "impossible share" if entry.estimate.impossible else "",
                ]
            )
            for entry in made.questions
        ],
    )
    if made.simulated:
        click.echo("These respondents are simulated.")


def _estimate_row(result: Mapping[str, Any], index: int) -> list[str]:
    error = result["standard_errors"][index]
    low, high = result["intervals"][index]
    return [
        f"{result['shares'][index]:.4f}",
        "-" if error is None else f"{error:.4f}",
        f"{low:.4f} to {high:.4f}",
    ]


def _print(document: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(document, ensure_ascii=False))
    else:
        _table(["", ""], [[name, "-" if value is None else str(value)] for name, value in document.items()])


def _table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[column]) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, *rows] if any(header) else rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
