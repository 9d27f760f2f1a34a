"""What the books hold, all in memory and string by string, as tests compare it."""

import numpy as np
from sqlalchemy.orm import Session

from server.collect import response_counts
from server.collect.response_counts import Collected, Key
from server.collect.tallies import Tally
from server.store.models import Survey


def strings(tally: Tally) -> list[bytes]:
    """Every report string, as often as it was counted; sorted."""
    return sorted(row.tobytes() for row in np.repeat(tally.patterns, tally.counts, axis=0))


def dump_shown(session: Session, survey: Survey) -> dict[Key, Tally]:
    """What is shown, by version and stratum."""
    return _together(survey, response_counts.read_shown(session, survey))


def everything(session: Session, survey: Survey) -> dict[Key, Tally]:
    """The same with those that wait."""
    return _together(survey, response_counts.read_for_release(session, survey, "unbounded"))


def _together(survey: Survey, found: Collected) -> dict[Key, Tally]:
    """The pieces of each key as one; what is said of them beside is held against them."""
    parts: dict[Key, list[Tally]] = {}
    for version in survey.versions:
        for key, tally in found.pieces(version.id):
            parts.setdefault(key, []).append(tally)
    tallies = {key: Tally.join_all(own) for key, own in parts.items()}
    assert {key: tally.n for key, tally in tallies.items()} == dict(found.sizes)
    reports = {version.id: version.reports for version in survey.versions}
    for key, tally in tallies.items():
        counted = [
            np.bincount(column, tally.counts, possible)
            for column, possible in zip(tally.patterns.T, reports[key[0]], strict=True)
        ]
        assert np.concatenate(counted).tolist() == found.margins[key].tolist()
    assert found.margins.keys() == tallies.keys()
    return tallies
