"""Explain an answer on the command line: of data from elsewhere, and of a survey, whose small groups stay hidden."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
from click.testing import CliRunner, Result

from server.cli import main
from server.inputs.schema import schema
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.explainable_survey import collect

NOWHERE = "sqlite:////proc/nowhere/moneda.sqlite3"


def run(url: str, *arguments: str) -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, arguments)


def read(url: str, *arguments: str) -> dict[str, Any]:
    done = run(url, *arguments, "--json")
    assert done.exit_code == 0, done.output
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def test_a_survey_and_its_file_are_explained_alike(new_database: NewDatabase, tmp_path: Path) -> None:
    url = new_database(True)
    survey = collect(url)
    by = ("--explain", "copied", "--by", "stratum", "--by", "stole", "--by", "party.red")
    here = read(url, "estimate", survey.slug, *by)
    stratum, stole, red = here["predictors"]
    # The four from the islands, and those from the north that hide them, are in no group of their own.
    assert (stratum["reference"], [step["step"] for step in stratum["steps"]]) == ("South", ["(others)"])
    assert stratum["steps"][0]["odds_ratio"] < 1
    assert (stole["randomised"], stole["reference"], red["name"]) == (True, "no", "party.red")
    assert stole["steps"][0]["odds_ratio_interval"][0] > 1
    assert stole["steps"][0]["odds_ratio"] > 3
    assert stole["likelihood_ratio"]["p_value"] < 0.001
    with zipfile.ZipFile(
        io.BytesIO(run(url, "report", survey.slug, "--format", "microdata").stdout_bytes)
    ) as packed:
        (tmp_path / "responses.csv").write_bytes(packed.read("responses.csv"))
    (tmp_path / "study.json").write_bytes(run(url, "survey", "study-file", survey.slug).stdout_bytes)
    files = ("analyse", str(tmp_path / "responses.csv"), "--study", str(tmp_path / "study.json"))
    without = (*by[:2], *by[4:])
    assert read(NOWHERE, *files, *without)["explanation"] == read(url, "estimate", survey.slug, *without)
    printed = run(url, "estimate", survey.slug, *by).stdout
    assert "Higher: " in printed
    assert "need not be cause and effect" in printed
    assert "Not weighted: every response counts the same." in printed
    # Said as the interval that the page shows, and not as one standard error.
    assert "±" not in printed
    (step,) = stratum["steps"]
    average, reach = 100 * step["average_effect"], 100 * 1.959964 * step["average_effect_error"]
    assert f"{average:+.1f} ({average - reach:.1f} to {average + reach:.1f})" in printed


def test_what_does_not_tell_is_said_in_place_of_an_odds_ratio(tmp_path: Path) -> None:
    rows = ["age,sex,copied"] + [f"{20 + k % 40},{'fm'[k % 2]},{int(k % 8 in (0, 5))}" for k in range(80)]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    study = {
        "format": 1,
        "survey": {"questions": [factories.question("copied")]},
        "covariates": [{"name": "age", "low": 0, "high": 99}, {"name": "sex", "categories": ["f", "m"]}],
    }
    (tmp_path / "study.json").write_text(json.dumps(study))
    files = ("analyse", str(tmp_path / "data.csv"), "--study", str(tmp_path / "study.json"))
    by = ("--explain", "copied", "--by", "sex", "--by", "age")
    printed = run(NOWHERE, *files, *by)
    assert printed.exit_code == 0, printed.output
    line = next(line for line in printed.stdout.splitlines() if line.startswith("sex"))
    assert "These responses do not tell." in line
    assert "times the odds" not in line
    assert "a weak prior was added" in printed.stdout
    found = read(NOWHERE, *files, *by)["explanation"]
    assert found["prior"] == "log-F(1, 1)"
    (step,) = found["predictors"][0]["steps"]
    assert (step["tells"], step["odds_ratio"], step["coefficient"]) == (False, None, None)


def test_an_odds_ratio_without_an_end_is_told_without_an_error_and_with_the_larger_p_value(
    tmp_path: Path,
) -> None:
    """An error of the average effect says too little there; and no test of real responses has a p value of 0."""
    rows = ["sex,copied"] + [
        f"{sex},{int(k < yes)}" for sex, yes in (("f", 60), ("m", 220)) for k in range(400)
    ]
    (tmp_path / "data.csv").write_text("\n".join(rows) + "\n")
    study = {
        "format": 1,
        "survey": {"questions": [factories.question("copied")]},
        "covariates": [{"name": "sex", "categories": ["f", "m"]}],
    }
    (tmp_path / "study.json").write_text(json.dumps(study))
    files = ("analyse", str(tmp_path / "data.csv"), "--study", str(tmp_path / "study.json"))
    by = ("--explain", "copied", "--by", "sex")
    printed = run(NOWHERE, *files, *by)
    assert printed.exit_code == 0, printed.output
    line = next(line for line in printed.stdout.splitlines() if line.startswith("sex"))
    assert "(at least " in line
    assert "±" not in line
    assert line.endswith("< 0.001")
    assert ", p < 0.001." in printed.stdout
    assert "A p value is the larger of two: with the prior, and by the responses alone." in printed.stdout
    (step,) = read(NOWHERE, *files, *by)["explanation"]["predictors"][0]["steps"]
    assert step["average_effect"] > 0.3
    assert step["average_effect_error"] is None


def test_many_randomised_answers_explain_one_and_too_many_are_refused(tmp_path: Path) -> None:
    """Simulated reports of 14 questions: seven have 128 combinations of answers, thirteen 8,192."""
    names = ["copied", *(f"q{k}" for k in range(13))]
    rng = np.random.default_rng(9)
    said = rng.random((3000, 14)) < 0.4
    said[:, 1] = np.where(rng.random(3000) < 0.9, said[:, 0], said[:, 1])
    lines = [",".join(names), *(",".join(str(int(report)) for report in row) for row in said)]
    (tmp_path / "data.csv").write_text("\n".join(lines) + "\n")
    study = {"format": 1, "survey": {"questions": [factories.question(name) for name in names]}}
    (tmp_path / "study.json").write_text(json.dumps(study))
    files = ("analyse", str(tmp_path / "data.csv"), "--study", str(tmp_path / "study.json"))

    def ask(count: int) -> tuple[str, ...]:
        by = (word for name in names[1 : 1 + count] for word in ("--by", name))
        return (*files, "--explain", "copied", *by)

    explained = read(NOWHERE, *ask(7))["explanation"]
    first = explained["predictors"][0]["steps"][0]
    assert first["tells"]
    assert first["coefficient"] > 0
    limit = "is taken to follow from single answers and pairs of them"
    assert any("have 128 combinations" in note and limit in note for note in explained["notes"])
    assert not any(limit in note for note in read(NOWHERE, *ask(6))["explanation"]["notes"])
    refused = run(NOWHERE, *ask(13))
    assert refused.exit_code == 2, refused.output
    assert (
        "by: must be fit for an explanation: predictors must have at most 4,096 combinations"
        in refused.stderr
    )
    assert "they have 8,192" in refused.stderr


REFUSED = {
    "no such question": (
        ("x",),
        ("stole",),
        "explain: must be one of copied, stole, party, cups, mood; it is x",
    ),
    "a number": (("copied",), ("cups",), "by: must have answers; it is a number like cups"),
    "an end of a number": (("cups.low",), ("stole",), "explain: must have answers; it is a number like cups"),
    "coins that do not treat answers alike": (
        ("mood.often",),
        ("stole",),
        "explain: must be of a question whose coins",
    ),
    "no such predictor": (("copied",), ("age",), "by: must be one of stratum, copied, stole"),
    "itself": (("copied",), ("copied",), "by: must name no question twice; that of copied is there already"),
    "twice": (
        ("copied",),
        ("stole", "stole"),
        "by: must name no question twice; that of stole is there already",
    ),
    "nothing": (("copied",), (), "by: must name what the answer may go with"),
}


@pytest.fixture(scope="module")
def collected_survey(sqlite: NewDatabase) -> tuple[str, str]:
    url = sqlite(True)
    return url, collect(url).slug


@pytest.mark.parametrize(("answer", "by", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_explained_is_named(
    collected_survey: tuple[str, str], answer: tuple[str, ...], by: tuple[str, ...], message: str
) -> None:
    url, slug = collected_survey
    words = [word for name in by for word in ("--by", name)]
    done = run(url, "estimate", slug, "--explain", *answer, *words)
    assert done.exit_code == 2, done.output
    assert message in done.stderr


def test_yes_may_be_named_and_predictors_keep_their_order(collected_survey: tuple[str, str]) -> None:
    url, slug = collected_survey
    explain = ("estimate", slug, "--explain", "copied", "--by")
    named = read(url, *explain, "party.red", "--by", "stole.yes", "--by", "stratum")
    plain = read(url, *explain, "party.red", "--by", "stole", "--by", "stratum")
    assert named == plain
    assert [predictor["name"] for predictor in named["predictors"]] == ["party.red", "stole", "stratum"]


def test_nothing_is_explained_of_fewer_than_the_smallest_group(sqlite: NewDatabase) -> None:
    url = sqlite(True)
    survey = factories.publish(url, minimum=10)
    factories.store(url, survey, [([0, 1], 9)])
    done = run(url, "estimate", survey.slug, "--explain", "q1", "--by", "q2")
    assert done.exit_code == 2
    assert "9" not in done.stderr


def test_strata_count_by_their_populations_as_rows_that_were_drawn_so(
    new_database: NewDatabase, tmp_path: Path
) -> None:
    """The same rows with a weight each, and strata that they were drawn from, are another way to the same numbers."""
    url, rng = new_database(True), np.random.default_rng(12)
    questions = [factories.question(name, f"{name}?", 0.4) for name in ("copied", "stole")]
    survey = factories.publish(url, factories.definition(questions=questions), minimum=20)
    links = factories.plant(url, survey.slug, "North, 9000\nSouth, 1000")
    lines, plain = ["copied,stole,weight,region"], ["copied,stole"]
    for region, size, people, yes in (("North", 300, 9000, (0.3, 0.7)), ("South", 900, 1000, (0.7, 0.3))):
        stole = rng.random(size) < 0.5
        copied = rng.random(size) < np.where(stole, yes[1], yes[0])
        told = [(rng.random(size) < np.where(truth, 0.9, 0.1)).astype(int) for truth in (copied, stole)]
        rows = np.stack(told, axis=1).tolist()
        factories.store(url, survey, [(row, 1) for row in rows], links[region])
        lines += [f"{a},{b},{people / size},{region}" for a, b in rows]
        plain += [f"{a},{b}" for a, b in rows]
    factories.store(url, survey, [([1, 0], 60)])  # of no stratum
    plain += ["1,0"] * 60
    factories.close(url, survey.slug)
    by = ("--explain", "copied", "--by", "stole")
    here = read(url, "estimate", survey.slug, *by)
    elsewhere = []
    for name, rows_of, sampling in (
        ("weighted", lines, {"weights": "weight", "strata": "region"}),
        ("unweighted", plain, None),
    ):
        study = {"format": 1, "survey": {"questions": questions}} | (
            {"sampling": sampling} if sampling else {}
        )
        (tmp_path / f"{name}.json").write_text(json.dumps(study))
        (tmp_path / f"{name}.csv").write_text("\n".join(rows_of) + "\n")
        files = ("analyse", str(tmp_path / f"{name}.csv"), "--study", str(tmp_path / f"{name}.json"))
        elsewhere.append(read(NOWHERE, *files, *by)["explanation"])
    drawn, alike = elsewhere
    assert (here["weighting"], here["n"], here["not_used"]) == ("by population", 1200, [])
    assert (drawn["weighting"], alike["weighting"]) == ("by the weights of the rows", "responses")
    for own, other in ((here, drawn), (here["unweighted"], alike)):
        ((found,), (expected,)) = (each["predictors"][0]["steps"] for each in (own, other))
        for member in ("odds_ratio", "standard_error", "average_effect", "average_effect_error"):
            assert found[member] == pytest.approx(expected[member], rel=1e-6), member
        assert found["odds_ratio_interval"] == pytest.approx(expected["odds_ratio_interval"], rel=1e-6)
        assert own["likelihood_ratio"]["p_value"] == pytest.approx(
            other["likelihood_ratio"]["p_value"], abs=1e-9
        )
    # In the South, which has few people and most responses, they keep apart; in the population they go together.
    (weighted,), (unweighted,) = (each["predictors"][0]["steps"] for each in (here, here["unweighted"]))
    assert weighted["odds_ratio_interval"][0] > 1 > unweighted["odds_ratio_interval"][1]
    printed = run(url, "estimate", survey.slug, *by).stdout
    assert printed.index("(1200 responses)") < printed.index("Weighted by population: every stratum counts")
    assert printed.index("Rao and Scott 1984") < printed.index("(1260 responses)")
    for kind in ("html", "json", "csv"):
        written = run(url, "report", survey.slug, "--format", kind, *by).stdout
        if kind == "csv":
            ours = [row for row in csv.DictReader(io.StringIO(written)) if row["group"] == "explained"]
            assert [row["weighting"] for row in ours] == ["population"] * 4 + ["responses"] * 4
            assert float(ours[0]["estimate"]) == weighted["odds_ratio"]
        elif kind == "json":
            document = json.loads(written)
            jsonschema.validate(document, schema("report"))
            assert document["explanation"] == here
        else:
            assert written.count("Rao and Scott") == 1
