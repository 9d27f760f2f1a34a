"""What an archive folder says of a survey beside its rows."""

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import rfc8785

from server import __version__
from server.archives.folders.folder_layout import (
    FORMAT,
    Document,
    code_strata,
    describe_hidden,
    name_columns,
    seal,
)
from server.archives.folders.folder_sums import sum_strata
from server.reports import Report
from server.study.definitions import Definition
from server.study.strata import walk


def describe_report(report: Report, identity: str, rows: dict[int | None, str]) -> Document:
    """What a survey's report was made from, but for its rows, which have these codes of strata.

    Raises
    ------
    ArchiveFolderError
        If what the report tells cannot be said in columns.
    """
    sizes = np.sum([wave.sizes for wave in report.waves], axis=0).tolist()
    told = code_strata(report.nodes, report.hidden)
    strata = report.waves[0].strata
    enough = all(told[stratum] == rows[stratum] for stratum, n in zip(strata, sizes, strict=True) if n)
    return {
        "identity": identity,
        "slug": report.slug,
        "simulated": report.simulated,
        "incomplete": report.incomplete,
        "merged": report.merged,
        "minimum": report.minimum,
        "populations_since": report.populations_since and report.populations_since.isoformat(),
        "left_out": {"versions": list(report.left_out), "without_stratum": report.without_left_out},
        "hidden": describe_hidden(report.nodes, report.hidden),
        "without_in": sorted(
            wave.number
            for waves in report.alike
            if any(wave.sizes[0] for wave in waves) and None in report.hidden
            for wave in waves
        ),
        "strata": [
            {"names": list(node.names), "population": node.stratum.population} for node in walk(report.nodes)
        ],
        "sums": [] if enough else sum_strata(report),
    }


def describe_version(
    number: int, sha256: str, published_on: str, definition: Definition, responses: int
) -> Document:
    """What a manifest says of a version."""
    columns = [column for question in definition.questions for column in question.columns]
    return {
        "number": number,
        "sha256": sha256,
        "published_on": published_on,
        "responses": responses,
        "columns": list(name_columns(columns)),
        "reports": [design.weights.shape[1] for design in definition.designs],
    }


def finish_manifest(
    survey: Document, versions: Sequence[Document], content: Sequence[Any], files: Sequence[Document]
) -> Document:
    """The manifest. `content` in it is the same wherever and by whatever the same responses are archived."""
    said = {name: value for name, value in survey.items() if name != "slug"}
    found = hashlib.sha256(rfc8785.dumps({**said, "versions": list(versions), "rows": list(content)}))
    return seal(
        {
            "format": FORMAT,
            "software": f"Moneda {__version__}",
            **survey,
            "versions": list(versions),
            "files": list(files),
            "content": found.hexdigest(),
        }
    )
