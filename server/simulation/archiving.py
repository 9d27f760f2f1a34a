"""Made-up responses straight into an archive folder, as many as a disk holds, where no database would."""

import secrets
from collections.abc import Iterator
from pathlib import Path

from server.archives.folders.folder_manifest import describe_version
from server.archives.folders.folder_rows import CodedTally
from server.archives.folders.folder_writer import write_survey
from server.collect.batches import add_up
from server.collect.tallies import Tally
from server.output.progress import ProgressReporter
from server.simulation.answering import check_respondents
from server.simulation.assumptions import Assumptions, check
from server.simulation.made_up_people import draw_people
from server.study import surveys
from server.study.definitions import Definition, version_of
from server.study.smallest_group import DEFAULT_MINIMUM

ARCHIVED_LIMIT = 10_000_000_000
_GROUP = 1 << 20
"""People who are made up at once: what 20 questions take of them is about half a gigabyte."""


def simulate_archive(
    definition: Definition,
    respondents: int,
    assumptions: Assumptions,
    archive: Path,
    report_progress: ProgressReporter,
) -> str:
    """Write responses of made-up people to a survey that is nowhere else; its identity.

    It has one version and no strata, and says in its manifest that it is simulated.

    Raises
    ------
    InputError
        If a number or name is out of range.
    ArchiveFolderError
        If the folder cannot be written.
    """
    check_respondents(respondents, ARCHIVED_LIMIT)
    assumptions = check(definition, assumptions)
    published = definition.to_canonical()
    described = describe_version(
        1, version_of(published), surveys.today().isoformat(), definition, respondents
    )

    def groups() -> Iterator[CodedTally]:
        for done in range(0, respondents, _GROUP):
            size = min(respondents - done, _GROUP)
            made_up = draw_people(definition, size, assumptions).reports()
            yield CodedTally("s0", add_up([Tally.of(made_up.tobytes(), made_up.shape[1])]))
            report_progress(done + size, respondents)

    identity = secrets.token_hex(16)
    with write_survey(archive, identity) as folder:
        folder.add_version(described, published)
        folder.rows.write(1, tuple(described["columns"]), groups())
        folder.finish(_describe_simulated(identity))
    return identity


def _describe_simulated(identity: str) -> dict[str, object]:
    return {
        "identity": identity,
        "slug": surveys.new_slug(),
        "simulated": True,
        "incomplete": False,
        "merged": False,
        "minimum": DEFAULT_MINIMUM,
        "populations_since": None,
        "left_out": {"versions": [], "without_stratum": False},
        "hidden": {"strata": [], "own": [], "without_stratum": False},
        "without_in": [],
        "strata": [],
        "sums": [],
    }
