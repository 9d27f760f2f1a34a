"""Serve the site, or a demonstration of it."""

import os

import click
from sqlalchemy.orm import Session

from server import __version__, people
from server.cli.check_command import check_at_start
from server.cli.common import WholeNumber, database_session
from server.cli.simulate_command import run_simulation
from server.config import DATA, Config, from_environment, is_loopback
from server.simulation import Assumptions, demonstration
from server.store.engines import engine_of, lock_installation
from server.web import serving
from server.web.fleet import join_fleet


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=WholeNumber(1, 65535))
@click.option("--sign-in-link", is_flag=True, help="Print a one-time sign-in link for the first researcher.")
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=WholeNumber(1, 64),
    help="Processes that answer; more than one needs PostgreSQL.",
)
def serve(host: str, port: int, sign_in_link: bool, workers: int) -> None:
    """Migrate the database and serve Moneda until Ctrl-C."""
    config = from_environment()
    _check_host(config, host)
    if workers > 1 and config.database_url.startswith("sqlite"):
        raise ValueError(
            f"--workers must be 1 with SQLite, where one process writes at a time; it is {workers}. "
            "PostgreSQL takes more"
        )
    address = config.find_address(host, port)
    lines = [f"Moneda {__version__} is on {address}"]
    with database_session(config, check=True) as session:
        check_at_start(engine_of(session))
        if sign_in_link:
            lines.append(f"Sign in (once, within 24 hours): {_sign_in_link(session, address)}")
    with join_fleet(config.database_url, workers) as told:
        serving.serve(config, host, port, [*told, *lines], workers)


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8000, show_default=True, type=WholeNumber(1, 65535))
def demo(host: str, port: int) -> None:
    """Serve a demonstration survey answered by 100,000 simulated respondents, on a database of its own."""
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{DATA / 'demo.sqlite3'}")
    config = from_environment()
    _check_host(config, host)
    address = config.find_address(host, port)
    with database_session(config, check=True) as session:
        check_at_start(engine_of(session))
        lock_installation(session.connection())
        survey = demonstration.find(session)
        if survey is None:
            survey = demonstration.create(session, people.first_researcher(session))
            assumptions = Assumptions(demonstration.SHARES, demonstration.MEANS)
            run_simulation(session, survey, demonstration.RESPONDENTS, assumptions)
        lines = [
            f"Moneda {__version__} (demonstration, simulated respondents) is on {address}",
            f"Answer the survey: {address}/s/{survey.link}",
            f"See its results, sign in (once, within 24 hours): {_sign_in_link(session, address)}",
        ]
    with join_fleet(config.database_url, 1) as told:
        serving.serve(config, host, port, [*told, *lines])


def _check_host(config: Config, host: str) -> None:
    """Whoever reaches the site from elsewhere is given links, which must not name what a request made up."""
    shown = f"[{host}]" if ":" in host else host
    if not config.public_urls and not is_loopback(shown):
        raise _RefusedHost(
            "MONEDA_PUBLIC_URL must name the address that people use where others than this machine reach "
            "Moneda: set it, as in MONEDA_PUBLIC_URL=https://example.org, and start again, or leave --host out "
            f"for this machine alone; it is not set, and --host is {host}"
        )


class _RefusedHost(click.ClickException):
    """One line on standard error."""

    exit_code = 2


def _sign_in_link(session: Session, address: str) -> str:
    secret = people.new_sign_in_link(session, people.first_researcher(session))
    return f"{address}/manage/sign-in/{secret}"
