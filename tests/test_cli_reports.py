"""`python -m server report`: every format, internal and public."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import NamedTemporaryFile

import openpyxl
import pypdf
import pyreadstat
import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.output import typesetting
from server.reports.formats import FORMATS
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import ROOT, dump, environment

READERS = {"sav": pyreadstat.read_sav, "dta": pyreadstat.read_dta}
TITLE = "Exámenes – ¿sí?"
PLAN = {"format": 1, "items": [{"kind": "histogram", "question": "q1"}], "epsilon": "0.5"}
N = 437
"""Responses; so many that no other number of a report is likely to be the same."""


def run(url: str, *arguments: str, text: str = "") -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, arguments, input=text)


def write_report(url: str, *arguments: str) -> bytes:
    done = run(url, "report", *arguments)
    assert done.exit_code == 0, done.output
    return done.stdout_bytes


@pytest.fixture(scope="module")
def url(sqlite: NewDatabase) -> str:
    return sqlite(True)


@pytest.fixture(scope="module")
def slug(url: str) -> str:
    """A survey with responses and a release."""
    survey = factories.publish(url, factories.definition(title=TITLE))
    factories.store(url, survey, [([0, 0], 200), ([1, 0], 137), ([1, 1], 100)])
    run(url, "release", survey.slug, "--budget-epsilon", "1")
    done = run(url, "release", survey.slug, "--plan", "-", "--yes", text=json.dumps(PLAN))
    assert done.exit_code == 0, done.output
    return survey.slug


def text_of(kind: str, body: bytes) -> str:
    """What a reader of this format finds."""
    if kind == "pdf":
        return " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(body)).pages)
    if kind == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(body))
        return " ".join(
            str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row
        )
    if kind in READERS:
        with NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            return " ".join(READERS[kind](file.name, output_format="dict")[1].column_names)
    if kind == "microdata":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return " ".join(archive.read(name).decode(errors="replace") for name in archive.namelist())
    return body.decode()


@pytest.mark.parametrize("kind", [*FORMATS, "microdata", "sav", "dta", "ddi"])
def test_every_format_says_the_same_in_a_file_and_on_standard_output(
    kind: str, url: str, slug: str, tmp_path: Path
) -> None:
    before, file = dump(url), tmp_path / "report"
    body = write_report(url, slug, "--format", kind)
    assert write_report(url, slug, "--format", kind, "--output", str(file)) == b""
    assert file.read_bytes() == body
    assert "q1" in text_of(kind, body)
    assert dump(url) == before


def test_several_files_come_from_one_run_in_the_formats_of_their_endings(
    url: str, slug: str, tmp_path: Path
) -> None:
    kinds = {
        **{kind: f".{kind}" for kind in FORMATS},
        "pdf": ".PDF",
        "microdata": ".zip",
        "sav": ".SAV",
        "ddi": ".xml",
    }
    files = {kind: tmp_path / f"report{ending}" for kind, ending in kinds.items()}
    assert (
        write_report(url, slug, *(part for file in files.values() for part in ("--output", str(file)))) == b""
    )
    for kind, file in files.items():
        assert file.read_bytes() == write_report(url, slug, "--format", kind)


def test_a_public_report_comes_in_several_files_too(url: str, slug: str, tmp_path: Path) -> None:
    page, table = tmp_path / "report.html", tmp_path / "report.csv"
    write_report(url, slug, "--public", "--output", str(page), "--output", str(table))
    assert page.read_bytes() == write_report(url, slug, "--public", "--format", "html")
    assert table.read_bytes() == write_report(url, slug, "--public", "--format", "csv")


def test_a_report_is_read_from_either_database(new_database: NewDatabase) -> None:
    url = new_database(True)
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 0], 30), ([1, 1], 20)])
    assert json.loads(write_report(url, survey.slug, "--json"))["n"] == 50
    assert "50" in write_report(url, survey.slug).decode()
    assert json.loads(write_report(url, survey.slug, "--public", "--json"))["entries"] == []


@pytest.mark.parametrize("kind", [entry.ending for entry in FORMATS.values() if entry.worded])
def test_documents_are_in_the_language_that_is_asked_for(kind: str, url: str, slug: str) -> None:
    english, spanish = (
        text_of(kind, write_report(url, slug, "--format", kind, "--language", code)) for code in ("en", "es")
    )
    assert ("437 responses" in english, "437 respuestas" in spanish) == (True, True)
    assert TITLE in english
    assert TITLE in spanish


@pytest.mark.parametrize("kind", FORMATS)
def test_the_public_report_says_what_was_released_and_no_exact_number(kind: str, url: str, slug: str) -> None:
    """Of the answers, 200 and 237 were reported: no noisy number is 437 but with probability exp(-100)."""
    ledger = json.loads(run(url, "release", slug, "--json").stdout)
    (entry,) = ledger["entries"]
    numbers = [figure["value"] for figure in entry["figures"] if figure["statistic"] == "reports"]

    public = text_of(kind, write_report(url, slug, "--public", "--format", kind))

    assert all(str(number) in public.replace(",", "") for number in numbers)
    exact = re.compile(rf"(?<![\w.]){N}(?![\w.])")
    assert exact.search(text_of(kind, write_report(url, slug, "--format", kind)))
    assert not exact.search(public)


def test_public_tables_are_those_of_the_ledger(url: str, slug: str) -> None:
    rows = list(csv.DictReader(io.StringIO(write_report(url, slug, "--public", "--format", "csv").decode())))
    figures = json.loads(run(url, "release", slug, "--json").stdout)["entries"][0]["figures"]
    assert len([row for row in rows if row["statistic"] != "disclosure"]) == len(figures)
    assert json.loads(write_report(url, slug, "--public", "--json"))


def test_no_interval_is_said_to_hold_always(url: str) -> None:
    """A confidence of 99.99 % is no 100 %."""
    survey = factories.publish(url)
    factories.store(url, survey, [([0, 0], 30), ([1, 1], 20)])
    run(url, "release", survey.slug, "--budget-epsilon", "1")
    plan = json.dumps({**PLAN, "confidence": 0.9999})
    assert run(url, "release", survey.slug, "--plan", "-", "--yes", text=plan).exit_code == 0

    public = write_report(url, survey.slug, "--public", "--format", "html").decode()

    assert "their intervals (99.99\N{NO-BREAK SPACE}%) hold coins, sampling and noise together" in public
    assert not re.search(r"100\s?%\)|100\s?% interval", public)


def test_no_coin_is_said_to_always_or_never_tell_the_truth(url: str) -> None:
    """tanh(epsilon / 2) / 2: 0.499999998 for 20, and 0.0000125 for each of 20 boxes that share 0.001."""
    boxes = [{"name": f"o{place}", "text": f"O{place}"} for place in range(20)]
    entries = [
        {"name": name, "kind": "select_multiple", "text": name, "options": boxes[:count]}
        | {"design": {"mechanism": "coin_flip", "epsilon": epsilon}}
        for name, count, epsilon in (("strong", 1, 20), ("weak", 20, 0.001), ("usual", 1, 1))
    ]
    survey = factories.publish(url, factories.definition(questions=entries))
    factories.store(url, survey, [([0] * 22, 30)])

    page = write_report(url, survey.slug, "--format", "html").decode()

    assert re.findall(r"γ = ([\d.]+)", page) == ["0.499999998", "0.00001", "0.2311"]


def test_a_survey_without_releases_has_a_public_report_that_says_so(url: str) -> None:
    survey = factories.publish(url)
    assert (
        "Nothing was released yet." in write_report(url, survey.slug, "--public", "--format", "html").decode()
    )


def test_a_terminal_gets_no_bytes_that_are_no_text(url: str, slug: str) -> None:
    terminal, own = pty.openpty()
    with os.fdopen(terminal, "rb"), os.fdopen(own, "wb") as screen:
        done = subprocess.run(
            [sys.executable, "-m", "server", "report", slug, "--format", "pdf"],
            cwd=ROOT,
            env=environment(url),
            stdout=screen,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 2
    assert "--output must be given with --format pdf" in done.stderr


def test_a_pdf_that_takes_too_long_is_refused_and_leaves_no_file(
    url: str, slug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typesetting, "LONGEST", 0)
    done = run(url, "report", slug, "--output", str(tmp_path / "report.pdf"))
    assert done.exit_code == 2
    assert "document: took more than 0 seconds to make" in done.stderr
    assert "take another format" in done.stderr
    assert not list(tmp_path.iterdir())


def test_contradictions_are_refused(url: str, slug: str, tmp_path: Path) -> None:
    draft = factories.draft(url, factories.definition())
    for arguments, said in [
        ((slug, "--public"), "--public needs --format, one of html, pdf, xlsx, csv, json; it is missing"),
        ((slug, "--public", "--format", "responses"), "one of html, pdf, xlsx, csv, json; it is responses"),
        ((slug, "--public", "--format", "microdata"), "it is microdata"),
        (
            (slug, "--public", "--format", "csv", "--version", "1"),
            "--version must not be given with --public",
        ),
        ((draft, "--public", "--format", "csv"), "must be published first"),
        (
            (slug, "--format", "pdf", "--output", str(tmp_path / "no" / "x.pdf")),
            "--output must be a new file that can be written",
        ),
        (
            (slug, "--output", str(tmp_path / "x")),
            "--output must end in one of .html, .pdf, .xlsx, .csv, .json, .zip, .sav, .dta, .xml, or --format say",
        ),
        (
            (
                slug,
                "--format",
                "csv",
                "--output",
                str(tmp_path / "x.csv"),
                "--output",
                str(tmp_path / "y.csv"),
            ),
            "--format must not be given with more than one --output, whose endings say it; it is csv",
        ),
        ((slug, "--public", "--output", str(tmp_path / "x.zip")), "it is microdata"),
        (
            (slug, "--format", "csv", "--labels", "en"),
            "--labels needs a file that has some, one of sav, dta; it is en",
        ),
        (
            (slug, "--output", str(tmp_path / "x.sav"), "--labels", "es"),
            "must be one of en, which the survey has",
        ),
    ]:
        done = run(url, "report", *arguments)
        assert (done.exit_code, done.stdout, "Traceback" in done.output) == (2, "", False)
        assert said in " ".join(done.stderr.split())
    assert list(tmp_path.iterdir()) == []
