"""`python -m server survey settings`: what devices keep of a survey, and what the server deletes of it when."""

from dataclasses import replace
from typing import Any

import click

from server.cli.common import JSON, SLUG, database_session, print_document, survey_to_change
from server.collect import acceptance
from server.people import change_log
from server.people.change_log import SWITCHED, Action
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

_NEVER = "never"


@click.command()
@SLUG
@click.option(
    "--offline/--no-offline", default=None, help="Once opened, it can be answered without a network."
)
@click.option("--forgets/--no-forgets", default=None, help="It leaves no note on a device that answered.")
@click.option("--tickets/--no-tickets", default=None, help="Codes buy tickets, and these let responses in.")
@click.option(
    "--works/--no-works", default=None, help="A device works before an open link takes its response."
)
@click.option("--tablet/--no-tablet", default=None, help="Many people may answer on one tablet.")
@click.option(
    "--keep-rows", metavar="DAYS", help="After how many days from closing single rows go; or never."
)
@click.option("--keep-counts", metavar="DAYS", help="The same of counts.")
@click.option("--keep-rest", metavar="DAYS", help="The same of everything but releases.")
@JSON
def settings(
    slug: str,
    offline: bool | None,
    forgets: bool | None,
    works: bool | None,
    tickets: bool | None,
    tablet: bool | None,
    as_json: bool,
    **typed: str | None,
) -> None:
    """Change what devices keep and do, and what the server deletes when; print both. What is left out stays.

    Once a survey is published, days can only become fewer.
    """
    switches = {"offline": offline, "forgets": forgets, "tablet": tablet, "tickets": tickets, "works": works}
    stated: dict[str, Any] = {name: on for name, on in switches.items() if on is not None}
    days = {name: "" if text == _NEVER else text for name, text in typed.items() if text is not None}
    with database_session() as session:
        found = survey_to_change(session, slug)
        if stated:
            schedule = replace(schedule_of(found), **stated)
            for name, on in acceptance.set_schedule(session, found, schedule, surveys.now()).items():
                change_log.record(session, None, SWITCHED[name][on], found)
        retention = parse_retention({**write_days(retention_of(found)), **days})
        if set_retention(found, retention):
            change_log.record(session, None, Action.RETENTION_SET, found, **describe_days(retention))
        print_document(
            {"survey": slug, **{name: getattr(found, name) for name in (*switches, *KEPT_FIELDS)}}, as_json
        )
