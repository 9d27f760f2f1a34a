"""Answers of simulated respondents, with a progress bar."""

import sys
from pathlib import Path

import click
from sqlalchemy.orm import Session

from server import simulation
from server.store.engines import TakingTurns
from server.store.models import Survey
from server.study.definitions import Definition


def run_simulation(
    session: Session,
    survey: Survey,
    respondents: int,
    assumptions: simulation.Assumptions,
    turns: TakingTurns | None = None,
    path: str = "",
) -> None:
    """Answer an open survey as so many made-up people, in one transaction or by turns with others who write."""
    groups = simulation.simulate(session, survey, respondents, assumptions, path)
    with click.progressbar(length=respondents, label="Simulating respondents", file=sys.stderr) as bar:
        for size in groups:
            bar.update(size)
            if turns is not None and size:
                turns.after_a_part()
            elif turns is not None:
                turns.give_way()


def run_archive_simulation(
    definition: Definition, respondents: int, assumptions: simulation.Assumptions, folder: Path
) -> str:
    """Write so many made-up responses into an archive folder; the identity of the survey there."""
    with click.progressbar(length=respondents, label="Simulating respondents", file=sys.stderr) as bar:
        return simulation.simulate_archive(
            definition, respondents, assumptions, folder, lambda done, _of: bar.update(done - bar.pos)
        )
