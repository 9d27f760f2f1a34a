"""What stands in an archive, and where."""

from collections.abc import Sequence
from typing import Any

from server.store.models import Mode

FORMAT = 3
"""What is written. Format 2, whose strata are all as the survey is, is read as well."""
UNPACKED_LIMIT = 1024**3
"""Most bytes that an archive may unpack to."""

MANIFEST = "manifest.json"
README = "README.txt"
DRAFT = "draft.json"
STRATA = "strata.csv"
BATCHES = "batches.csv"
INVITATIONS = "invitations.csv"
RELEASES = "releases.json"
LOG = "log.csv"

PUBLISHED = "versions/{}/published.json"
RESPONSES = "versions/{}/responses.csv"
CODEBOOK = "versions/{}/codebook.csv"

RESPONSE_CELLS = ("stratum", "stratum_path")
"""Before a cell for each byte. The path is for reading; `stratum` is a number of strata.csv, of the smallest
stratum around a response that may be named."""
MODE_CELL = "mode"
MODES = {"browser": Mode.BROWSER, "paper": Mode.PAPER}
"""How a response was collected, where the manifest says that this is told: those that are too few to be told apart
stand with those from browsers."""
INVITATION_CELLS = ("code_sha256", "batch", "spent")

VERSIONS_LIMIT = 1000


def entry_names(versions: int) -> list[str]:
    """The names of all entries, in their order."""
    numbered = [
        name.format(number) for number in range(1, versions + 1) for name in (PUBLISHED, RESPONSES, CODEBOOK)
    ]
    return [MANIFEST, README, DRAFT, *numbered, STRATA, BATCHES, INVITATIONS, RELEASES, LOG]


def name_cells(modes: bool) -> tuple[str, ...]:
    """What stands before a response's reports; `modes` says whether that is how it was collected, too."""
    return (*RESPONSE_CELLS, *[MODE_CELL] * modes)


def response_header(columns: Sequence[str], modes: bool) -> tuple[str, ...]:
    """The first row of a version's responses."""
    return (*name_cells(modes), *columns)


Document = dict[str, Any]
