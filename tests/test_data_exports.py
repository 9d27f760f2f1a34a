"""Noisy responses for SPSS and Stata, read back by another program; and the survey as DDI-Codebook."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyreadstat
import pytest

from server import reports
from server.inputs import InputError
from server.output.labelled import MISSING, CodeTable, name_variables, write_spss
from server.people import survey_access
from server.reports.microdata.labelled_responses import label_responses
from server.reports.report import Report
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.strange_survey import FAMILY, LONG, open_strange

READERS = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}
ABSENT = {"sav": MISSING, "dta": "a"}
"""What stands in place of a code that is not there."""


@dataclass(frozen=True)
class Read:
    """A file as another program reads it: the rows, and what it says of its variables."""

    rows: Sequence[tuple[object, ...]]
    meta: Any


def read(report: Report, ending: str, language: str | None, folder: Path) -> Read:
    """Write and read a file."""
    path = folder / f"responses.{ending}"
    with path.open("wb") as file:
        reports.write_labelled(report, ending, language, file)
    columns, meta = READERS[ending](path, output_format="dict", user_missing=True)
    whole = [[cell if isinstance(cell, str) else int(cell) for cell in column] for column in columns.values()]
    assert list(columns) == meta.column_names
    return Read(list(zip(*whole, strict=True)), meta)


@pytest.fixture(scope="module")
def report(sqlite: NewDatabase) -> Iterator[Report]:
    """The report on both versions of the strange survey."""
    with open_strange(sqlite(True)) as found:
        yield found


def list_rows(table: CodeTable, ending: str) -> Iterator[tuple[object, ...]]:
    """The rows of a table, as a file of theirs has them."""
    for part in table.parts():
        for row in part.tolist():
            yield tuple(ABSENT[ending] if cell == MISSING else cell for cell in row)


@pytest.mark.parametrize("language", ["ar", "es"])
@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_another_program_reads_every_value_and_every_label(
    report: Report, ending: str, language: str, tmp_path: Path
) -> None:
    table = label_responses(report, language)
    found = read(report, ending, language, tmp_path)

    assert list(found.rows) == list(list_rows(table, ending))
    assert found.meta.number_rows == report.n == 240
    assert found.meta.file_label == table.label
    most, measure = {"sav": (256, lambda text: len(text.encode())), "dta": (80, len)}[ending]
    for entry in table.variables:
        label, whole = found.meta.column_names_to_labels[entry.name], " ".join(entry.label.split())
        assert label == whole or (label.endswith("…") and whole.startswith(label[:-1]))
        assert measure(label) <= most
        assert (label == whole) == (measure(whole) <= most)
        codes = found.meta.variable_value_labels.get(entry.name, {})
        wanted = {**entry.codes, **({ABSENT[ending]: entry.missing} if entry.missing else {})}
        assert codes.keys() == wanted.keys()
        assert len(set(codes.values())) == len(codes), "two codes look alike"
        for code, text in wanted.items():
            whole = " ".join(text.split())
            assert codes[code] == whole or (
                ending == "sav" and "…" in codes[code] and len(whole.encode()) > 120
            )
    missing = found.meta.missing_ranges if ending == "sav" else found.meta.missing_user_values
    assert (
        sorted(missing)
        == sorted(entry.name for entry in table.variables if entry.missing)
        == ["new", "q_str3"]
    )


def test_labels_are_in_the_language_that_is_asked_for(report: Report, tmp_path: Path) -> None:
    arabic, spanish = (read(report, "dta", code, tmp_path).meta for code in (None, "es"))

    assert arabic.variable_value_labels["q_if"] == {0: "لا", 1: "نعم"}
    assert spanish.variable_value_labels["q_if"] == {0: "No", 1: "Sí"}
    assert spanish.column_names_to_labels["q_str3"] == "¿Una vez?"
    assert spanish.variable_value_labels["level"][0] == "Nada"
    assert arabic.variable_value_labels["new"]["a"] == "Not asked in this version"
    assert spanish.column_names_to_labels["q_all"] == f"Really? [2]; {FAMILY}? [1]"
    with pytest.raises(InputError) as refused:
        reports.write_labelled(report, "dta", "fr", io.BytesIO())
    assert "ar, es" in str(refused.value)


def test_names_are_taken_by_all_programs_and_differ() -> None:
    names = name_variables(
        ["if", "q_if", "town.red", "Town_red", LONG, f"{LONG}.if", f"{LONG}.i", "9", "é", "ok"]
    )

    assert names[:4] == ("q_if", "q_if_2", "town_red", "Town_red_2")
    assert names[4:7] == (LONG[:32], f"{LONG[:30]}_2", f"{LONG[:30]}_3")
    assert names[7:] == ("q_9", "v", "ok")
    assert len({name.lower() for name in names}) == len(names)


def test_the_notes_say_which_column_was_renamed_and_that_reports_are_no_answers(
    report: Report, tmp_path: Path
) -> None:
    for ending in READERS:
        notes = " ".join(read(report, ending, "ar", tmp_path).meta.notes)
        assert "q_if is the column if of the codebook." in notes
        assert "is not an admission" in notes


def test_rows_keep_no_order_of_arrival(sqlite: NewDatabase) -> None:
    rows = [([1, 0], 3), ([0, 1], 2), ([0, 0], 4), ([1, 1], 1)]
    files = []
    for stored in (rows, rows[::-1]):
        database_url = sqlite(True)
        survey = factories.publish(database_url)
        for row in stored:
            factories.store(database_url, survey, [row])
        with factories.writing(database_url) as session:
            found = survey_access.find(session, survey.slug)
            assert found is not None
            report = replace(reports.read(session, found), slug="same")
            for ending in READERS:
                file = io.BytesIO()
                reports.write_labelled(report, ending, None, file)
                files.append(file.getvalue())

    assert files[:2] == files[2:]


def test_large_codes_stand_beside_small_ones(report: Report, tmp_path: Path) -> None:
    """SPSS's bytecode holds numbers to 151; each larger one follows its piece of eight."""
    table = label_responses(report, None)
    raised = replace(
        table, parts=lambda: (part * [1, 1, 97, *[1] * (part.shape[1] - 3)] for part in table.parts())
    )
    raised = replace(raised, variables=[replace(entry, codes={}, most=5000) for entry in table.variables])
    for wide in (raised, replace(raised, parts=lambda: (part + 150 for part in table.parts()))):
        with (tmp_path / "wide.sav").open("wb") as file:
            write_spss(wide, file)
        columns, _ = pyreadstat.read_sav(tmp_path / "wide.sav", output_format="dict", user_missing=True)
        found = [tuple(map(int, row)) for row in zip(*columns.values(), strict=True)]
        assert found == [tuple(row) for part in wide.parts() for row in part.tolist()]


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_boxes_of_one_long_question_are_told_apart_and_strata_as_the_csv_calls_them(
    sqlite: NewDatabase, ending: str, tmp_path: Path
) -> None:
    boxes = [{"name": name, "text": name.title()} for name in ("cannabis", "cocaine", "pills")]
    drugs = {"name": "drugs", "kind": "select_multiple", "text": "Which, of all? " * 30, "options": boxes}
    drugs["design"] = {"mechanism": "coin_flip", "epsilon": 3.0}
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition(questions=[drugs]))
    links = factories.plant(database_url, survey.slug, "=cmd\nNorth")
    for link in links.values():
        factories.store(database_url, survey, [([0, 1, 0], 20)], link)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        report = reports.read(session, found)
        labels = read(report, ending, None, tmp_path).meta.column_names_to_labels
        book = reports.write_ddi(report).decode()
    said = [labels[f"drugs_{name}"] for name in ("cannabis", "cocaine", "pills")]
    assert [label.partition(":")[0] for label in said] == ["Cannabis", "Cocaine", "Pills"]
    assert "<catValu>'=cmd</catValu>" in book
