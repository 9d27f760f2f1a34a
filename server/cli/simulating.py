"""Answers of simulated respondents, with a progress bar."""

import sys

import click
from sqlalchemy.orm import Session

from server import simulation
from server.models import Survey


def run_simulation(
    session: Session, survey: Survey, respondents: int, assumptions: simulation.Assumptions
) -> None:
    """Answer an open survey as so many made-up people."""
    people = simulation.simulate(session, survey, respondents, assumptions)
    with click.progressbar(
        people, length=respondents, label="Simulating respondents", file=sys.stderr
    ) as bar:
        for _ in bar:
            pass
