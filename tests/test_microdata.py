"""Microdata: scripts in Python and R recompute every estimate of the report from the noisy responses alone."""

import csv
import hashlib
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import numpy as np
import pytest
import yaml
from pyarrow import parquet

from server import reports
from server.inputs import InputError
from server.people import survey_access
from server.reports.elsewhere import parse_study, read_foreign_data
from server.reports.elsewhere.study_file_writer import write_study_file
from server.reports.explaining import explain_answer, of_foreign, of_report
from server.simulation import Assumptions, simulate
from server.study import surveys
from server.study.definitions import Choice
from server.study.definitions.definition_reader import parse_definition
from server.study.kinds import KINDS
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published
from tests.support.r_programs import find_r

TREE = """Spain > Madrid, 600
Spain > =Évora; "north", 200
Peru > Lima > Centre, 1000
Peru > Lima > Callao, 200
Peru > Cusco, 50
Chile > Arica, 40
Chile > Iquique, 30"""
SIZES = {
    "": (40, 25),
    "Spain > Madrid": (120, 80),
    'Spain > =Évora; "north"': (60, 30),
    "Peru > Lima > Centre": (150, 40),
    "Peru > Lima > Callao": (50, 0),
    "Peru > Cusco": (3, 1),
    "Chile > Arica": (20, 4),
    "Chile > Iquique": (0, 33),
}
"""Responses to the first and to the second version, with a minimum of 10.

Few came from Cusco: it and Lima stay unnamed. Few came from Arica the second time: no row may name it and Iquique.
"""
AGAIN = {"Chile > Arica": 16}
"""Responses to the third version, which only has another title: the report, which counts it and the second
together, shows Arica and Iquique.
"""
NO_STRATUM, WITHHELD = "<without stratum>", "<withheld>"
KEYS = ("question", "answer", "statistic", "group", "stratum", "weighting")
NUMBERS = ("n", "estimate", "standard_error", "interval_low", "interval_high")
Table = dict[tuple[str, ...], tuple[float | None, ...]]


@dataclass(frozen=True)
class Ran:
    """What a script printed, and how it ended."""

    status: int
    output: str


@dataclass(frozen=True)
class Case:
    """A report and the folder that its microdata were unpacked into."""

    report: reports.Report
    packed: bytes
    folder: Path

    @property
    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def table(self, name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((self.folder / name).read_text("utf-8"), newline="")))


def make_survey(**changes: Mapping[str, Any]) -> dict[str, Any]:
    """A survey of one question of each encoding; `changes` by name. Two are called as columns that are none's."""
    numbers = {"low": 0, "high": 24, "step": 0.5, "unit": "hours"}
    choice = {"options": every_kind.options({"red": 0, "green": 0, "blue": 0})}
    scale = {"options": every_kind.options({"low": 0, "middle": 0, "high": 0})}
    questions: list[dict[str, Any]] = [
        factories.question("used", '=1+1; "Used",\nor not?', 0.25),
        factories.question("version", "Once?", 0.25),
        _entry("party", "select_one", "k_ary", 2.0, **choice),
        _entry("town", "select_one", "unary", 1.5, **choice),
        _entry("drugs", "select_multiple", "coin_flip", 4.0, **choice, prefer_not_to_say=True),
        _entry("mood", "scale", "ordinal", 2.0, **scale),
        _entry("cups", "number", "stochastic_rounding", 1.5, **numbers),
        _entry("mugs", "number", "stochastic_rounding", 2.5, **numbers, prefer_not_to_say=True),
        factories.question("stratum", "Only at first?", 0.25),
    ]
    kept = [{**question, **changes.get(question["name"], {})} for question in questions]
    return factories.definition(questions=[question for question in kept if "kind" in question])


def _entry(name: str, kind: str, mechanism: str, epsilon: float, **more: Any) -> dict[str, Any]:
    design = {"mechanism": mechanism, "epsilon": epsilon}
    return {"name": name, "kind": kind, "text": f"Question {name}?", "design": design, **more}


def tighten_survey() -> dict[str, Any]:
    """The second version: less is revealed, one question has other words, one is no longer asked, one is new."""
    changed = make_survey(
        used={"design": {"mechanism": "coin_flip", "gamma": 0.2}},
        version={"text": "Twice?"},
        party={"design": {"mechanism": "unary", "epsilon": 1.0}},
        mood={"design": {"mechanism": "ordinal", "epsilon": 1.0}},
        mugs={"design": {"mechanism": "stochastic_rounding", "epsilon": 1.5}},
    )
    added = factories.question("fresh", "New?", 0.25)
    return {**changed, "questions": [*changed["questions"][:-1], added]}


def answer(
    database_url: str, survey: Published, sizes: Mapping[str, int], links: Mapping[str, str], seed: int
) -> None:
    """Keep made-up responses to a version: reports drawn evenly, leaning to the first."""
    draw = random.Random(seed)
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        version = next(each for each in found.versions if each.sha256 == survey.version)
        designs = [design for entry in surveys.definition_of(version).questions for design in entry.designs]
        reports_ = [design.weights.shape[1] for design in designs]
    for path, n in sizes.items():
        rows = [([int(many * draw.random() ** 1.3) for many in reports_], 1) for _ in range(n)]
        if rows:
            factories.store(
                database_url, survey, rows, links.get(path, ""), date(2026, 5, draw.randint(1, 9))
            )


def waves(database_url: str, seed: int = 1) -> Published:
    """Three versions in many strata."""
    first = factories.publish(database_url, make_survey(), minimum=10)
    links = factories.plant(database_url, first.slug, TREE)
    answer(database_url, first, {path: sizes[0] for path, sizes in SIZES.items()}, links, seed)
    second = factories.publish(database_url, tighten_survey(), first.slug)
    answer(database_url, second, {path: sizes[1] for path, sizes in SIZES.items()}, links, seed + 1)
    third = factories.publish(database_url, {**tighten_survey(), "title": "Exams again"}, first.slug)
    answer(database_url, third, AGAIN, links, seed + 2)
    factories.close(database_url, third.slug)
    return third


def by_population(
    database_url: str, tree: str = TREE[: TREE.index("Peru")], sizes: Mapping[str, int] | None = None
) -> Published:
    """One version in strata that all count by their populations."""
    survey = factories.publish(database_url, make_survey(), minimum=10)
    links = factories.plant(database_url, survey.slug, tree)
    known = sizes or {path: SIZES[path][0] for path in links if path in SIZES}
    answer(database_url, survey, known, links, 3)
    factories.close(database_url, survey.slug)
    return survey


def answer_every_kind(database_url: str, respondents: int) -> Published:
    """One version that asks every kind of question under every design."""
    survey = factories.publish(database_url, every_kind.document())
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        told = Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
        for _ in simulate(session, found, respondents, told) if respondents else ():
            pass
    return survey


def zip_microdata(report: reports.Report) -> bytes:
    """The microdata of a report."""
    file = io.BytesIO()
    reports.write_microdata(report, file)
    return file.getvalue()


def make_case(
    database_url: str, survey: Published, folder: Path, number: int | None = None, confidence: float = 0.95
) -> Case:
    """The survey's report, its microdata unpacked."""
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        report = reports.read(session, found, number, confidence)
        packed = zip_microdata(report)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    return Case(report, packed, folder)


@pytest.fixture(scope="module")
def cases(sqlite: NewDatabase, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    """The reports that are recomputed; SQLite only, for everything here happens after reading."""
    folder = tmp_path_factory.mktemp("microdata")
    database_url = sqlite(True)
    two, spain = waves(database_url), by_population(database_url)
    even = by_population(database_url, "A, 70\nB, 70\nC, 70", dict.fromkeys("ABC", 30))
    people = [answer_every_kind(database_url, n) for n in (300, 1, 0)]
    alike = factories.publish(database_url, every_kind.document())
    designs = [design for asked in parse_definition(alike.definition).questions for design in asked.designs]
    factories.store(database_url, alike, [([0] * len(designs), 40)])
    return {
        "versions": make_case(database_url, two, folder / "versions"),
        "one version": make_case(database_url, two, folder / "version", number=1, confidence=0.8),
        "populations": make_case(database_url, spain, folder / "populations"),
        "even populations": make_case(database_url, even, folder / "even"),
        "every kind": make_case(database_url, people[0], folder / "kinds"),
        "one response": make_case(database_url, people[1], folder / "one"),
        "no response": make_case(database_url, people[2], folder / "none"),
        "all alike": make_case(database_url, alike, folder / "alike"),
    }


@pytest.fixture(scope="module")
def twins(cases: Mapping[str, Case], tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Microdata that are wrong: one report turned, another question taken for the same, one population changed.

    And a script that takes few reports for many.
    """
    case, found = cases["versions"], []
    for name, changed in {
        "responses.csv": lambda row, number: {**row, "used": row["used"] if number else 1 - int(row["used"])},
        "codebook.csv": lambda row, _: {**row, "pooled": row["pooled"] and "true"},
        "strata.csv": lambda row, _: {**row, "population": row["population"].replace("600", "601")},
    }.items():
        twin = tmp_path_factory.mktemp("twin") / name.removesuffix(".csv")
        shutil.copytree(case.folder, twin)
        rows = [changed(row, number) for number, row in enumerate(case.table(name))]
        with (twin / name).open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        found.append(twin)
    twin = tmp_path_factory.mktemp("twin") / "few"
    shutil.copytree(case.folder, twin)
    script = twin / "estimate.py"
    script.write_text(script.read_text("utf-8").replace("FEW = 100 ", "FEW = 50 "), "utf-8")
    return [*found, twin]


@pytest.fixture(scope="module")
def numpy_alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path, str], Ran]:
    """Runs estimate.py where there is nothing but Python's own modules and NumPy."""
    only = tmp_path_factory.mktemp("only")
    installed = Path(numpy.__file__).parent
    for part in (installed, installed.with_name("numpy.libs")):
        if part.exists():
            (only / part.name).symlink_to(part)

    def run(folder: Path, word: str) -> Ran:
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(only), "PYTHONUTF8": "1"}
        command = [sys.executable, "-S", "-s", "-W", "error", str(folder / "estimate.py"), word]
        ran = subprocess.run(
            command, env=environment, cwd=only, capture_output=True, text=True, timeout=120, check=False
        )
        assert not ran.stderr
        return Ran(ran.returncode, ran.stdout)

    return run


@pytest.fixture(scope="module")
def in_r(cases: Mapping[str, Case], twins: Sequence[Path]) -> dict[tuple[Path, str], Ran]:
    """What estimate.R printed in each folder, by folder and word."""
    jobs = [(case.folder, "csv") for case in cases.values()]
    jobs += [(cases[name].folder, "compare") for name in ("one version", "one response")]
    jobs += [(twins[0], "compare"), (cases["every kind"].folder, "")]
    found = {}
    for folder, word in jobs:
        ran = find_r().run_alone("estimate.R", folder, *([word] if word else []))
        found[folder, word] = Ran(ran.returncode, ran.stdout + ran.stderr)
    return found


def read_recomputed(ran: Ran) -> Table:
    """What a script printed as CSV."""
    assert ran.status == 0, ran.output
    return table(csv.DictReader(io.StringIO(ran.output, newline="")))


def table(rows: Iterable[Mapping[str, str]]) -> Table:
    """Estimates by what they are of; infinite standard errors, of one response, are nothing."""
    return {
        tuple(row[key] for key in KEYS): tuple(
            float("nan") if row[name] in ("", "inf", "Inf") else float(row[name]) for name in NUMBERS
        )
        for row in rows
    }


def says(case: Case) -> Table:
    """What the report says."""
    return table(row for row in case.table("estimates.csv") if row["n"] not in ("", "0"))


def find_collapsed(case: Case) -> set[tuple[str, ...]]:
    """What it weights with strata that are taken together or not used."""
    return {
        tuple(row[key] for key in KEYS)
        for row in case.table("estimates.csv")
        if row["n"] not in ("", "0") and (row["strata_together"] or row["strata_not_used"])
    }


def find_unnamed(case: Case) -> set[tuple[str, ...]]:
    """What it says of strata that no row names, and of those that count by the populations of such strata."""
    if "strata.csv" not in case.names:
        return set()
    hidden = {row["stratum"] for row in case.table("strata.csv") if row["named"] == "false"}

    def weighs_hidden(key: tuple[str, ...]) -> bool:
        above = f"{key[4]} > " if key[4] else ""
        return key[5] == "population" and any(path.startswith(above) for path in hidden)

    together = find_collapsed(case)
    return {key for key in says(case) if key[4] in hidden or key in together or weighs_hidden(key)}


def agrees(case: Case, found: Table) -> None:
    """To 1e-9; all that the report says but of strata that no row names."""
    hidden = find_unnamed(case)
    expected = {key: values for key, values in says(case).items() if key not in hidden}
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, rel=1e-9, abs=1e-9, nan_ok=True), key
    # Strata that count by their populations are shown once more, each response counting the same; nothing else.
    assert {(*key[:5], "population") for key in found.keys() - expected.keys()} <= says(case).keys()


def test_python_with_numpy_alone_recomputes_every_estimate(
    cases: Mapping[str, Case], numpy_alone: Callable[[Path, str], Ran]
) -> None:
    for case in cases.values():
        agrees(case, read_recomputed(numpy_alone(case.folder, "csv")))
    groups = {key[3:] for key in says(cases["versions"]).keys() - find_unnamed(cases["versions"])}
    assert groups == {
        ("all", "", "responses"),
        ("stratum", "Spain", "population"),
        *(("stratum", path, "responses") for path in list(SIZES)[1:3]),
        # All, Peru and Chile count by strata some of which no row names.
        ("without stratum", "", "responses"),
    }
    assert ("all", "", "population") in {key[3:] for key in says(cases["populations"])}
    # Each answer's share and each mean: 61, and a kind that is added brings its own.
    declared = [*every_kind.true_shares().values(), every_kind.true_means()]
    assert len(says(cases["every kind"])) == sum(map(len, declared))


def test_base_r_recomputes_every_estimate(
    cases: Mapping[str, Case], in_r: Mapping[tuple[Path, str], Ran]
) -> None:
    for case in cases.values():
        agrees(case, read_recomputed(in_r[case.folder, "csv"]))


def test_scripts_compare_themselves_with_the_report_and_notice_what_is_wrong(
    cases: Mapping[str, Case],
    twins: Sequence[Path],
    numpy_alone: Callable[[Path, str], Ran],
    in_r: Mapping[tuple[Path, str], Ran],
) -> None:
    case = cases["versions"]
    hidden = find_unnamed(case)
    few, together = len(hidden), len(find_collapsed(case))
    whole = f"{len(says(case)) - few} estimates compared, largest difference "
    rest = (
        f"{together} more weight strata that are taken together or not used: not recomputed here.\n"
        f"{few - together} more are of strata, or weighted by some, that responses.csv does not name.\n"
    )
    assert min(together, few - together) > 0

    right, *wrong = (numpy_alone(folder, "compare") for folder in (case.folder, *twins))

    assert (right.status, [ran.status for ran in wrong]) == (0, [1, 1, 1, 1])
    for ran in (right, *wrong, in_r[twins[0], "compare"]):
        assert whole in ran.output
        assert rest in ran.output
    assert in_r[twins[0], "compare"].status == 1
    for name in ("one version", "one response"):
        other = cases[name]
        ran = in_r[other.folder, "compare"]
        assert ran.status == 0
        assert ran.output.startswith(f"{len(says(other))} estimates compared, largest difference ")


def test_scripts_print_a_table(
    cases: Mapping[str, Case],
    numpy_alone: Callable[[Path, str], Ran],
    in_r: Mapping[tuple[Path, str], Ran],
) -> None:
    case = cases["every kind"]
    share = says(case)["party", "red", "share", "all", "", "responses"][1]

    for ran in (numpy_alone(case.folder, ""), in_r[case.folder, ""]):
        (line,) = [line.split() for line in ran.output.splitlines() if line.split()[:2] == ["party", "red"]]
        assert float(line[6]) == pytest.approx(share, abs=1e-6)


def test_scripts_write_names_into_files_whatever_the_system_takes_files_for(
    sqlite: NewDatabase, tmp_path: Path
) -> None:
    """As `python estimate.py csv > FILE` does where the system's own letters are few."""
    database_url, tree = sqlite(True), "Évora, 70\nلشبونة, 50"
    survey = by_population(database_url, tree, {"Évora": 30, "لشبونة": 30})
    folder = make_case(database_url, survey, tmp_path).folder
    few = {"PATH": os.environ["PATH"], "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    for script, word in (("estimate.py", "csv"), ("estimate.py", ""), ("fit.py", "used")):
        command = [sys.executable, "-B", script, word]
        ran = subprocess.run(command, cwd=folder, env=few, capture_output=True, timeout=120, check=False)
        assert (ran.returncode, "لشبونة" in ran.stdout.decode()) == (0, True), ran.stderr


def test_parquet_holds_what_the_csv_holds(cases: Mapping[str, Case]) -> None:
    for case in cases.values():
        read = parquet.read_table(case.folder / "responses.parquet")
        cells = [
            ["" if value is None else str(value) for value in column.to_pylist()] for column in read.columns
        ]
        header, *rows = csv.reader(
            io.StringIO((case.folder / "responses.csv").read_text("utf-8"), newline="")
        )
        # In CSV an apostrophe keeps spreadsheets from taking a name for a formula.
        plain = [[cell.replace("; '", "; ") for cell in row] for row in rows]
        assert (header, plain) == (read.column_names, [list(row) for row in zip(*cells, strict=True)])
        assert len(rows) == case.report.n
        whole = [str(field.type) for field in read.schema if field.name not in ("version", "stratum")]
        assert set(whole) == {"uint8"}


def test_rows_name_only_strata_that_may_be_named(cases: Mapping[str, Case]) -> None:
    rows = [(row["version"], row["stratum"]) for row in cases["versions"].table("responses.csv")]

    assert {key: rows.count(key) for key in set(rows)} == {
        **{("1", path or NO_STRATUM): SIZES[path][0] for path in list(SIZES)[:3]},
        **{("2", path or NO_STRATUM): SIZES[path][1] for path in list(SIZES)[:3]},
        ("1", "Peru"): 203,
        ("2", "Peru"): 41,
        ("1", "Chile"): 20,
        ("2", "Chile"): 37,
        ("3", "Chile"): 16,
    }


def test_a_stratum_that_is_withheld_and_none_at_all_are_written_differently(
    sqlite: NewDatabase, tmp_path: Path, numpy_alone: Callable[[Path, str], Ran]
) -> None:
    """With 12 from the survey's own link; and with 2, which hide among those who are withheld."""
    expected = {
        12: {"A": 30, NO_STRATUM: 12, WITHHELD: 10},
        0: {"A": 30, WITHHELD: 10},
    }
    for own, found in expected.items():
        database_url = sqlite(True)
        survey = factories.publish(database_url, minimum=10)
        links = factories.plant(database_url, survey.slug, "A\nB\nC")
        for path, n in {"A": 30, "B": 6, "C": 4, "": own}.items():
            if n:
                factories.store(database_url, survey, [([1, 0], n)], links.get(path, ""))
        factories.close(database_url, survey.slug)
        case = make_case(database_url, survey, tmp_path / str(own))

        rows = [row["stratum"] for row in case.table("responses.csv")]
        assert {value: rows.count(value) for value in rows} == found
        codebook = {row["code"]: row for row in case.table("codebook.csv") if row["kind"] == "stratum"}
        assert set(codebook) == {NO_STRATUM, WITHHELD}
        assert "own link" in codebook[NO_STRATUM]["report_text"]
        assert "may not be named" in codebook[WITHHELD]["report_text"]
        agrees(case, read_recomputed(numpy_alone(case.folder, "csv")))
        told = {key[3] for key in says(case)}
        assert ("without stratum" in told) == (own == 12)


def test_no_stratum_can_be_called_as_what_stands_in_place_of_one(sqlite: NewDatabase) -> None:
    database_url = sqlite(True)
    survey = factories.publish(database_url)
    for name in (NO_STRATUM, WITHHELD):
        with pytest.raises(InputError):
            factories.plant(database_url, survey.slug, name)


def test_the_codebook_names_each_mechanism_and_what_its_parameters_make(cases: Mapping[str, Case]) -> None:
    """The broken twin: with another parameter the chances are others."""
    wrong = 0
    for name in ("versions", "every kind"):
        columns: dict[tuple[str, str], list[dict[str, str]]] = {}
        for row in cases[name].table("codebook.csv"):
            if row["denominator"]:
                columns.setdefault((row["version"], row["column"]), []).append(row)
        answers = Counter((version, rows[0]["question"]) for (version, _), rows in columns.items())
        for (version, _), rows in columns.items():
            first = rows[0]
            truths = len({row["truth"] for row in rows})
            stated = [int(row["numerator"]) for row in rows]
            assert {row["denominator"] for row in rows} == {str(2**32)}
            assert all(float(row["probability"]) == n / 2**32 for row, n in zip(rows, stated, strict=True))
            boxes = answers[version, first["question"]]
            for changed in (0, 0.1):
                given = json.loads(first["parameters"])
                name_ = next(key for key, value in given.items() if not isinstance(value, str))
                given[name_] += changed
                choice = Choice(first["mechanism"], tuple(given.items()))
                of = boxes if first["encoding"] in ("one_hot", "boxes") else truths
                design = KINDS[first["kind"]].make_designs(choice, of, None)[0]
                same = bool(np.allclose(design.weights.ravel() / 2**32, np.array(stated) / 2**32, atol=1e-4))
                wrong += bool(changed) and not same
                assert same or changed, first
    assert wrong > 20


def test_no_column_of_microdata_is_called_weight_that_is_none(cases: Mapping[str, Case]) -> None:
    for case in cases.values():
        for name in ("codebook.csv", "responses.csv", "estimates.csv"):
            assert "weight" not in (case.folder / name).read_text("utf-8").splitlines()[0].split(",")


def test_every_answer_has_a_text_in_the_language_of_the_survey(
    cases: Mapping[str, Case], sqlite: NewDatabase, tmp_path: Path
) -> None:
    spanish = {**factories.definition(), "language": "es"}
    database_url = sqlite(True)
    survey = factories.publish(database_url, spanish)
    factories.store(database_url, survey, [([1, 0], 40)])
    in_spanish = make_case(database_url, survey, tmp_path / "es")

    for case in (*cases.values(), in_spanish):
        for row in case.table("codebook.csv"):
            assert row["report_text"]
            assert row["truth_text"] or row["kind"] in ("stratum", "weights", "missing")
        assert all(row["answer_text"] for row in case.table("estimates.csv") if row["statistic"] == "share")
    shares = [row for row in in_spanish.table("estimates.csv") if row["statistic"] == "share"]
    assert {row["answer_text"] for row in shares} == {"Sí", "No"}
    texts = {row["truth"]: row["truth_text"] for row in cases["every kind"].table("codebook.csv")}
    assert (texts["yes"], texts["no"], texts["prefer_not_to_say"]) == ("Yes", "No", "Prefer not to say")


def test_intervals_are_called_by_the_method_that_gave_them(cases: Mapping[str, Case]) -> None:
    def list_methods(case: str, **wanted: str) -> set[str]:
        rows = cases[case].table("estimates.csv")
        return {row["interval"] for row in rows if wanted.items() <= row.items() and row["n"]}

    kinds_ = "every kind"  # 300 responses
    assert list_methods(kinds_, question="coin") == {"wilson"}
    assert list_methods(kinds_, question="party", statistic="share") == {"wilson"}
    assert list_methods(kinds_, question="cups", statistic="mean") == {
        "wilson"
    }  # two reports, lowest and highest
    assert list_methods(kinds_, question="mood", statistic="share") == {"score"}  # near answers more often
    assert list_methods(kinds_, question="mood", statistic="mean") == {"score"}
    assert list_methods(kinds_, question="mugs", statistic="mean") == {"fieller of score"}
    pooled = {"group": "all", "weighting": "responses"}
    assert list_methods("versions", question="used", **pooled) == {"added wilson"}
    assert list_methods("versions", question="mood", statistic="mean", **pooled) == {"added score"}
    assert list_methods("versions", question="mugs", statistic="mean", **pooled) == {"fieller of added score"}
    assert list_methods("one version", question="used", **pooled) == {"wilson"}
    assert list_methods("one response", question="coin") == {"exact"}


def test_rows_are_sorted_by_what_they_hold(sqlite: NewDatabase, tmp_path: Path) -> None:
    """The same responses in another order, with other ids and on other days, give the same rows."""
    rows = [([1, 0], 3), ([0, 1], 2), ([0, 0], 4), ([1, 1], 1)]
    packed = []
    for number, stored in enumerate((rows, rows[::-1])):
        database_url = sqlite(True)
        survey = factories.publish(database_url)
        for one in stored:
            factories.store(database_url, survey, [one], day=date(2026, 5, 1 + number))
        packed.append(make_case(database_url, survey, tmp_path / str(number)))

    for name in ("responses.csv", "responses.parquet"):
        assert len({(case.folder / name).read_bytes() for case in packed}) == 1
    cells = [list(row.values()) for row in packed[0].table("responses.csv")]
    assert cells == sorted(cells)
    assert cells[0] == ["1", "0", "0"]


def test_one_version_alone_tells_nothing_of_strata(sqlite: NewDatabase, tmp_path: Path) -> None:
    """By no column, and not by the order of the rows either: who came from where makes no difference."""
    found = []
    for number, (north, south) in enumerate([([1, 0], [0, 1]), ([0, 1], [1, 0])]):
        database_url = sqlite(True)
        survey = factories.publish(database_url)
        links = factories.plant(database_url, survey.slug, "North\nSouth")
        factories.store(database_url, survey, [(north, 5)], links["North"])
        factories.store(database_url, survey, [(south, 5)], links["South"])
        found.append(make_case(database_url, survey, tmp_path / str(number), number=1))
    one, other = ((case.folder / "responses.csv").read_bytes() for case in found)

    assert one == other
    assert not any("strata.csv" in case.names for case in found)
    # The twin: all versions together name the strata, and the files differ.
    assert make_case(database_url, survey, tmp_path / "named").table("responses.csv")[0]["stratum"] == "North"


def test_the_same_report_gives_the_same_bytes(cases: Mapping[str, Case]) -> None:
    for case in cases.values():
        assert zip_microdata(case.report) == case.packed


def test_readme_tells_both_languages_what_each_file_is(cases: Mapping[str, Case]) -> None:
    for case in cases.values():
        english, spanish = (case.folder / "README.txt").read_text("utf-8").split("-" * 80)
        for text in (english, spanish):
            told = re.findall(r"^(\S+\.\S+(?:, \S+\.\S+)*): ", text, re.MULTILINE)
            assert case.names - {"README.txt"} == {name for names in told for name in names.split(", ")}
            assert case.report.slug in text
        assert "randomised on the device used to answer" in " ".join(english.split())
        assert "Rows have no weights." in " ".join(english.split())
        assert "Las filas no tienen pesos." in " ".join(spanish.split())
        assert "se aleatorizó en el dispositivo" in " ".join(spanish.split())


RUN_NOTEBOOK = """
import json, sys
cells = json.load(open("analysis.ipynb", encoding="utf-8"))["cells"]
room = {}
for cell in cells:
    if cell["cell_type"] == "code":
        exec(cell["source"], room)
sys.stdout.write("\\f" + json.dumps(room["found"]))
"""


@pytest.mark.parametrize("name", ["versions", "every kind", "no response"])
def test_the_notebook_shows_the_numbers_of_the_report(cases: Mapping[str, Case], name: str) -> None:
    """Its code cells run in one namespace, in the folder; with a report that was turned they find it."""
    case = cases[name]
    notebook = json.loads((case.folder / "analysis.ipynb").read_text("utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in notebook["cells"]}) == len(notebook["cells"])

    ran = run_python(case.folder, "-c", RUN_NOTEBOOK)

    assert ran.returncode == 0, ran.stderr
    shown, _, said = ran.stdout.partition("\f")
    rows = [dict(zip((*KEYS, *NUMBERS), map(str, row), strict=True)) for row in json.loads(said)]
    agrees(case, table(rows))
    for row in rows:
        if row["group"] != "stratum":
            assert f"{float(row['estimate']):.6f}" in shown
    code = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    quarto = (case.folder / "analysis.qmd").read_text("utf-8")
    assert re.findall(r"^```\{python\}\n(.*?)\n```$", quarto, re.DOTALL | re.MULTILINE) == code
    assert len(re.findall("^## ", quarto, re.MULTILINE)) == len(case.report.definition.questions)


def test_quarto_runs_nothing_of_a_title(sqlite: NewDatabase, tmp_path: Path) -> None:
    """It reads a title as Markdown, with code and shortcodes: every sign of these stands behind a backslash."""
    database_url, title = sqlite(True), r'`{python} 1` {{< meta x >}} $a$ "b" \\c <i>d</i>: العربية 100 %'
    case = make_case(
        database_url, factories.publish(database_url, factories.definition(title=title)), tmp_path
    )
    head = (case.folder / "analysis.qmd").read_text("utf-8").split("---")[1]
    written = yaml.safe_load(head)["title"]
    assert re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", written) == title
    assert not re.search(r"(?<!\\)[`{$<]", written)


def test_the_notebook_notices_what_is_wrong(twins: Sequence[Path]) -> None:
    ran = run_python(twins[0], "-c", RUN_NOTEBOOK)

    assert ran.returncode == 1
    assert "AssertionError" in ran.stderr


def run_python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Python in a folder."""
    return subprocess.run(
        [sys.executable, "-B", *words], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )


def list_fitted(folder: Path, *words: str) -> tuple[str, list[tuple[float, float]]]:
    """By what rows count, and slopes with their standard errors: the same to both scripts."""
    in_python, in_r = run_python(folder, "fit.py", *words), find_r().run_alone("fit.R", folder, *words)
    assert (in_python.returncode, in_r.returncode) == (0, 0), in_python.stderr + in_r.stderr
    heads, both = [], []
    for ran in (in_python, in_r):
        head, *lines = ran.stdout.splitlines()
        heads.append(head)
        both.append([tuple(map(float, line.split("\t")[1:])) for line in lines])
    assert heads[0] == heads[1]
    np.testing.assert_allclose(*both, rtol=1e-6)
    return heads[0].removeprefix("rows count by: "), [(value, error) for value, error in both[0][1:]]


def test_the_scripts_of_regressions_find_what_the_page_finds(
    cases: Mapping[str, Case], sqlite: NewDatabase, tmp_path: Path
) -> None:
    """In two versions with other designs, on the largest strata: by populations, all the same, by a column of weights.

    The twin has the weights without the sandwich. What has no largest likelihood is no number.
    """
    database_url = sqlite(True)
    survey = factories.publish(database_url, factories.definition((0.25,)))
    tree = "A > X, 900\nA > Y, 100\nB > X, 500\nB > Y, 500\nC, 200"
    links = factories.plant(database_url, survey.slug, tree)
    changed = factories.publish(database_url, factories.definition((0.1,)), survey.slug)
    paths = ("A > X", "A > Y", "B > X", "B > Y", "C", "")
    for version, shares in (
        (survey, (0.6, 0.4, 0.5, 0.3, 0.45, 0.6)),
        (changed, (0.7, 0.4, 0.35, 0.45, 0.6, 0.5)),
    ):
        for path, share in zip(paths, shares, strict=True):
            yes = round(300 * share)
            factories.store(
                database_url, version, [([1], yes), ([0], 300 - yes)], links.get(path, survey.slug)
            )
    case = make_case(database_url, survey, tmp_path)
    weighted = explain_answer(of_report(case.report), "q1", ["stratum"])
    assert weighted.unweighted is not None
    rows = (case.folder / "responses.csv").read_text("utf-8").splitlines()
    table = "\n".join([f"{rows[0]},w", *(f"{row},{1 + place % 7 * 2}" for place, row in enumerate(rows[1:]))])
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        study = json.loads(write_study_file(session, found))
    for stratum in study["strata"]:
        stratum.pop("population", None)
    study |= {"sampling": {"weights": "w"}}
    data = read_foreign_data(io.BytesIO(table.encode()), parse_study(json.dumps(study).encode()))
    by_column = explain_answer(of_foreign(data), "q1", ["stratum"])
    (case.folder / "responses.csv").write_text(table, "utf-8")

    seen = []
    for words, by, explained in (
        ((), "population", weighted),
        (("q1", "responses"), "responses", weighted.unweighted),
        (("q1", "w"), "w", by_column),
    ):
        told, fitted = list_fitted(case.folder, *words)
        assert told == by
        known = [(one.coefficient, one.standard_error) for one in explained.explanation.effects[0]]
        np.testing.assert_allclose(fitted, known, rtol=1e-5)
        seen.append(fitted)
    twin = (case.folder / "fit.py").read_text("utf-8").replace("if same else", "if True else")
    (case.folder / "twin.py").write_text(twin, "utf-8")
    lines = run_python(case.folder, "twin.py").stdout.splitlines()[2:]
    errors = [float(line.split("\t")[2]) for line in lines]
    assert max(abs(np.array(errors) / [error for _, error in seen[0]] - 1)) > 0.01

    for text in ("0", "-1", "", "much"):
        bad = table.replace(f"{rows[2]},3", f"{rows[2]},{text}", 1)
        (case.folder / "responses.csv").write_text(bad, "utf-8")
        for ran in (
            run_python(case.folder, "fit.py", "q1", "w"),
            find_r().run_alone("fit.R", case.folder, "q1", "w"),
        ):
            assert ran.returncode == 1
            said = " ".join(ran.stderr.split())
            assert "row 3, column w: must be a number from 0.000001 to 1000000" in said
            assert f"it is '{text}'" in said
    few = cases["even populations"].folder
    (weights,) = [row for row in cases["even populations"].table("codebook.csv") if row["kind"] == "weights"]
    assert (weights["column"], weights["report_text"][:20]) == ("stratum", "rows have no weights")
    for ran in (run_python(few, "fit.py", "drugs.green"), find_r().run_alone("fit.R", few, "drugs.green")):
        assert ran.returncode == 1
        assert "leave a coefficient without an end" in ran.stderr
    assert run_python(few, "fit.py", "party").stderr.startswith("party is no column")
    assert run_python(few, "fit.py", "used", "none").stderr.startswith("none is no column of responses.csv")


def test_other_packages_are_told_the_same_chances(cases: Mapping[str, Case]) -> None:
    """The matrix that each argument stands for, by those packages' own definitions, is ours transposed."""
    kinds = Counter()
    for name in ("versions", "every kind"):
        chances: dict[tuple[str, str], list[float]] = {}
        for row in cases[name].table("codebook.csv"):
            if row["denominator"]:
                chances.setdefault((row["version"], row["column"]), []).append(float(row["probability"]))
        told = cases[name].table("other_packages.csv")
        assert [(row["version"], row["column"]) for row in told] == list(chances)
        for row in told:
            ours = np.array(chances[row["version"], row["column"]])
            ours = ours.reshape(round(len(ours) ** 0.5), -1).T
            ours = ours[::-1] if row["report_as"] == "1 - report" else ours
            for package in ("rr", "RRreg", "RRreg_matrix"):
                if row[package]:
                    model, theirs = misclassification(row[package])
                    kinds[model] += 1
                    np.testing.assert_allclose(theirs, ours, atol=1e-15)
    assert min(kinds[model] for model in ("mirrored", "forced-known", "Warner", "FR", "custom")) > 0


def misclassification(arguments: str) -> tuple[str, Any]:
    """The model, and the chance of each report (rows) for each truth (columns)."""
    model = re.findall('"(.*?)"', arguments)[0]
    numbers = [float(number) for number in re.findall(r"[\d.]+(?:e-\d+)?", arguments.partition(", ")[2])]
    if model in ("mirrored", "Warner"):
        (truth,) = numbers
        return model, np.array([[truth, 1 - truth], [1 - truth, truth]])
    if model == "forced-known":
        named = dict(re.findall(r"(p\d?) = ([^,]+)", arguments))
        truth, no, yes = (float(named[name]) for name in ("p", "p0", "p1"))
        return model, np.array([[truth + no, no], [yes, truth + yes]])
    if model == "FR":
        return model, np.array(numbers)[:, None] + (1 - sum(numbers)) * np.eye(len(numbers))
    many = int(numbers.pop())
    return model, np.array(numbers).reshape(many, many).T  # R fills by columns


def test_what_is_deposited_names_itself(cases: Mapping[str, Case]) -> None:
    case = cases["versions"]
    lines = (case.folder / "sha256sums.txt").read_text("utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}

    assert sums.keys() == case.names - {"sha256sums.txt"}
    for name, digest in sums.items():
        assert hashlib.sha256((case.folder / name).read_bytes()).hexdigest() == digest
    assert sums["definition_3.json"] == case.report.version
    cited = yaml.safe_load((case.folder / "CITATION.cff").read_text("utf-8"))
    deposited = json.loads((case.folder / "datacite.json").read_text("utf-8"))
    assert cited["title"] == deposited["titles"][0]["title"] == "Exams again"
    assert cited["authors"] == deposited["creators"] == [{"name": ":unav"}]
    asked_ = (case.folder / "questionnaire.md").read_text("utf-8")
    for version in ("Once?", "Twice?", "- Option red", "0 to 24 hours", "- Prefer not to say"):
        assert version in asked_.replace("\N{NO-BREAK SPACE}", " ")
