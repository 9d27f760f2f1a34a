"""A report -> the bytes of its microdata. The same report gives the same bytes."""

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import IO

from server.collect.waves import same_question
from server.reports.codebook import CODEBOOK, codebook_rows, missing_row, name_translated, strata_rows
from server.reports.csv_cells import csv_text
from server.reports.csv_report import permitted_strata, to_csv
from server.reports.microdata.ddi_codebook import write_ddi
from server.reports.microdata.deposit_metadata import write_citation, write_datacite
from server.reports.microdata.explanation import readme
from server.reports.microdata.notebook import write_jupyter, write_quarto
from server.reports.microdata.other_packages import write_other_packages
from server.reports.microdata.parquet import write_parquet
from server.reports.microdata.questionnaire_text import write_questionnaire
from server.reports.microdata.response_table import ReportResponses
from server.reports.report import Report
from server.study.definitions import list_languages
from server.study.strata import walk

SCRIPTS = Path(__file__).parent / "scripts"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP file can state; the time of packing would make each one different."""
_BUFFER = 1 << 20
_CHECKSUMS = "sha256sums.txt"
_LEVEL = 4
"""Of compression: a tenth larger than at zlib's usual 6, in a quarter of the time."""


def write_microdata(report: Report, file: IO[bytes]) -> None:
    """Write the noisy responses that a report estimates from, as CSV and Parquet, with scripts for Python and R.

    A row for each response: its version, the path of the smallest stratum around it that may be
    named, and its reports; no id, no day, and an order that says nothing. The scripts, NumPy and
    base R alone, recompute every estimate of the report but those of strata that the rows do not
    name, and those weighted by such or with strata that are taken together or not used. `report` shows
    something (`require_shown`); of one version alone, the rows name no strata.
    """
    responses = ReportResponses(report)
    files: dict[str, str | bytes] = {"codebook.csv": _codebook(report), "estimates.csv": to_csv(report)}
    if responses.by_stratum:
        files["strata.csv"] = _strata(report)
    for script in ("estimate.py", "estimate.R"):
        files[script] = _script(script, report.confidence)
    files |= {"analysis.ipynb": write_jupyter(report), "analysis.qmd": write_quarto(report)}
    if column := find_regressed(report):
        for script in ("fit.py", "fit.R"):
            files[script] = (SCRIPTS / script).read_text("utf-8").replace("<column>", column)
    files |= {
        "other_packages.csv": write_other_packages(report),
        "questionnaire.md": write_questionnaire(report),
        **{f"definition_{wave.number}.json": wave.definition.to_canonical() for wave in report.waves},
        "ddi.xml": write_ddi(report),
        "datacite.json": write_datacite(report),
        "CITATION.cff": write_citation(report),
    }
    tables: dict[str, Callable[[IO[bytes]], None]] = {
        "responses.csv": responses.write_csv,
        "responses.parquet": partial(write_parquet, responses),
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        files = {"README.txt": readme(report, [*tables, *files, _CHECKSUMS]), **files}
        sums = {name: hashlib.sha256(_encode(content)).hexdigest() for name, content in files.items()}
        archive.writestr(_entry("README.txt"), files.pop("README.txt"))
        for name, write in tables.items():
            # What is compressed already is stored as it is.
            packed = _entry(name, zipfile.ZIP_STORED if name.endswith(".parquet") else zipfile.ZIP_DEFLATED)
            with tempfile.TemporaryFile() as made, archive.open(packed, "w", force_zip64=True) as entry:
                write(made)
                made.seek(0)
                sums[name] = hashlib.file_digest(made, "sha256").hexdigest()
                made.seek(0)
                shutil.copyfileobj(made, entry, _BUFFER)
        for name, content in files.items():
            archive.writestr(_entry(name), content)
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items()))
        archive.writestr(_entry(_CHECKSUMS), lines)


def find_regressed(report: Report) -> str | None:
    """The column that the scripts of regressions begin with: the first whose reports are 0 and 1."""
    for question in report.definition.questions:
        for column, design in zip(question.columns, question.designs, strict=True):
            if len(design.weights) == 2 and not question.encoding.between_ends:
                return column
    return None


def _encode(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def _codebook(report: Report) -> str:
    """The codebook of every version; `pooled` says which columns the report estimates from.

    First what stands in the column of strata in place of a path, which is the same in every version. A column that a
    version does not have has a row of the kind `missing`.
    """
    pooled = {
        (wave_question.wave.number, question.name)
        for question in report.definition.questions
        for wave_question in same_question(question.name, report.waves)
    }
    known = dict.fromkeys(code for wave in report.waves for code in list_languages(wave.definition))
    languages = [code for code in known if code != report.definition.language]
    rows: list[tuple[object, ...]] = [("version", "pooled", *CODEBOOK, *name_translated(languages))]
    responses = ReportResponses(report)
    if responses.by_stratum:
        rows += (("", "", *row) for row in strata_rows())
    for wave in report.waves:
        rows += (
            (wave.number, (wave.number, row[1]) in pooled, *row)
            for row in codebook_rows(wave.definition, languages)
        )
        own = {column for question in wave.definition.questions for column in question.columns}
        rows += ((wave.number, "", *missing_row(column)) for column in responses.columns if column not in own)
    return csv_text(rows)


def _strata(report: Report) -> str:
    """The tree: which strata have none below them, their populations, and whether responses name them."""
    paths = permitted_strata(report)
    rows: list[tuple[object, ...]] = [("stratum", "population", "leaf", "named")]
    for node in walk(report.nodes):
        named = paths[node.stratum.id] == node.path
        rows.append((node.path, node.stratum.population, node.leaf, named))
    return csv_text(rows)


def _script(name: str, confidence: float) -> str:
    """A script with the report's confidence, which it states once as 0.95."""
    text = (SCRIPTS / name).read_text("utf-8")
    return text.replace("0.95\n", f"{confidence!r}\n", 1)


def _entry(name: str, compression: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = compression
    # `ZipFile.open` takes no level but from its entry, where only Python 3.13 has a public name for it.
    entry._compresslevel = _LEVEL  # type: ignore[attr-defined]
    entry.create_system = 3  # whatever the system is
    entry.external_attr = 0o644 << 16
    return entry
