"""Models of how people answer, in data from elsewhere: who cheats, and who does not attend."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from server.reports.elsewhere.models import MODELS
from tests.test_analyse_models import analyse, find, numbers, rows

CHEATING: dict[str, Any] = {
    "model": "cheating",
    "name": "drugs",
    "report": "Q1",
    "group": "form",
    "groups": [
        {"cell": "A", "design": {"mechanism": "forced_yes", "yes": 0.75}},
        {"cell": "B", "design": {"mechanism": "forced_yes", "yes": 0.25}},
    ],
}
CROSSWISE: dict[str, Any] = {
    "model": "extended_crosswise",
    "name": "tax",
    "report": {"header": "Q1", "cells": {"A": "same", "B": "different"}},
    "group": "form",
    "groups": [{"cell": "1", "prevalence": 0.2}, {"cell": "2", "prevalence": 0.8}],
}
ANCHORED: dict[str, Any] = {
    "model": "inattentive_crosswise",
    "name": "bribe",
    "report": "Q1",
    "prevalence": 0.15,
    "anchor": "Q2",
    "anchor_prevalence": 0.15,
}
PAIRS = rows(
    "Q1,Q2", {"different,different": 173, "different,same": 400, "same,different": 286, "same,same": 1141}
)


def test_cheaters_are_what_two_groups_cannot_explain_otherwise(tmp_path: Path) -> None:
    """Clark and Desharnais (1998): a device makes some of each group say yes, which cheaters do not; two equations."""
    data = rows("form,Q1", {"A,yes": 655, "A,no": 345, "B,yes": 345, "B,no": 655})
    found = find(tmp_path, CHEATING, data)
    yes = np.array([0.655, 0.345])
    # yes = honest_yes + p honest_no
    honest_yes, honest_no = np.linalg.solve([[1, 0.75], [1, 0.25]], yes)
    said = numbers(found)
    assert [said[name]["value"] for name in ("honest_yes", "honest_no", "cheaters")] == pytest.approx(
        [honest_yes, honest_no, 1 - honest_yes - honest_no], abs=1e-8
    )
    (test,) = found["tests"]
    assert test["p_value"] < 1e-6
    assert test["degrees_of_freedom"] == 1
    assert test["verdict"].endswith("some may say No whatever is asked.")
    printed = analyse(tmp_path, [CHEATING], data).stdout
    assert (
        f"Test that nobody says No whatever is asked: G² = {test['statistic']:.2f} on 1, p < 0.001."
        in printed
    )
    # With nobody who cheats, nothing is seen; with more Yes than any design gives, not cheating is named.
    honest = rows("form,Q1", {"A,yes": 800, "A,no": 200, "B,yes": 400, "B,no": 600})
    assert find(tmp_path, CHEATING, honest)["tests"][0]["verdict"].startswith("Nothing here shows")
    contrary = rows("form,Q1", {"A,yes": 950, "A,no": 50, "B,yes": 300, "B,no": 700})
    found = find(tmp_path, CHEATING, contrary)
    assert numbers(found)["cheaters"]["possible"] is False
    assert "look for another reason" in found["tests"][0]["verdict"]


def test_two_crosswise_groups_are_one_crosswise_model_when_one_is_turned_round(tmp_path: Path) -> None:
    data = rows("form,Q1", {"1,A": 700, "1,B": 300, "2,A": 310, "2,B": 690})
    found = find(tmp_path, CROSSWISE, data)
    share = ((700 + 690) / 2000 + 0.2 - 1) / (2 * 0.2 - 1)
    error = math.sqrt(0.695 * 0.305 / 1999) / 0.6
    said = numbers(found)
    assert said["share"]["value"] == pytest.approx(share, abs=1e-8)
    assert said["share"]["standard_error"] == pytest.approx(error, abs=1e-8)
    assert said["preference"]["value"] == pytest.approx(0.01)
    assert set(said) == {"share", "preference", "followers_share"}
    (test,) = found["tests"]
    assert test["verdict"].startswith("The groups fit one share.")
    # The twin that does not turn the second group round finds half, whatever is true.
    plain = {
        "questions": [
            {
                "name": "q1",
                "kind": "yes_no",
                "text": "?",
                "design": {"mechanism": "kuk", "if_yes": 0.2, "if_no": 0.8},
            }
        ]
    }
    columns = [{"name": "q1", "header": "Q1", "cells": {"A": "yes", "B": "no"}}]
    done = analyse(tmp_path, [CROSSWISE], data, "--json", survey=plain, columns=columns)
    assert done.exit_code == 0, done.output
    assert abs(json.loads(done.stdout)["questions"][0]["estimate"]["shares"][1] - share) > 0.2
    biased = rows("form,Q1", {"1,A": 760, "1,B": 240, "2,A": 450, "2,B": 550})
    assert "Do not trust the share." in find(tmp_path, CROSSWISE, biased)["tests"][0]["verdict"]


def test_an_anchor_takes_out_what_inattention_does(tmp_path: Path) -> None:
    """What the README of cWise prints of its example, simulated by its authors; see `test_estimators_crosswise`."""
    found = find(tmp_path, ANCHORED, PAIRS)
    said = numbers(found)
    assert {name: round(each["value"], 4) for name, each in said.items()} == {
        "share": 0.1054,
        "uncorrected": 0.195,
        "attentive": 0.7729,
    }
    assert round(said["uncorrected"]["standard_error"], 4) == 0.0144
    (test,) = found["tests"]
    assert (test["statistic"], test["p_value"] < 1e-6) == (None, True)
    printed = analyse(tmp_path, [ANCHORED], PAIRS).stdout
    assert "Test that all attend, by the anchor question: p < 0.001." in printed


def test_an_anchor_in_two_groups_corrects_both(tmp_path: Path) -> None:
    """A fifth throws coins; expected counts of the item (0.2 have it) and of the anchor (nobody), independent within
    those who attend and those who do not.
    """
    n, counts = 10_000, {}
    for form, chance in (("1", 0.2), ("2", 0.8)):
        item, anchor = 0.2 * chance + 0.8 * (1 - chance), 1 - chance
        for one, name in ((item, "A"), (1 - item, "B")):
            for two, other in ((anchor, "same"), (1 - anchor, "different")):
                counts[f"{form},{name},{other}"] = round(n * (0.8 * one * two + 0.2 * 0.25))
    groups = [{**group, "anchor_prevalence": group["prevalence"]} for group in CROSSWISE["groups"]]
    model = {**CROSSWISE, "anchor": "Q2", "groups": groups}
    found = find(tmp_path, model, rows("form,Q1,Q2", counts))
    said = numbers(found)
    assert said["corrected"]["value"] == pytest.approx(0.2, abs=1e-3)
    assert said["attentive"]["value"] == pytest.approx(0.8, abs=1e-3)
    assert said["share"]["value"] == pytest.approx(0.5 + 0.8 * (0.2 - 0.5), abs=1e-3)  # what the twin says
    assert [test["name"] for test in found["tests"]] == ["one_share", "all_attend"]
    assert found["tests"][0]["p_value"] > 0.5


def test_an_anchor_may_have_two_known_answers(tmp_path: Path) -> None:
    """A control statement that nobody can say yes to beside a harmless one, true for form 1, not for form 2.

    Whoever throws a coin, a fifth, is wrong half of the time; expected counts, independent within each kind of people.
    """
    n, counts = 10_000, {}
    for form, chance in (("1", 0.2), ("2", 0.8)):
        item, right = 0.1 * chance + 0.9 * (1 - chance), {"1": "different", "2": "same"}[form]
        for one, name in ((item, "A"), (1 - item, "B")):
            for answer in ("same", "different"):
                counts[f"{form},{name},{answer}"] = round(n * (0.8 * one * (answer == right) + 0.2 * 0.25))
    known = [
        {**group, "anchor_prevalence": answer}
        for group, answer in zip(CROSSWISE["groups"], (1, 0), strict=True)
    ]
    model = {**CROSSWISE, "anchor": "Q2", "groups": known}
    said = numbers(find(tmp_path, model, rows("form,Q1,Q2", counts)))
    assert said["attentive"]["value"] == pytest.approx(0.8, abs=1e-9)
    assert said["corrected"]["value"] == pytest.approx(0.1, abs=1e-3)
    assert said["share"]["value"] == pytest.approx(0.5 + 0.8 * (0.1 - 0.5), abs=1e-3)  # what the twin says
    half = {**ANCHORED, "anchor_prevalence": 0.5}
    assert "anchor_prevalence: must not be 0.5" in analyse(tmp_path, [half], PAIRS).output


@pytest.mark.parametrize(("answer", "right"), [(0, "same"), (1, "different")])
def test_a_known_answer_serves_rows_that_were_drawn_too(tmp_path: Path, answer: int, right: str) -> None:
    """The harmless statement is true of nobody, or of all; a fifth throw a coin, as above, of 10,000 people."""
    item = 0.1 * 0.15 + 0.9 * 0.85  # same
    counts = {
        f"{report},{anchor},1": round(10_000 * (0.8 * chance * (anchor == right) + 0.05))
        for report, chance in (("same", item), ("different", 1 - item))
        for anchor in ("same", "different")
    }
    model, data = {**ANCHORED, "anchor_prevalence": answer}, rows("Q1,Q2,w", counts)
    said = numbers(find(tmp_path, model, data, sampling={"weights": "w"}))
    assert said["attentive"]["value"] == pytest.approx(0.8, abs=1e-9)
    assert said["share"]["value"] == pytest.approx(0.1, abs=1e-3)


def test_nobody_who_attends_leaves_no_number_and_says_so(tmp_path: Path) -> None:
    coins = rows("Q1,Q2", {f"{one},{two}": 25 for one in (0, 1) for two in (0, 1)})
    found = find(tmp_path, ANCHORED, coins)
    share = numbers(found)["share"]
    assert (share["value"], share["standard_error"], share["interval"]) == (None, None, [None, None])
    untold, approximate = found["remarks"]
    assert untold == (
        "The anchor question does not show that anybody attends, so the interval of the corrected share has no end."
    )
    assert approximate.startswith("Intervals are approximate: those that should hold in 95 of 100 samples")
    many = rows("Q1,Q2", {f"{one},{two}": 76 for one in (0, 1) for two in (0, 1)})
    assert find(tmp_path, ANCHORED, many)["remarks"] == [untold]
    target = tmp_path / "report.html"
    assert analyse(tmp_path, [ANCHORED], coins, "--output", str(target)).exit_code == 0
    assert found["remarks"][0] in target.read_text("utf-8")


def test_few_reports_of_an_answer_are_remarked_on(tmp_path: Path) -> None:
    data = rows("form,Q1", {"1,A": 30, "1,B": 4, "2,A": 12, "2,B": 22})
    assert find(tmp_path, CROSSWISE, data)["remarks"][0].startswith(
        "Some answer was given fewer than five times"
    )
    assert find(tmp_path, CROSSWISE, data + "1,B\n")["remarks"] == []


def test_models_stand_in_a_file_of_each_language(tmp_path: Path) -> None:
    """Every model at once, in both languages of reports, with what it assumes."""
    both = rows(
        "form,Q1,Q2", {"1,1,1": 300, "1,0,0": 90, "1,0,1": 60, "2,0,1": 280, "2,1,0": 110, "2,1,1": 90}
    )
    forms = [{**group, "cell": cell} for group, cell in zip(CHEATING["groups"], "12", strict=True)]
    cross = {**CROSSWISE, "report": "Q1"}
    models = [{**CHEATING, "groups": forms}, cross, ANCHORED]
    for language in ("en", "es"):
        target = tmp_path / f"{language}.html"
        done = analyse(tmp_path, models, both, "--output", str(target), "--language", language)
        assert done.exit_code == 0, done.output
    page = (tmp_path / "en.html").read_text("utf-8")
    for model in models:
        assert MODELS[model["model"]].assumes in page


GROUPS = CROSSWISE["groups"]
KUK = {"mechanism": "kuk", "if_yes": 0.8, "if_no": 0.2}
REFUSED = {
    "prevalences that do not add up": (
        {**CROSSWISE, "groups": [GROUPS[0], {"cell": "2", "prevalence": 0.7}]},
        "models[0].groups[1].prevalence: must add up to 1 with that of the first group, 0.2; it is 0.7",
    ),
    "a prevalence of a half": (
        {**CROSSWISE, "groups": [{**group, "prevalence": 0.5} for group in GROUPS]},
        "models[0].groups[0].prevalence: must not be 0.5, as reports then tell nothing; it is 0.5",
    ),
    "a share without its anchor": ({**CROSSWISE, "anchor_share": 0}, "models[0].anchor: is required"),
    "an anchor without its prevalence": (
        {**CROSSWISE, "anchor": "Q2"},
        "models[0].groups[0].anchor_prevalence: is required",
    ),
    "an anchor of three prevalences": (
        {
            **CROSSWISE,
            "anchor": "Q2",
            "groups": [{**GROUPS[0], "anchor_prevalence": 0.2}, {**GROUPS[1], "anchor_prevalence": 0.3}],
        },
        "models[0].groups[1].anchor_prevalence: must be that of the first group, 0.2, or add up to 1 with it",
    ),
    "an anchor that tells nothing": (
        {**ANCHORED, "anchor_share": 0.5},
        "models[0].anchor_share: must not be 0.5, as reports then tell nothing; it is 0.5",
    ),
    "one design twice": (
        {**CHEATING, "groups": [{**group, "design": KUK} for group in CHEATING["groups"]]},
        "models[0].groups[1].design: must tell with that of the other group who cheats",
    ),
    "no such design": (
        {**CHEATING, "groups": [{"cell": "A", "design": {"mechanism": "dice"}}, CHEATING["groups"][1]]},
        "models[0].groups[0].design.mechanism: must be one of",
    ),
    "a chance that is none": (
        {
            **CHEATING,
            "groups": [{"cell": "A", "design": {"mechanism": "forced_yes", "yes": 2}}, CHEATING["groups"][1]],
        },
        "models[0].groups[0].design.yes: must be from 0.001 to 0.999; it is 2",
    ),
}


@pytest.mark.parametrize(("model", "said"), REFUSED.values(), ids=REFUSED)
def test_what_no_model_can_be_is_refused_by_its_place(
    tmp_path: Path, model: dict[str, Any], said: str
) -> None:
    done = analyse(tmp_path, [model], "form,Q1,Q2\n1,A,same\n")
    assert done.exit_code == 2
    assert said in " ".join(done.output.split()), done.output
