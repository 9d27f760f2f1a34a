"""Import, export, publish, close and simulate surveys."""

import json
from typing import Any

import click

from server import accounts, surveys
from server.cli.common import (
    JSON,
    SLUG,
    database_session,
    found_survey,
    print_document,
    run_simulation,
)
from server.definitions import Definition
from server.inputs import DEFINITION_LIMIT, parse_definition, parse_json
from server.models import Survey


@click.group()
def survey() -> None:
    """Import, export, publish and close surveys."""


@survey.command("import")
@click.argument("file", type=click.File("rb"))
@JSON
def import_(file: Any, as_json: bool) -> None:
    """Make a draft from a survey definition (JSON; - for standard input)."""
    definition = parse_definition(parse_json(file.read(DEFINITION_LIMIT + 1), DEFINITION_LIMIT))
    with database_session() as session:
        made = surveys.create(session, accounts.first_researcher(session), definition)
        print_document(_survey_json(made, definition), as_json)


@survey.command()
@SLUG
def export(slug: str) -> None:
    """Print a survey's definition as JSON."""
    with database_session() as session:
        click.echo(
            json.dumps(surveys.draft(found_survey(session, slug)).as_json(), ensure_ascii=False, indent=2)
        )


@survey.command()
@SLUG
@JSON
def publish(slug: str, as_json: bool) -> None:
    """Freeze the draft as the next version and open the survey."""
    with database_session() as session:
        found = found_survey(session, slug)
        surveys.publish(session, found)
        print_document(_survey_json(found, surveys.draft(found)), as_json)


@survey.command()
@SLUG
@JSON
def close(slug: str, as_json: bool) -> None:
    """Stop taking responses."""
    with database_session() as session:
        found = found_survey(session, slug)
        surveys.close(found)
        print_document(_survey_json(found, surveys.draft(found)), as_json)


@click.command()
@SLUG
@click.option("--respondents", default=500, show_default=True, help="How many.")
@click.option("--share", "shares", multiple=True, metavar="NAME=SHARE", help="True share of yes; repeatable.")
@JSON
def simulate(slug: str, respondents: int, shares: tuple[str, ...], as_json: bool) -> None:
    """Answer an open survey as made-up people; it is marked as simulated for good."""
    with database_session() as session:
        found = found_survey(session, slug)
        run_simulation(session, found, respondents, dict(map(_share, shares)))
        print_document({"survey": slug, "simulated_respondents": respondents}, as_json)


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
