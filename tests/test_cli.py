"""`python -m server`: what each command does, in a process of its own."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.cli.simulate_command import run_simulation
from server.inputs import InputError
from server.people import survey_access
from server.simulation import REHEARSAL_LIMIT, Assumptions
from server.store.engines import TakingTurns, make_engine, open_session
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import dump, moneda

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"
"""A database that cannot be made: what works here touches none."""


def _run(database_url: str, *arguments: str, text: str = "") -> Result:
    """Run in this process, which is quicker than one for each command."""
    result = CliRunner(env={"DATABASE_URL": database_url}).invoke(main, arguments, input=text)
    assert result.exit_code == 0, result.output
    return result


def _json(database_url: str, *arguments: str, text: str = "") -> Any:
    return json.loads(_run(database_url, *arguments, "--json", text=text).stdout)


@pytest.fixture
def url(sqlite: NewDatabase) -> str:
    """A SQLite database that is not there yet: every command migrates first."""
    return sqlite(False)


def test_survey_goes_from_definition_to_closed(new_database: NewDatabase, tmp_path: Path) -> None:
    url = new_database(False)
    document = factories.definition(
        [0.25, 0.1, 0.4], title="¿Exámenes? – 1 €", introduction="Línea 1\nLínea 2"
    )
    file = tmp_path / "survey.json"
    file.write_text(json.dumps(document), "utf-8")

    imported = _json(url, "survey", "import", str(file))
    slug = imported["survey"]
    assert (imported["state"], imported["version"], imported["sha256"]) == ("draft", None, None)
    assert imported["path"] == f"/s/{slug}"
    assert imported["title"] == document["title"]
    assert json.loads(_run(url, "survey", "export", slug).stdout) == document

    published = _json(url, "survey", "publish", slug)
    assert (published["state"], published["version"], len(published["sha256"])) == ("open", 1, 64)
    assert _json(url, "survey", "publish", slug) == published  # again, unchanged: the same version

    assert _json(url, "survey", "close", slug)["state"] == "closed"
    refused = CliRunner(env={"DATABASE_URL": url}).invoke(main, ["survey", "publish", slug])
    assert (refused.exit_code, "state" in refused.stderr) == (2, True)


def test_command_runs_in_a_process_of_its_own(url: str) -> None:
    done = moneda(url, "survey", "import", "-", "--json", text=json.dumps(factories.definition()))

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["survey"] == dump(url)["surveys"][0][1]
    refused = moneda(NOWHERE, "survey", "export", "any")
    assert (refused.returncode, refused.stdout, "Traceback" in refused.stderr) == (2, "", False)


def test_whoever_reads_no_more_takes_nothing_back(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as nobody:
        done = subprocess.run(
            [sys.executable, "-m", "server", "survey", "publish", slug],
            env={**os.environ, "DATABASE_URL": url},
            stdout=nobody,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert (done.returncode, b"Traceback" in done.stderr) == (1, False)
    # What is still a draft cannot be closed.
    assert _json(url, "survey", "close", slug)["state"] == "closed"


def test_export_is_imported_as_the_same_survey(url: str) -> None:
    document = factories.definition([0.3], title="=1+1", language="es")
    first = _json(url, "survey", "import", "-", text=json.dumps(document))["survey"]
    exported = _run(url, "survey", "export", first).stdout
    second = _json(url, "survey", "import", "-", text=exported)["survey"]

    assert second != first
    assert _run(url, "survey", "export", second).stdout == exported
    versions = {_json(url, "survey", "publish", slug)["sha256"] for slug in (first, second)}
    assert len(versions) == 1


def test_simulated_respondents_mark_the_survey(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)

    done = _json(url, "simulate", slug, "--respondents", "400", "--share", "q1=1", "--share", "q2=0")

    assert done == {"survey": slug, "simulated_respondents": 400}
    rows = dump(url)["responses"]
    assert len(rows) == 400
    assert _json(url, "report", slug)["n"] == 390
    _json(url, "survey", "close", slug)
    report = _json(url, "report", slug)
    assert (report["n"], report["simulated"]) == (400, True)
    # Reported "yes" with probability 3/4 and 2/5; six standard deviations: a false alarm in 10^9 each.
    first, second = (question["counts"][1] for question in report["questions"])
    assert abs(first - 300) < 52
    assert abs(second - 160) < 59


def test_simulation_never_mixes_with_responses_of_people(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    survey = factories.publish(url, factories.definition(title="Again"), slug)
    with factories.serving(url) as served:
        assert factories.ask(served.url + survey.url, survey.response())[0] == 201
    before = dump(url)

    refused = factories.run(url, "simulate", slug, "--respondents", "3")

    assert refused.exit_code == 2
    assert "real people" in refused.stderr
    assert dump(url) == before


def test_others_write_while_people_are_made_up_and_are_not_mixed_with_them(database_url: str) -> None:
    """Drawing a million takes seconds, in which nobody waits; who answers the same survey then is noticed."""
    survey = factories.publish(database_url)

    class Turns(TakingTurns):
        def give_way(self) -> None:
            super().give_way()
            factories.store(database_url, survey, [([0, 1], 1)])

    engine = make_engine(database_url)
    with open_session(engine, writes=True) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        with pytest.raises(InputError, match="real people"):
            run_simulation(session, found, 10, Assumptions(), Turns(session))
    engine.dispose()

    assert len(factories.list_responses(database_url)) == 1
    with factories.writing(database_url) as session:
        again = survey_access.find(session, survey.slug)
        assert again is not None
        assert not again.simulated


def test_every_kind_is_simulated_with_shares_and_means(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(every_kind.document()))["survey"]
    before = dump(url)
    assumed = ("--share", "party.red=1", "--share", "paid=0.4", "--mean", "cups=30", "--respondents", "300")

    dry = _run(url, "simulate", slug, *assumed, "--dry-run").stdout

    # Made-up people are drawn at random; that everybody chose red, or entered 30, is not.
    lines = {tuple(line.split()[:2]): line for line in dry.splitlines()}
    assert "1.0000" in lines["party", "red"].split()
    assert "30.0000" in lines["cups", "(mean)"].split()
    assert "These respondents are simulated." in dry
    report = _json(url, "simulate", slug, *assumed, "--dry-run")
    assert (report["n"], report["simulated"]) == (300, True)
    assert dump(url) == before

    _json(url, "survey", "publish", slug)
    assert _json(url, "simulate", slug, *assumed)["simulated_respondents"] == 300
    table = _run(url, "report", slug).stdout
    names = [line.split()[:2] for line in table.splitlines()[1:]]
    assert ["city", "madrid"] in names
    assert ["mugs", "(mean)"] in names
    assert ["coin", "no"] not in names


@pytest.mark.parametrize(
    ("counts", "share", "error", "impossible"),
    [("600,400", 0.3, 0.030999, False), ("700,300", 0.1, 0.028997, False), ("800,200", -0.1, None, True)],
)
def test_estimate_needs_no_database(counts: str, share: float, error: float | None, impossible: bool) -> None:
    """Values of the first issue: (yes/n - 1/4) / (1/2), and sqrt(q (1 - q) / (n - 1)) / (1/2)."""
    result = _json(NOWHERE, "estimate", "--gamma", "0.25", "--counts", counts)

    assert result["n"] == 1000
    assert result["shares"] == pytest.approx([1 - share, share], abs=1e-12)
    if error is not None:
        assert result["standard_errors"] == pytest.approx([error, error], abs=5e-7)
    assert result["impossible"] is impossible
    assert result["intervals"][1][0] < share < result["intervals"][1][1]
    table = _run(NOWHERE, "estimate", "--gamma", "0.25", "--counts", counts)
    assert f"{share:.4f}" in table.stdout
    warning = "Outside 0 to 1: no true shares give such reports in expectation; chance hardly explains it"
    assert (warning in table.stdout) is impossible


@pytest.mark.parametrize(
    ("arguments", "counts", "shares"),
    [
        # Keeps 1/2, else 1/6: (0.4 - 1/6) / (1/3) and so on.
        (("--mechanism", "k_ary", "--options", "4"), "40,30,20,10", [0.7, 0.4, 0.1, -0.2]),
        # Pr(1 | 1) = 1/2 and Pr(1 | 0) = 1/4: (0.3 - 0.25) / 0.25.
        (("--mechanism", "unary"), "70,30", [0.8, 0.2]),
        (("--mechanism", "coin_flip"), "60,40", [0.7, 0.3]),
        (("--design", "[[0.75, 0.25], [0.5, 0.5]]"), "70,30", [0.8, 0.2]),
        (("--design", f"[[{3 << 30}, {1 << 30}], [{1 << 30}, {3 << 30}]]"), "60,40", [0.7, 0.3]),
    ],
)
def test_estimate_takes_any_design(arguments: tuple[str, ...], counts: str, shares: list[float]) -> None:
    if "--mechanism" in arguments:
        arguments += ("--epsilon", "1.0986122886681098")
    result = _json(NOWHERE, "estimate", *arguments, "--counts", counts)
    assert result["shares"] == pytest.approx(shares, abs=1e-7)
    table = _run(NOWHERE, "estimate", *arguments, "--counts", counts).stdout
    assert all(f"{share:.4f}" in table for share in shares)


def test_estimate_takes_a_design_from_a_file_and_gives_means(tmp_path: Path) -> None:
    file = tmp_path / "design.json"
    file.write_text("[[0.75, 0.25], [0.25, 0.75]]")
    asked = ("estimate", "--design", str(file), "--counts", "600,400", "--low", "0", "--high", "40")
    # 40 times the share of high, 0.3; and its standard error, 0.030999.
    result = _json(NOWHERE, *asked)["mean"]
    assert result["mean"] == pytest.approx(12)
    assert result["standard_error"] == pytest.approx(40 * 0.030999, abs=1e-4)
    assert "12.0000" in _run(NOWHERE, *asked).stdout
    three = (
        "estimate",
        "--mechanism",
        "k_ary",
        "--options",
        "3",
        "--epsilon",
        "2",
        "--counts",
        "420,330,250",
    )
    mean = _json(NOWHERE, *three, "--low", "0", "--high", "40", "--prefer-not-to-say")["mean"]
    assert (mean["mean"], mean["answered"]) == pytest.approx((16.648, 0.78913), abs=1e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "one of --gamma, --mechanism and --design must be given; given: none"),
        (("--gamma", "0.2", "--design", "[]"), "must be given; given: --gamma and --design"),
        (("--mechanism", "k_ary"), "--mechanism needs --epsilon; it is missing"),
        (
            ("--mechanism", "k_ary", "--options", "1", "--epsilon", "1"),
            "options must be a whole number in [2, 256]",
        ),
        (("--mechanism", "k_ary", "--options", "3", "--epsilon", "1"), "counts must have shape (3,)"),
        (("--mechanism", "kary", "--epsilon", "1"), "'kary' is not one of"),
        (("--design", "[1, 2"), "--design must be JSON; it is not"),
        (("--design", "[[1, 2], 3]"), "must be a list of rows, each a list of numbers; it is [[1, 2], 3]"),
        (("--design", "[[1, 2], [3]]"), "matrix must have rows of one length"),
        (("--design", '[["a", "b"], ["c", "d"]]'), 'a list of numbers; it is [["a", "b"], ["c", "d"]]'),
        (("--design", "[" * 100_000), "--design must not be nested this deeply"),
        (("--design", "{}"), "must be a list of rows, each a list of numbers; it is {}"),
        (("--design", "[]"), "must be a list of rows, each a list of numbers; it is []"),
        (("--design", "/nowhere/x.json"), "--design must be a file or JSON; '/nowhere/x.json' is neither"),
        (("--gamma", "0.2", "--low", "1"), "--low and --high must be given together; one is missing"),
        (("--gamma", "0.2", "--low", "1", "--high", "0"), "low and high must be finite with low < high"),
        (
            ("--gamma", "0.2", "--low", "0", "--high", "1", "--prefer-not-to-say"),
            "design must have at least 3 truths",
        ),
    ],
)
def test_bad_design_is_refused(arguments: tuple[str, ...], message: str) -> None:
    command = ["estimate", *arguments, "--counts", "60,40"]
    result = CliRunner(env={"DATABASE_URL": NOWHERE}).invoke(main, command)
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert message in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--share", "party.pink=0.1"), "share: must be one of coin, mirror, dice"),
        (("--share", "party=0.1"), "it is party"),
        (("--share", "party.red=2"), "share party.red: must be from 0 to 1; it is 2.0"),
        (("--share", "party.red=0.7", "--share", "party.blue=0.4"), "share party: must add up to at most 1"),
        (("--mean", "cups=-11"), "mean cups: must be from -10 to 30; it is -11.0"),
        (("--mean", "coin=1"), "mean: must be one of cups, mugs, bins; it is coin"),
        (("--mean", "cups"), "mean must be NAME=NUMBER; it is 'cups'"),
        (
            ("--dry-run", "--respondents", str(REHEARSAL_LIMIT + 1)),
            f"respondents: must be from 1 to {REHEARSAL_LIMIT}; it is {REHEARSAL_LIMIT + 1}",
        ),
    ],
)
def test_bad_assumption_is_refused(arguments: tuple[str, ...], message: str, url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(every_kind.document()))["survey"]
    _json(url, "survey", "publish", slug)
    before = dump(url)
    result = CliRunner(env={"DATABASE_URL": url}).invoke(main, ["simulate", slug, *arguments])
    assert (result.exit_code, "Traceback" in result.output) == (2, False)
    assert message in " ".join(result.stderr.split())
    assert dump(url) == before


def test_estimate_from_one_report_has_no_standard_error() -> None:
    result = _json(NOWHERE, "estimate", "--gamma", "0.25", "--counts", "0,1")

    assert (result["n"], result["standard_errors"]) == (1, [None, None])


@pytest.mark.parametrize("kind", ["html", "csv", "json", "responses", "codebook"])
def test_report_is_the_same_in_a_file_and_on_standard_output(kind: str, url: str, tmp_path: Path) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    _json(url, "simulate", slug, "--respondents", "20")
    _json(url, "survey", "close", slug)
    file = tmp_path / "report"

    printed = _run(url, "report", slug, "--format", kind)
    written = _run(url, "report", slug, "--format", kind, "--output", str(file))

    assert written.stdout == ""
    assert file.read_bytes() == printed.stdout_bytes
    if kind in ("csv", "responses", "codebook"):
        rows = [row for row in csv.reader(io.StringIO(printed.stdout)) if "disclosure" not in row]
        assert len(rows) == {"csv": 5, "responses": 21, "codebook": 9}[kind]


def test_report_table_and_languages(url: str) -> None:
    slug = _json(url, "survey", "import", "-", text=json.dumps(factories.definition()))["survey"]
    _json(url, "survey", "publish", slug)
    empty = _run(url, "report", slug)
    _json(url, "simulate", slug, "--respondents", "19")
    few = _run(url, "report", slug)
    assert few.stdout == empty.stdout + "These respondents are simulated.\n"
    assert "Fewer than 20 more responses" in empty.stdout
    _json(url, "simulate", slug, "--respondents", "5")

    table = _run(url, "report", slug).stdout
    assert table.splitlines()[1].split()[:3] == ["q1", "yes", "14"]
    assert "simulated" in table
    pages = [
        _run(url, "report", slug, "--format", "html", "--language", each).stdout for each in ("en", "es")
    ]
    assert [f'<html lang="{each}">' in page for each, page in zip(("en", "es"), pages, strict=True)] == [
        True,
        True,
    ]


def test_commands_explain_themselves() -> None:
    for command in (
        [],
        ["serve"],
        ["demo"],
        ["survey"],
        ["survey", "import"],
        ["simulate"],
        ["estimate"],
        ["report"],
    ):
        done = _run(NOWHERE, *command, "--help")
        assert (done.stderr, "Usage: " in done.stdout) == ("", True), command
    assert _run(NOWHERE, "--version").stdout.startswith("Moneda, version ")
