"""Import, export, publish, close and simulate surveys."""

import json
from pathlib import Path
from typing import Any

import click

from server import archives, people, reports
from server.cli.common import (
    JSON,
    SLUG,
    database_session,
    print_document,
    require_survey,
    survey_json,
    survey_to_change,
)
from server.cli.completions_command import completions
from server.cli.form_command import form
from server.cli.keeping_commands import archive, delete, duplicate, read_archive, unarchive, write_archive
from server.cli.paper_commands import enter, paper
from server.cli.plan_command import read_definition
from server.cli.plan_output import warn_of_shortfall
from server.cli.result_output import print_report
from server.cli.search_commands import search
from server.cli.settings_command import settings
from server.cli.simulate_command import run_archive_simulation, run_simulation
from server.cli.study_command import study, study_file
from server.cli.tidy_command import tidy_after
from server.collect import acceptance
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES, RESPONDENT_LANGUAGES
from server.people import change_log
from server.people.change_log import Action
from server.simulation import Assumptions, rehearse, setting_of
from server.store.engines import TakingTurns
from server.study import planning, surveys
from server.study.definitions.definition_reader import DEFINITION_LIMIT
from server.study.survey_files import parse_file


@click.group()
def survey() -> None:
    """Import, export, publish, close and keep surveys."""


COMMANDS = (
    *(duplicate, archive, unarchive, delete, settings, completions, study, study_file, form, search),
    *(paper, enter),
)
for command in COMMANDS:
    survey.add_command(command)


@survey.command("import")
@click.argument("file", type=click.File("rb"))
@click.option(
    "--language",
    type=click.Choice(list(RESPONDENT_LANGUAGES)),
    help="Labels of an XLSForm that are the survey's own texts.",
)
@JSON
def import_(file: Any, language: str | None, as_json: bool) -> None:
    """Make a draft from a survey definition (JSON) or an XLSForm (.xlsx); - for standard input.

    An archive (.zip) is imported with everything in it. What is not taken from an XLSForm goes to
    standard error, or into the JSON.
    """
    name, beginning = getattr(file, "name", ""), file.read(DEFINITION_LIMIT + 1)
    if archives.looks_like_archive(name, beginning):
        read_archive(beginning, file, as_json)
        return
    imported = parse_file(name, beginning, language or "")
    with database_session() as session:
        made = surveys.create(session, people.first_researcher(session), imported.definition)
        change_log.record(session, None, Action.SURVEY_CREATED, made)
        document = survey_json(made)
        if as_json:
            document["not_taken"] = [note.as_json() for note in imported.not_taken]
        print_document(document, as_json)
    if not as_json:
        for note in imported.not_taken:
            click.echo(f"not taken: {note.as_problem().field}: {note.value}: {note.message}", err=True)


@survey.command()
@SLUG
@click.option(
    "--zip",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write everything of it into this new file instead: responses, strata, invitations, log.",
)
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help="Of the texts for readers in the file.",
)
@click.option("--move-to", metavar="SERVER", help="With --zip: the survey moves there with its whole budget.")
@click.option("--share-to", metavar="SERVER", help="With --zip: give the copy there a part of what is left.")
@click.option("--epsilon", help="The part, for --share-to.")
@click.option("--delta", help="Its failure probability, for --share-to; 0 without it.")
@click.option("--again", metavar="TOKEN", help="With --zip: with a right that was given before.")
def export(slug: str, path: Path | None, language: str, **right: str | None) -> None:
    """Print a survey's definition as JSON.

    A copy that --zip makes may release nothing, unless it is given a right: all copies share one budget.
    """
    given = [name for name, value in right.items() if value is not None]
    if path is not None:
        write_archive(slug, path, language, right)
        return
    if given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} needs --zip")
    with database_session() as session:
        click.echo(
            json.dumps(surveys.draft(require_survey(session, slug)).as_json(), ensure_ascii=False, indent=2)
        )


@survey.command()
@SLUG
@click.option("--despite-plan", is_flag=True, help="Even if the planned respondents are too few.")
@click.option("--keep-brackets", is_flag=True, help="Even if text in [square brackets] is left.")
@JSON
def publish(slug: str, despite_plan: bool, keep_brackets: bool, as_json: bool) -> None:
    """Freeze the draft as the next version and open the survey."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        version = surveys.publish(session, found, keep_brackets=keep_brackets)
        change_log.record(session, None, Action.PUBLISHED, found, version=version.number)
        made = planning.plan(surveys.draft(found))
        for shortfall in made.shortfalls:
            click.echo(warn_of_shortfall(shortfall, made.respondents or 0), err=True)
        if made.shortfalls and not despite_plan:
            # Leaving the session by an error takes the version back.
            raise click.UsageError("the plan cannot be kept; change it, or publish with --despite-plan")
        print_document(survey_json(found), as_json)


@survey.command()
@SLUG
@JSON
def close(slug: str, as_json: bool) -> None:
    """Stop taking responses."""
    with database_session() as session:
        found = survey_to_change(session, slug)
        if acceptance.close_survey(found):
            change_log.record(session, None, Action.CLOSED, found)
        print_document(survey_json(found), as_json)
    tidy_after("The survey is closed")


@click.command()
@SLUG
@click.option("--respondents", default=500, show_default=True, help="How many.")
@click.option(
    "--share",
    "shares",
    multiple=True,
    metavar="NAME[.ANSWER]=SHARE",
    help="True share of yes, or of an answer or a box; repeatable.",
)
@click.option(
    "--mean", "means", multiple=True, metavar="NAME=MEAN", help="True mean of a number; repeatable."
)
@click.option(
    "--stratum",
    default="",
    metavar="PATH",
    help='Only by the links of this stratum, as "Spain > Madrid"; without it, by those of all.',
)
@click.option(
    "--dry-run", is_flag=True, help="Print the report that the draft would give; nothing is stored."
)
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write them into this archive folder instead; SLUG may be a definition file, and strata are left out.",
)
@JSON
def simulate(
    slug: str,
    respondents: int,
    shares: tuple[str, ...],
    means: tuple[str, ...],
    stratum: str,
    dry_run: bool,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Answer an open survey as made-up people; it is marked as simulated for good.

    They come by the links of its strata, in proportion to populations where each smallest stratum has one,
    otherwise evenly; where codes are asked for, with some that are made for them. They are stored in
    groups, so that respondents of other surveys need not wait: stopped half-way, those before stay.
    """
    assumptions = Assumptions(
        dict(_named_number("share", text) for text in shares),
        dict(_named_number("mean", text) for text in means),
    )
    if folder is not None:
        if stratum or dry_run:
            raise click.UsageError(f"{'--stratum' if stratum else '--dry-run'} must not be given with --to")
        identity = run_archive_simulation(read_definition(slug), respondents, assumptions, folder)
        made = {"identity": identity, "simulated_respondents": respondents, "archive": str(folder)}
        print_document(made, as_json)
        return
    with database_session() as session:
        found = survey_to_change(session, slug)
        if not dry_run:
            run_simulation(session, found, respondents, assumptions, TakingTurns(session), stratum)
            print_document({"survey": slug, "simulated_respondents": respondents}, as_json)
            return
        definition, setting = surveys.draft(found), setting_of(session, found)
    rehearsal = rehearse(definition, respondents, assumptions, setting, stratum)
    if as_json:
        click.echo(reports.to_json(rehearsal.report), nl=False)
    else:
        print_report(rehearsal.report, rehearsal.entered)


def _named_number(option: str, text: str) -> tuple[str, float]:
    name, _, number = text.rpartition("=")
    try:
        return name, float(number)
    except ValueError:
        raise click.UsageError(f"{option} must be NAME=NUMBER; it is {text!r}") from None
