"""Closed surveys into an archive folder, and what the surveys in archive folders found."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from server import reports
from server.archives.folders import (
    ArchivedReport,
    archive_survey,
    check_closed,
    open_engine,
    report_archived,
)
from server.cli.common import JSON, make_plain, print_table, require_survey, show_progress, snapshot_session
from server.cli.result_output import print_report


@click.command()
@click.argument("slugs", metavar="SLUG...", nargs=-1, required=True)
@click.option(
    "--to",
    "folder",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="The archive folder, which is made if it is not there.",
)
@JSON
def archive(slugs: Sequence[str], folder: Path, as_json: bool) -> None:
    """Write the responses to closed surveys as Parquet into a folder, to be counted by many machines.

    What is there already stays as it is. The same survey once more changes nothing; another copy of it is refused.
    """
    written = []
    with snapshot_session() as session:
        surveys = [require_survey(session, slug) for slug in dict.fromkeys(slugs)]
        for survey in surveys:  # before any is written
            check_closed(survey)
        for survey in surveys:
            with show_progress(f"Archiving {survey.slug}") as report_progress:
                outcome = archive_survey(session, survey, folder, report_progress)
            written.append({"survey": survey.slug, "identity": survey.identity, "archive": str(outcome)})
    if as_json:
        click.echo(json.dumps(written, ensure_ascii=False))
    else:
        print_table(["survey", "identity", "archive"], [list(each.values()) for each in written])


def print_archives(folders: Sequence[Path], engine: str, master: str | None, as_json: bool) -> None:
    """Print what every survey in archive folders found."""
    with open_engine(engine, master) as opened:
        found, again = report_archived(folders, opened)
        for folder in again:
            click.echo(f"{folder} holds a survey that is counted already; it is left out.", err=True)
        if as_json:
            click.echo(json.dumps({"surveys": [_json(each) for each in found]}, ensure_ascii=False))
            return
        for archived in found:
            made = archived.report
            simulated = "SIMULATED. " if made.simulated else ""
            click.echo(
                f"{simulated}{make_plain(made.definition.title)} (survey={archived.identity}, {made.n} responses)"
            )
            print_report(made)
            click.echo()


def _json(archived: ArchivedReport) -> dict[str, Any]:
    made = archived.report
    return {
        "survey": made.slug,
        "identity": archived.identity,
        "title": made.definition.title,
        "version": {
            "number": made.version_number,
            "sha256": made.version,
            "published_on": made.published_on.isoformat(),
        },
        "versions": list(made.versions),
        "software": made.software,
        "simulated": made.simulated,
        "incomplete": made.incomplete,
        "n": made.n,
        "minimum": made.minimum,
        "left_out": {"versions": list(made.left_out), "without_stratum": made.without_left_out},
        "strata_cut": made.strata_cut,
        "questions": reports.questions_json(made),
    }
