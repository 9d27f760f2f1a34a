"""`python -m server user`: list researchers, add them, and help who is locked out."""

from typing import Any

import click
from sqlalchemy.orm import Session

from server import people
from server.cli.common import JSON, database_session, print_document, print_table
from server.config import from_environment
from server.people import change_log
from server.people.change_log import Action
from server.store.models import Researcher

WHO = click.argument("who", metavar="LOGIN|NUMBER")


@click.group()
def user() -> None:
    """List researchers, add them, and help who is locked out."""


@user.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Print all researchers."""
    with database_session() as session:
        rows = [_user_json(researcher) for researcher in people.list_researchers(session)]
    if as_json:
        print_document({"users": rows}, as_json)
        return
    header = ["number", "login", "name", "password", "codes", "administrator", "disabled"]
    print_table(header, [[_cell(row[name]) for name in header] for row in rows])


@user.command()
@click.argument("name")
@click.option("--administrator", is_flag=True, help="Who may invite colleagues and help who is locked out.")
@JSON
def add(name: str, administrator: bool, as_json: bool) -> None:
    """Add a researcher, and print a one-time sign-in link."""
    with database_session() as session:
        added = people.add(session, people.check_name(name), administrator=administrator)
        _record(session, Action.COLLEAGUE_ADDED, added)
        print_document({**_user_json(added), **_link(session, added)}, as_json)


@user.command()
@WHO
@JSON
def link(who: str, as_json: bool) -> None:
    """Print a one-time sign-in link; codes, where they are on, are asked for as well."""
    with database_session() as session:
        researcher = _find_researcher(session, who)
        if researcher.disabled_on is not None:
            raise click.UsageError(f"{who!r} is disabled; enable them first")
        _record(session, Action.LINK_GIVEN, researcher)
        print_document({**_user_json(researcher), **_link(session, researcher)}, as_json)


@user.command()
@WHO
@JSON
def disable(who: str, as_json: bool) -> None:
    """Shut a researcher out, at once; their surveys stay."""
    with database_session() as session:
        researcher = _find_researcher(session, who)
        people.disable(session, researcher)
        _record(session, Action.COLLEAGUE_DISABLED, researcher)
        print_document(_user_json(researcher), as_json)


@user.command()
@WHO
@JSON
def enable(who: str, as_json: bool) -> None:
    """Let a researcher sign in again."""
    with database_session() as session:
        researcher = _find_researcher(session, who)
        people.enable(researcher)
        _record(session, Action.COLLEAGUE_ENABLED, researcher)
        print_document(_user_json(researcher), as_json)


@user.command("reset-totp")
@WHO
@JSON
def reset_totp(who: str, as_json: bool) -> None:
    """Ask a researcher for no codes any more: for who lost both the app and the recovery codes."""
    with database_session() as session:
        researcher = _find_researcher(session, who)
        people.turn_off_codes(session, researcher)
        _record(session, Action.CODES_RESET, researcher)
        print_document(_user_json(researcher), as_json)


def _find_researcher(session: Session, who: str) -> Researcher:
    # A login has at least three characters and may be a number; one of a researcher's own goes first.
    return people.with_login(session, who) or people.get_researcher(session, who)


def _record(session: Session, action: Action, researcher: Researcher) -> None:
    change_log.record(session, None, action, None, name=people.get_name(researcher) or f"#{researcher.id}")


def _link(session: Session, researcher: Researcher) -> dict[str, str]:
    address = from_environment().find_address("127.0.0.1", 8000)
    return {"sign_in_link": f"{address}/manage/sign-in/{people.new_sign_in_link(session, researcher)}"}


def _user_json(researcher: Researcher) -> dict[str, Any]:
    return {
        "number": researcher.id,
        "login": researcher.login,
        "name": researcher.name,
        "password": researcher.password_hash is not None,
        "codes": researcher.totp_sealed is not None,
        "administrator": researcher.administrator,
        "disabled": None if researcher.disabled_on is None else researcher.disabled_on.isoformat(),
    }


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "-" if value in (None, "") else str(value)
