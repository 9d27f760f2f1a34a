"""`python -m server survey settings`: what devices keep of a survey, and what the server deletes of it when."""

from collections.abc import Callable
from typing import Any

import click

from server.cli.common import JSON, SLUG, database_session, print_document, survey_to_change
from server.collect import acceptance
from server.people import change_log
from server.people.change_log import Action
from server.study import surveys
from server.study.retention import (
    KEPT_FIELDS,
    describe_days,
    parse_retention,
    retention_of,
    set_retention,
    write_days,
)
from server.study.schedule import schedule_of
from server.study.switches import SWITCHES, name_action

_NEVER = "never"


def _offer_switches(command: Callable[..., None]) -> Callable[..., None]:
    """An option for each switch of a survey."""
    for name, switch in reversed(list(SWITCHES.items())):
        command = click.option(f"--{name}/--no-{name}", default=None, help=switch.option)(command)
    return command


@click.command()
@SLUG
@_offer_switches
@click.option(
    "--keep-rows", metavar="DAYS", help="After how many days from closing single rows go; or never."
)
@click.option("--keep-counts", metavar="DAYS", help="The same of counts.")
@click.option("--keep-rest", metavar="DAYS", help="The same of everything but releases.")
@JSON
def settings(slug: str, as_json: bool, **typed: Any) -> None:
    """Change what devices keep and do, and what the server deletes when; print both. What is left out stays.

    Once a survey is published, days can only become fewer.
    """
    stated = {name: value for name, value in typed.items() if value is not None}
    turned = {name: stated[name] for name in SWITCHES if name in stated}
    days = {name: "" if stated[name] == _NEVER else stated[name] for name in KEPT_FIELDS if name in stated}
    with database_session() as session:
        found = survey_to_change(session, slug)
        if turned:
            schedule = schedule_of(found).turn(turned)
            for name, on in acceptance.set_schedule(session, found, schedule, surveys.now()).items():
                change_log.record(session, None, name_action(name, on=on), found)
        retention = parse_retention({**write_days(retention_of(found)), **days})
        if set_retention(found, retention):
            change_log.record(session, None, Action.RETENTION_SET, found, **describe_days(retention))
        kept = {name: getattr(found, name) for name in (*SWITCHES, *KEPT_FIELDS)}
        print_document({"survey": slug, **kept}, as_json)
