"""`python -m server release SLUG`: budget, ledger, and releases of a survey."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from server.cli import main
from tests.conftest import NewDatabase
from tests.support import factories
from tests.support.factories import ROOT, dump, environment

SPENT_TABLES = ("releases", "ledger_entries", "released_values")
PLAN = {
    "format": 1,
    "items": [{"kind": "count"}, {"kind": "share", "question": "q1", "option": "yes"}],
    "epsilon": "0.5",
    "people": 400,
}


def run(url: str, *arguments: str, text: str = "") -> Result:
    return CliRunner(env={"DATABASE_URL": url}).invoke(main, ["release", *arguments], input=text)


def run_json(url: str, *arguments: str, text: str = "") -> Any:
    done = run(url, *arguments, "--json", text=text)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def expect_refusal(url: str, *arguments: str, text: str = "") -> str:
    """The message; nothing was changed."""
    before = dump(url)
    done = run(url, *arguments, text=text)
    assert (done.exit_code, "Traceback" in done.output) == (2, False), done.output
    assert dump(url) == before
    return " ".join(done.stderr.partition("Error: ")[2].split())


def make_study(url: str) -> str:
    """A survey in two strata with 400 responses; its slug."""
    survey = factories.publish(url)
    links = factories.plant(url, survey.slug, "North\nSouth")
    factories.store(url, survey, [([0, 0], 100), ([1, 0], 100)], links["North"])
    factories.store(url, survey, [([0, 0], 150), ([1, 1], 50)], links["South"])
    return survey.slug


@pytest.fixture
def plan(tmp_path: Path) -> str:
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(PLAN), "utf-8")
    return str(file)


def test_a_budget_is_set_looked_at_and_spent(new_database: NewDatabase, plan: str) -> None:
    url = new_database(True)
    slug = make_study(url)
    assert "No budget is set" in run(url, slug).stdout
    assert expect_refusal(url, slug, "--plan", plan) == "budget: must be set first"

    empty = run_json(url, slug, "--budget-epsilon", "1.0", "--neighbours", "bounded")
    assert (empty["budget"], empty["left"]) == ({"epsilon": 1, "delta": 0, "neighbours": "bounded"}, 1)
    changed = run_json(url, slug, "--budget-epsilon", "0.75", "--budget-delta", "1e-6")
    assert changed["budget"] == {"epsilon": 0.75, "delta": 1e-6, "neighbours": "unbounded"}

    before = dump(url)
    looked = run(url, slug, "--plan", plan)
    assert "Takes from the budget: epsilon 0.5. Left: epsilon 0.75." in looked.stdout
    assert "Nothing was released; add --yes" in looked.stderr
    assert "5.642" in looked.stdout  # sqrt(2 a) / (1 - a) with a = exp(-1/4)
    assert dump(url) == before

    made = run_json(url, slug, "--plan", plan, "--yes")
    assert (made["left"], [entry["epsilon"] for entry in made["released"]]) == (0.25, [0.25, 0.25])
    count, share = made["released"]
    # Off by more than 120 with probability 2 exp(-30) / (1 + exp(-1/4)).
    assert abs(count["figures"][0]["value"] - 400) < 120
    assert [figure["statistic"] for figure in share["figures"]] == ["reports", "share"]
    ledger = run_json(url, slug)
    assert ledger["entries"] == made["released"]
    assert ledger["spent"]["epsilon"] == ledger["spent"]["sequential"] == 0.5
    shown = run(url, slug).stdout
    assert "Spent: epsilon 0.5, delta 0. Left: epsilon 0.25." in shown
    assert "share q1 = yes" in shown
    assert f"{count['figures'][0]['value']}" in shown
    assert (
        expect_refusal(url, slug, "--budget-epsilon", "5")
        == "budget: must stay as it was before the first release"
    )


def test_what_was_released_is_free_and_the_rest_is_paid_for(new_database: NewDatabase, plan: str) -> None:
    url = new_database(True)
    slug = make_study(url)
    run(url, slug, "--budget-epsilon", "1")
    first = run_json(url, slug, "--plan", plan, "--yes")["released"]
    before = dump(url)

    again = run(url, slug, "--plan", plan)  # without --yes: there is nothing to pay for
    assert "count: released already (entry 1), free." in again.stdout
    assert f"{first[0]['figures'][0]['value']}" in again.stdout
    assert run_json(url, slug, "--plan", plan, "--yes")["released"] == first
    assert dump(url) == before

    more = {**PLAN, "items": [*PLAN["items"], {"kind": "histogram", "question": "q2"}]}  # type: ignore[misc]
    priced = run_json(url, slug, "--plan", "-", text=json.dumps(more))
    assert (len(priced["plan"]), priced["epsilon"], priced["left"]) == (1, 0.5, 0.5)
    made = run_json(url, slug, "--plan", "-", "--yes", text=json.dumps(more))
    assert made["released"][:2] == first
    assert (made["released"][2]["release"], made["left"]) == (2, 0)

    over = {**PLAN, "items": [{"kind": "count", "anew": True}], "epsilon": "0.0001"}
    said = expect_refusal(url, slug, "--plan", "-", "--yes", text=json.dumps(over))
    assert "epsilon: must leave what the releases together may lose at 1 or less; 0 is left" in said


def test_strata_cost_what_the_dearest_of_them_costs(new_database: NewDatabase) -> None:
    url = new_database(True)
    slug = make_study(url)
    run(url, slug, "--budget-epsilon", "1")
    items = [
        {"kind": "count", "stratum": ["North"], "epsilon": "0.5"},
        {"kind": "count", "stratum": ["South"], "epsilon": "0.75"},
    ]
    document = {"format": 1, "items": items, "division": "given"}

    made = run_json(url, slug, "--plan", "-", "--yes", text=json.dumps(document))

    assert (made["epsilon"], made["left"]) == (0.75, 0.25)
    spent = run_json(url, slug)["spent"]
    assert (spent["epsilon"], spent["sequential"]) == (0.75, 1.25)
    assert "in North > " not in run(url, slug).stdout
    assert "count in North" in run(url, slug).stdout


def test_everything_is_in_the_log(sqlite: NewDatabase, plan: str) -> None:
    url = sqlite(True)
    slug = make_study(url)
    run(url, slug, "--budget-epsilon", "1")
    run(url, slug, "--plan", plan, "--yes")
    run(url, slug, "--plan", plan, "--yes")  # free: nothing happened
    actions = [row[4] for row in dump(url)["audit_entries"] if row[4] in ("budget set", "released")]
    assert sorted(actions) == ["budget set", "released"]


@pytest.mark.parametrize(("typed", "spends"), [("y\n", True), ("n\n", False)])
def test_somebody_at_a_terminal_is_asked(typed: str, spends: bool, sqlite: NewDatabase, plan: str) -> None:
    url = sqlite(True)
    slug = make_study(url)
    run(url, slug, "--budget-epsilon", "1")
    terminal, own = pty.openpty()
    with os.fdopen(terminal, "wb", buffering=0) as keys, os.fdopen(own, "rb") as own_end:
        keys.write(typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "server", "release", slug, "--plan", plan],
            cwd=ROOT,
            env=environment(url),
            stdin=own_end,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "Release it? [y/N]" in done.stdout + done.stderr
    assert ("Nothing was released" in done.stderr) is not spends
    assert [bool(dump(url)[name]) for name in SPENT_TABLES] == [spends] * 3


def test_bad_budgets_and_plans_are_refused(sqlite: NewDatabase, plan: str) -> None:
    url = sqlite(True)
    slug, draft = make_study(url), factories.draft(url, factories.definition())
    for arguments, said in [
        ((slug, "--budget-epsilon", "0"), "epsilon: must be more than 0 and at most 100; it is 0"),
        ((slug, "--budget-epsilon", "101"), "at most 100; it is 101"),
        ((slug, "--budget-epsilon", "much"), "it is much"),
        ((slug, "--budget-epsilon", "nan"), "it is nan"),
        ((slug, "--budget-epsilon", "0_5"), "it is 0_5"),
        (
            (slug, "--budget-epsilon", "1", "--budget-delta", "0.5"),
            "delta: must be from 0 to 0.001; it is 0.5",
        ),
        ((slug, "--budget-epsilon", "1", "--neighbours", "near"), "'near' is not one of"),
        ((slug, "--neighbours", "bounded"), "--budget-epsilon must be given to set a budget"),
        ((slug, "--budget-delta", "0"), "--budget-epsilon must be given to set a budget"),
        ((slug, "--budget-epsilon", "1", "--plan", plan), "--budget-epsilon must not be given with --plan"),
        (("nowhere",), "survey 'nowhere' is not known"),
        ((draft, "--plan", plan), "survey: must be published first"),
        ((slug, "--plan", "nowhere.json"), "nowhere.json"),
    ]:
        assert said in expect_refusal(url, *arguments)
    run(url, slug, "--budget-epsilon", "1")
    for document, said in [
        ("{", "plan: must be JSON"),
        ("[]", "plan: must be an object"),
        ({"format": 1, "items": []}, "items: must not be empty"),
        ({**PLAN, "columns": {}}, "columns: is not known here"),
        ({**PLAN, "epsilon": 0}, "epsilon: must be from 0.0001 to 100; it is 0"),
        ({**PLAN, "epsilon": "0_5"}, "epsilon: must be from 0.0001 to 100; it is 0_5"),
        ({**PLAN, "epsilon": 2}, "1 is left"),
        ({**PLAN, "items": [{"kind": "mean", "question": "q1"}]}, "items[0].questions"),
        ({**PLAN, "items": [{"kind": "share", "question": "q9", "option": "yes"}]}, "it is q9"),
        ({**PLAN, "items": [{"kind": "count", "stratum": ["West"]}]}, "items[0].stratum: must be a stratum"),
    ]:
        text = document if isinstance(document, str) else json.dumps(document)
        assert said in expect_refusal(url, slug, "--plan", "-", "--yes", text=text)
