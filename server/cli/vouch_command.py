"""`python -m server vouch`: nothing was spent that the database does not know."""

import click
import sqlalchemy as sa

from server import releases
from server.cli.common import JSON, database_session, print_document
from server.people import change_log, survey_access
from server.people.change_log import Action
from server.store.models import Survey


@click.command()
@click.option("--yes", is_flag=True, help="Do not ask.")
@JSON
def vouch(yes: bool, as_json: bool) -> None:
    """Vouch that this database was not restored from a backup, nor copied, so that it knows all that was spent.

    For the operator, after an upgrade or a move, where the file is missing that would say so: declares for all
    surveys at once that nothing was spent elsewhere, which stands in their ledgers and logs. Where that file knows
    of more than the database, the survey's owner has to declare it.
    """
    if not yes:
        click.confirm(
            "Every release that was ever made of the surveys here, and every right that was given to copies, is in "
            "this database. Is that so?",
            abort=True,
            err=True,
        )
    done, left = [], []
    with database_session() as session:
        published = (
            sa.select(Survey).where(Survey.versions.any(), survey_access.HAS_ARRIVED).order_by(Survey.id)
        )
        for survey in session.scalars(published).all():
            survey_access.lock(session, survey)
            if releases.vouch_for(session, survey):
                change_log.record(session, None, Action.DECLARED, survey, epsilon="0")
                done.append(survey.slug)
            elif releases.read_ledger(session, survey).restored:
                left.append(survey.slug)
    if as_json:
        print_document({"vouched": done, "to_declare": left}, as_json)
        return
    click.echo(f"Vouched for {len(done)} of the surveys{': ' if done else ''}{', '.join(done)}.")
    if left:
        click.echo(f"Of these the owner has to declare what was spent: {', '.join(left)}.")
