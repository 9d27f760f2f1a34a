"""The examples of the pages on commands, releases, operating and programs run, and do what is said of them."""

import json
import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import click
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from server.cli import main
from server.people import api_tokens
from server.releases.plans.plan_reader import parse_plan
from server.reports.elsewhere import parse_study
from server.store.models import Researcher, Survey
from tests.conftest import NewDatabase
from tests.support import factories, sample_releases
from tests.support.factories import ROOT
from tests.support.r_programs import find_r

WAITS = "waits"
COMMAND = re.compile(r"(?:\.venv/bin/)?python -m server (.+)")


def read(page: str) -> str:
    return (ROOT / "docs" / page).read_text("utf-8")


def blocks(page: str, language: str) -> list[str]:
    return [block.strip() for block in re.findall(rf"```{language}\n(.*?)```", read(page), re.DOTALL)]


def arguments(block: str) -> list[str]:
    found = COMMAND.fullmatch(block)
    assert found, block
    return shlex.split(found[1])


def test_the_estimate_on_the_page_of_commands_is_what_is_printed() -> None:
    (block,) = blocks("commands.md", "sh")
    done = CliRunner().invoke(main, arguments(block))
    assert done.exit_code == 0, done.output
    printed = json.loads(done.output)
    said = re.search(r"share of Yes of ([\d.]+) with a standard error of ([\d.]+)\.\n", read("commands.md"))
    assert said
    assert [round(printed["shares"][1], 4), round(printed["standard_errors"][1], 3)] == [
        float(number) for number in said.groups()
    ]


def test_the_plans_on_the_page_of_releases_are_plans_and_the_table_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_a_survey, of_a_table = blocks("releases.md", "json")
    parse_plan(json.loads(of_a_survey))
    (table,) = blocks("releases.md", "csv")
    (block,) = blocks("releases.md", "sh")
    monkeypatch.chdir(tmp_path)
    Path("plan.json").write_text(of_a_table, "utf-8")
    Path("people.csv").write_text(table + "\n", "utf-8")
    done = CliRunner().invoke(main, arguments(block))
    assert done.exit_code == 0, done.output
    assert Path("people.ledger.json").exists()

    again = CliRunner().invoke(main, arguments(block))
    third = CliRunner().invoke(main, arguments(block))
    assert (again.exit_code, third.exit_code) == (0, 2), "a budget of 2 pays for two runs of 1"


def test_the_backup_on_the_page_of_operating_is_restored(
    sqlite: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = sqlite(True)
    slug = factories.publish(source).slug
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MONEDA_BACKUP_PASSPHRASE", "made up for a test")
    (block,) = [block for block in blocks("operating.md", "sh") if "server backup" in block]
    for line in block.splitlines():
        where, command = re.fullmatch(r"(?:DATABASE_URL=(\S+) )?(.+)", line).groups()  # type: ignore[union-attr]
        done = factories.run(where or source, *arguments(command))
        assert done.exit_code == 0, done.output
    with closing(sqlite3.connect("elsewhere/moneda.sqlite3")) as copy:
        assert copy.execute("SELECT slug FROM surveys").fetchall() == [(slug,)]


def test_the_program_on_the_page_for_programs_runs(
    installation: factories.Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    number = factories.account(installation.database_url, "ana")
    with factories.writing(installation.database_url) as session:
        researcher = session.get_one(Researcher, number)
        token = api_tokens.create_token(session, researcher, None, "editor", "example", "1")
    monkeypatch.setenv("MONEDA_URL", installation.url)
    monkeypatch.setenv("MONEDA_TOKEN", token)
    program: dict[str, Any] = {}
    report, release, _verify = blocks("api.md", "python")
    # Nobody answers meanwhile, and a report of nobody has nothing to say: what comes later is only defined.
    before, later = report.split("# Later")
    exec(before, program)  # noqa: S102 - the example itself
    links = capsys.readouterr().out.splitlines()
    assert [line.rpartition(" ")[0] for line in links] == ["None", "['Morning']", "['Evening']"]
    slug = program["survey"]["slug"]
    version = program["call"]("GET", program["at"])["versions"][0]["sha256"]
    published = factories.Published(slug, version, program["definition"])
    factories.store(installation.database_url, published, [((1,), 20)])
    sample_releases.grant(installation.database_url, slug, 2)
    exec("# Later" + later, program)  # noqa: S102
    assert capsys.readouterr().out == "20 responses\n"
    exec(release, program)  # noqa: S102
    plan = {"format": 1, "items": [{"kind": "count"}], "epsilon": 1}
    assert [entry["epsilon"] for entry in program["release"](program["at"], plan)] == [1.0]
    program["site"].close()


def test_the_program_in_r_does_the_same(installation: factories.Served, tmp_path: Path) -> None:
    """Real R: it prints the links, waits until people have answered, and goes on."""
    number = factories.account(installation.database_url, "ana")
    with factories.writing(installation.database_url) as session:
        researcher = session.get_one(Researcher, number)
        token = api_tokens.create_token(session, researcher, None, "editor", "example", "1")
    (program,) = blocks("api.md", "r")
    before, later = program.split("# Later")
    pause = f'cat("{WAITS}\\n"); people <- file("stdin"); invisible(readLines(people, 1))\n# Later'
    script = tmp_path / "example.R"
    script.write_text(before + pause + later, "utf-8")
    running = find_r().start(script, {"MONEDA_URL": installation.url, "MONEDA_TOKEN": token})
    assert running.stdout is not None
    lines = []
    while (line := running.stdout.readline().strip()) not in (WAITS, ""):
        lines.append(line)
    if line == "":
        raise AssertionError(running.communicate()[1])
    shown = [re.fullmatch(r"(\w*) ?(http://\S+/s/\w+)", line) for line in lines]
    assert [found[1] if found else None for found in shown] == ["", "Morning", "Evening"], lines
    with factories.writing(installation.database_url) as session:
        (found,) = session.scalars(sa.select(Survey))
        assert found.current is not None
        published = factories.Published(found.slug, found.current.sha256, json.loads(found.current.published))
    factories.store(installation.database_url, published, [((1,), 20)])
    output, errors = running.communicate("\n")
    assert (running.returncode, output.splitlines()[-1:]) == (0, ["20 responses"]), errors


def test_published_figures_come_out_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """To their last published digit, from tables of the published counts; the rest of each row as it is printed."""
    monkeypatch.chdir(tmp_path)
    command = arguments(blocks("analyse.md", "sh")[-1])
    row = re.compile(r"\| `(\w+)`: (\d+) `yes`, (\d+) `no` \| ([\d.]+) % \| ([^|]+) \| ([^|]+) \| ([^|]+) \|")
    rows = row.findall(read("analyse.md"))
    assert len(rows) == 2
    for study, (name, yes, no, published, *printed) in zip(
        blocks("analyse.md", "json")[-2:], rows, strict=True
    ):
        Path("study.json").write_text(study, "utf-8")
        Path("counts.csv").write_text("\n".join([name, *["yes"] * int(yes), *["no"] * int(no)]), "utf-8")
        done = CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"}).invoke(main, command)
        assert done.exit_code == 0, done.output
        (line,) = (line for line in done.stdout.splitlines() if line.startswith(name))
        assert re.split(r"  +", line)[4:] == printed
        decimals = len(published.partition(".")[2])
        assert f"{100 * float(printed[0]):.{decimals}f}" == published


EXAMPLES = ROOT / "docs" / "examples"
MADE_ANEW = "made_anew_from_published_figures"
AGAIN = re.compile(
    r"\| \[`(\w+)`\]\(examples/\w+\.json\)(?:.* at (\w+))?: (\d+) `(\w+)`, (\d+) `(\w+)` "
    r"\| ([\d.]+) %(?: \(([\d.]+) to ([\d.]+)\))? \| ([\d.]+) \| ([\d.]+) \|"
)


def test_published_surveys_come_out_again_from_tables_made_anew() -> None:
    """Estimates to their last published digit, and intervals of ± 1.96 standard errors. The next test is the twin."""
    rows = AGAIN.findall(read("analyse.md"))
    assert len(rows) == 4
    for name, place, yes, first, no, second, share, low, high, *printed in rows:
        data, study = (EXAMPLES / f"{name}.{ending}" for ending in ("csv", "json"))
        header, *lines = data.read_text("utf-8").splitlines()
        reports = [line.split(",")[-2] for line in lines if place in line or "stratum" not in header]
        assert header.endswith(f",{MADE_ANEW}")
        assert [reports.count(first), reports.count(second), len(reports)] == [
            int(yes),
            int(no),
            int(yes) + int(no),
        ]
        stated = json.loads(study.read_text("utf-8"))
        assert stated["survey"]["introduction"].startswith("Made anew from published figures: no row")
        (line,) = read_estimates(data, study, f" {len(reports)} ")
        assert re.split(r"  +", line)[4:6] == printed
        decimals = len(share.partition(".")[2])
        value, error = map(float, printed)
        assert f"{100 * value:.{decimals}f}" == share
        if low:
            assert [f"{100 * (value + side * 1.96 * error):.1f}" for side in (-1, 1)] == [low, high]


def read_estimates(data: Path, study: Path, n: str) -> list[str]:
    """The lines of the terminal's table for so many rows."""
    nowhere = CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"})
    done = nowhere.invoke(main, ["analyse", str(data), "--study", str(study)])
    assert done.exit_code == 0, done.output
    return [line for line in done.stdout.splitlines() if n in line and "yes" in line]


PUBLISHED = {"Daegu": (43.6, 39.4, 47.9), "Doha": (57.1, 52.4, 61.8), "supplements": (70.1, 65.6, 74.7)}


def test_the_published_figures_leave_no_other_chance_and_one_other_division() -> None:
    """Of 2,167 people, as the page says: every division and each of six chances tried, Wald's interval."""
    found = {
        truth: [
            first
            for first in range(600, 1600)
            if fits("Daegu", first, truth)
            and all(fits(name, 2167 - first, truth) for name in ("Doha", "supplements"))
        ]
        for truth in (1 / 2, 3 / 5, 2 / 3, 7 / 10, 3 / 4, 4 / 5)
    }
    assert found == {1 / 2: [], 3 / 5: [], 2 / 3: [1191, 1202], 7 / 10: [], 3 / 4: [], 4 / 5: []}


def fits(name: str, people: int, truth: float) -> bool:
    """Whether some number of Yes gives the three published figures, with a harmless question of one half."""
    share, *ends = PUBLISHED[name]
    near = round(people * (truth * share / 100 + (1 - truth) / 2))
    for yes in range(near - 2, near + 3):
        seen = yes / people
        value, error = (seen - (1 - truth) / 2) / truth, (seen * (1 - seen) / people) ** 0.5 / truth
        figures = [100 * (value + side * 1.96 * error) for side in (0, -1, 1)]
        if [round(figure, 1) for figure in figures] == [share, *ends]:
            return True
    return False


def test_models_find_what_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the rows of the page's table, one table below the other: a model leaves out rows of others."""
    monkeypatch.chdir(tmp_path)
    page = read("analyse.md").partition("\n## Models\n")[2].partition("\n### ")[0]
    study, command = blocks("analyse.md", "json")[2], arguments(blocks("analyse.md", "sh")[2])
    tables = re.findall(r"^\| ([\w, ]+): (\d+ of .+?) \|", page, re.MULTILINE)
    columns = list(dict.fromkeys(name for names, _ in tables for name in names.split(", ")))
    rows = [",".join(columns)]
    for names, counted in tables:
        for each in counted.split("; "):
            times, _, cells = each.partition(" of ")
            row = dict(zip(names.split(", "), cells.split(", "), strict=True))
            rows += [",".join(row.get(name, "") for name in columns)] * int(times)
    Path("study.json").write_text(study, "utf-8")
    Path("forms.csv").write_text("\n".join(rows), "utf-8")
    done = CliRunner(env={"DATABASE_URL": "sqlite:////proc/nowhere/moneda.sqlite3"}).invoke(main, command)
    assert done.exit_code == 0, done.output
    printed = re.findall(r"^(\w+) +(\S+) +(\S+) +(\S+ to \S+)$", done.stdout, re.MULTILINE)
    shown = re.findall(r"^\| .+ \| `(\w+)` \| (\S+) \| (\S+) \| (\S+ to \S+) \|$", page, re.MULTILINE)
    assert len(shown) >= 7
    assert sorted(shown) == sorted(printed)


def test_the_study_file_and_how_its_rows_were_drawn_are_read_together() -> None:
    study, sampling = (json.loads(block) for block in blocks("analyse.md", "json")[:2])
    read = parse_study(json.dumps({**study, **sampling}).encode())
    assert read.headers[-3:] == ("w", "school", "region")
    assert read.sampling is not None
    assert read.sampling.margins[0].shares == (51, 49)


@pytest.mark.parametrize(
    ("page", "number"),
    [
        ("verify.md", 6),
        ("verificar.md", 6),
        ("analyse.md", 5),
        ("analizar.md", 5),
        ("privacy/planning.md", 7),
        ("paper.md", 2),
        ("papel.md", 2),
    ],
)
def test_commands_are_called_as_they_are_made(page: str, number: int) -> None:
    """What they do is tested in `test_verify`, `test_analyse`, `test_planning_power` and beside them."""
    lines = [line for block in blocks(page, "sh") for line in block.strip().splitlines()]
    assert len(lines) == number
    for line in lines:
        called = COMMAND.fullmatch(line)
        assert called is not None, line
        command, arguments = main, shlex.split(called[1])
        while isinstance(command, click.Group):
            found = command.get_command(click.Context(command), arguments.pop(0))
            assert found is not None, line
            command = found
        command.make_parser(click.Context(command)).parse_args(arguments)


def test_there_is_no_example_that_no_test_runs() -> None:
    """Those of the privacy library are run by its own tests; the hash of the manual is computed by `test_docs`."""
    folder = ROOT / "docs"
    pages = [str(path.relative_to(folder)) for path in folder.rglob("*.md")]
    shown = {page: blocks(page, "sh") for page in pages if blocks(page, "sh")}
    assert {page: len(found) for page, found in shown.items()} == {
        **{"commands.md": 1, "comandos.md": 1, "releases.md": 1, "publicaciones.md": 1},
        **{"operating.md": 1, "operacion.md": 1, "definition.md": 1, "definicion.md": 1},
        **{"verify.md": 5, "verificar.md": 5, "analyse.md": 4, "analizar.md": 4, "privacy/planning.md": 1},
        **{"paper.md": 2, "papel.md": 2, "guide/frequent-questions.md": 1, "guia/preguntas-frecuentes.md": 1},
        "privacy/planificacion.md": 1,
    }
    readme = re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
    assert [block.strip() for block in readme] == ["make run", "make demo", "make test"]
