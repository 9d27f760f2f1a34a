"""`python -m server survey form`: what a survey asks, as an XLSForm for other programs."""

from pathlib import Path

import click

from server.cli.common import SLUG, make_plain, open_new_file, require_survey, snapshot_session
from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from server.study import surveys
from server.study.xlsform import write_xlsform


@click.command()
@SLUG
@click.argument("path", metavar="FILE.xlsx", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--language",
    type=click.Choice(list(LANGUAGES)),
    default=DEFAULT_LANGUAGE,
    show_default=True,
    help="Of the sheet for people in the file.",
)
def form(slug: str, path: Path, language: str) -> None:
    """Write what a survey's draft asks into a new file, an XLSForm for KoboToolbox, ODK or SurveyCTO.

    A form has no coins: whoever collects with it reads true answers. What is not in it goes to standard error.
    """
    with snapshot_session() as session:
        written = write_xlsform(surveys.draft(require_survey(session, slug)), language)
    with open_new_file(path, "FILE.xlsx") as file:
        file.write(written.body)
    for problem in written.left_out:
        click.echo(f"not in the file: {problem.field}: {make_plain(problem.message)}", err=True)
