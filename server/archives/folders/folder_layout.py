"""What stands in an archive folder, and where.

A stratum has the number of its place in the manifest's list, from 1; 0 is the whole survey. `s3` are responses by the
link of stratum 3, `s0` those by the survey's own link. `w3` are responses by links inside stratum 3 that rows may not
name, as they are too few or beside such; `w0` those that stand inside none that may be named.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence, Set
from typing import Any

import rfc8785

from server.study.strata import Node, walk

Document = dict[str, Any]

FORMAT = 1
MANIFEST = "_manifest.json"
PUBLISHED = "_version-{}.json"
"""Names with an underscore before them are passed over by what reads whole folders of Parquet."""
WRITING = "_writing-"
"""What the folder of a survey is called while it is written."""
SURVEY = re.compile(r"survey=([0-9a-f]{32})")
ROWS = "version={}/stratum={}/responses-{:05d}.parquet"

_KEYS = frozenset({"survey", "version", "stratum"})
"""What the folders say, and so what no column is called."""


class ArchiveFolderError(ValueError):
    """A folder that is no whole archive, or that does not take what was to be written; says so in one sentence."""


def name_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The columns of Parquet files, of a version's columns."""
    return tuple(f"{column}.report" if column in _KEYS else column for column in columns)


def seal(document: Document) -> Document:
    """A manifest with its own SHA-256."""
    return {**document, "sha256": hashlib.sha256(rfc8785.dumps(document)).hexdigest()}


def code_strata(nodes: Sequence[Node], hidden: Set[object]) -> dict[int | None, str]:
    """What stands for each stratum, by its id (None: the survey's own link), where these groups are withheld."""
    numbers = {node.stratum.id: number for number, node in enumerate(walk(nodes), 1)}
    codes: dict[int | None, str] = {None: "w0" if None in hidden else "s0"}

    def name(below: Sequence[Node], around: int) -> None:
        for node in below:
            key = node.stratum.id
            if key in hidden:
                codes[key] = f"w{around}"
                name(node.children, around)
            else:
                codes[key] = f"{'w' if ('own', key) in hidden else 's'}{numbers[key]}"
                name(node.children, numbers[key])

    name(nodes, 0)
    return codes


def place_codes(nodes: Sequence[Node], hidden: Set[object], *, without: bool) -> Mapping[str, int]:
    """Where responses of each code are counted, a place in the list of strata (`places_of`).

    Withheld ones that stand together count in the first of the smallest strata among them. No report tells which.
    `without`: whether responses by the survey's own link are withheld, and were there.
    """
    codes = code_strata(nodes, hidden)
    places = {"s0": 0, "w0": 0}
    for number, _node in enumerate(walk(nodes), 1):
        places[f"s{number}"] = number
        places.setdefault(f"w{number}", number)
    found: set[str] = {"w0"} if without else set()
    for number, node in enumerate(walk(nodes), 1):
        code = codes[node.stratum.id]
        if node.leaf and node.stratum.id in hidden and code not in found:
            places[code] = number
            found.add(code)
    return places


def describe_hidden(nodes: Sequence[Node], hidden: Set[object]) -> Document:
    """Groups that are withheld, as a manifest states them."""
    numbered = list(enumerate(walk(nodes), 1))
    return {
        "strata": [number for number, node in numbered if node.stratum.id in hidden],
        "own": [number for number, node in numbered if ("own", node.stratum.id) in hidden],
        "without_stratum": None in hidden,
    }


def read_hidden(groups: Document) -> frozenset[object]:
    """The same again, where the ids of strata are their numbers."""
    hidden: set[object] = set(groups["strata"])
    hidden.update(("own", number) for number in groups["own"])
    return frozenset(hidden | {None} if groups["without_stratum"] else hidden)
