"""Versions and strata: estimates are those worked out by hand from the tallies of each.

By hand means here: with the coins' fractions written out and NumPy alone, nothing of the estimators.
"""

import csv
import io
import json
import re
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from tests.support import factories
from tests.support.factories import Published
from tests.support.folded_parts import ALL_OPEN


def report(client: FlaskClient, survey: Published, query: str = "") -> Any:
    answer = client.get(f"/manage/surveys/{survey.slug}/report.json{query}")
    assert answer.status_code == 200
    return json.loads(answer.text)


def by_hand(yes: int, n: int, gamma: float) -> tuple[float, float]:
    """Share of yes and its variance under a fair coin of this gamma."""
    observed = yes / n
    return (observed - 0.5 + gamma) / (2 * gamma), observed * (1 - observed) / (n - 1) / (2 * gamma) ** 2


def test_two_versions_are_pooled_each_under_its_own_design(signed_in: FlaskClient, database_url: str) -> None:
    """The first question's gamma is tightened, the second's words are changed, the third stays as it is."""
    questions = [factories.question(f"q{k}", f"Question {k}?", 0.25) for k in (1, 2, 3)]
    first = factories.publish(database_url, factories.definition(questions=questions))
    factories.store(database_url, first, [([1, 1, 1], 400), ([0, 0, 0], 450), ([1, 0, 0], 150)])
    changed = [
        factories.question("q1", "Question 1?", 0.2),
        factories.question("q2", "Another question?", 0.25),
        questions[2],
    ]
    second = factories.publish(database_url, factories.definition(questions=changed), first.slug)
    factories.store(database_url, second, [([1, 1, 1], 90), ([0, 0, 0], 150), ([0, 1, 1], 60)])

    pooled = report(signed_in, first)

    q1, q2, q3 = pooled["questions"]
    assert pooled["n"] == 1300
    assert [entry["versions"] for entry in (q1, q2, q3)] == [[2, 1], [2], [2, 1]]
    one, other = by_hand(550, 1000, 0.25), by_hand(90, 300, 0.2)
    share = (1000 * one[0] + 300 * other[0]) / 1300
    variance = (1000 / 1300) ** 2 * one[1] + (300 / 1300) ** 2 * other[1]
    assert q1["estimate"]["shares"][1] == pytest.approx(share, abs=1e-8)
    assert q1["estimate"]["standard_errors"][1] == pytest.approx(variance**0.5, abs=1e-8)
    assert [(part["versions"], part["counts"]) for part in q1["parts"]] == [
        ([2], [210, 90]),
        ([1], [450, 550]),
    ]
    assert q2["estimate"]["n"] == 300
    assert q2["estimate"]["shares"][1] == pytest.approx(by_hand(150, 300, 0.25)[0], abs=1e-8)
    # One design: the reports are counted together, as if there were one version.
    assert [(part["versions"], part["counts"]) for part in q3["parts"]] == [([2, 1], [750, 550])]
    both = by_hand(550, 1300, 0.25)
    assert q3["estimate"]["shares"][1] == pytest.approx(both[0], abs=1e-8)
    assert q3["estimate"]["standard_errors"][1] == pytest.approx(both[1] ** 0.5, abs=1e-8)
    # The broken twin: all reports under the newest design.
    assert share != pytest.approx(by_hand(640, 1300, 0.2)[0], abs=1e-3)
    assert report(signed_in, first, "?version=1")["questions"][0]["estimate"]["shares"][1] == pytest.approx(
        one[0], abs=1e-8
    )


def choice(mechanism: str, epsilon: float) -> dict[str, Any]:
    options = [{"name": name, "text": name.title()} for name in ("red", "green", "blue")]
    design = {"mechanism": mechanism, "epsilon": epsilon}
    return {"name": "party", "kind": "select_one", "text": "Which?", "options": options, "design": design}


@pytest.mark.parametrize("order", [("k_ary", "unary"), ("unary", "k_ary")])
def test_one_byte_and_a_byte_for_each_answer_are_pooled(
    order: tuple[str, str], signed_in: FlaskClient, database_url: str
) -> None:
    reports = {
        "k_ary": [([0], 500), ([1], 300), ([2], 200)],
        "unary": [([1, 0, 0], 100), ([1, 1, 0], 60), ([0, 0, 1], 40), ([0, 0, 0], 100)],
    }
    first = factories.publish(database_url, factories.definition(questions=[choice(order[0], 2.0)]))
    factories.store(database_url, first, reports[order[0]])
    weaker = factories.definition(questions=[choice(order[1], 1.0)])
    second = factories.publish(database_url, weaker, first.slug)
    factories.store(database_url, second, reports[order[1]])

    alone = [report(signed_in, first, f"?version={number}")["questions"][0] for number in (1, 2)]
    (pooled,) = report(signed_in, first)["questions"]

    def shares(entry: Any) -> Any:
        if "boxes" not in entry:
            return np.array(entry["estimate"]["shares"]), np.array(entry["estimate"]["standard_errors"])
        found = [box["estimate"] for box in entry["boxes"]]
        return [np.array([one[what][1] for one in found]) for what in ("shares", "standard_errors")]

    sizes = [sum(count for _, count in reports[mechanism]) / 1300 for mechanism in order]
    together = [shares(entry) for entry in alone]
    by_parts = sum(size * found[0] for size, found in zip(sizes, together, strict=True))
    errors = sum((size * found[1]) ** 2 for size, found in zip(sizes, together, strict=True)) ** 0.5
    assert pooled["versions"] == [2, 1]
    assert shares(pooled)[0] == pytest.approx(by_parts, abs=1e-9)
    assert shares(pooled)[1] == pytest.approx(errors, abs=1e-9)


TREE = """Spain > Madrid, 600
Spain > Bilbao, 200
Peru > Lima > Centre, 1000
Peru > Lima > Callao, 200"""
REPORTS = {
    "Spain > Madrid": (80, 200),
    "Spain > Bilbao": (30, 100),
    "Peru > Lima > Centre": (200, 400),
    "Peru > Lima > Callao": (35, 50),
}
"""Yes reports and all of them; gamma 1/4."""
POPULATIONS = {
    "Spain > Madrid": 600,
    "Spain > Bilbao": 200,
    "Peru > Lima > Centre": 1000,
    "Peru > Lima > Callao": 200,
}


def publish_stratified(
    database_url: str, tree: str = TREE, minimum: int = 10
) -> tuple[Published, dict[str, str]]:
    """A survey of one question whose strata have answered."""
    survey = factories.publish(database_url, factories.definition([0.25]), minimum=minimum)
    links = factories.plant(database_url, survey.slug, tree)
    for path, (yes, n) in REPORTS.items():
        factories.store(database_url, survey, [([1], yes), ([0], n - yes)], links[path])
    return survey, links


def groups(document: Any) -> dict[str, Any]:
    """The strata of the only question by path; those without stratum under "-"."""
    found: dict[str, Any] = {}

    def walk(group: Any) -> None:
        found["-" if group["without_stratum"] else group["path"]] = group
        for child in group.get("strata", []):
            walk(child)

    walk(document["questions"][0]["strata"])
    return found


def share(group: Any) -> tuple[float, float]:
    estimate = group["found"]["estimate"]
    return estimate["shares"][1], estimate["standard_errors"][1]


def test_strata_are_rolled_up_and_weighted_by_population(signed_in: FlaskClient, database_url: str) -> None:
    survey, _ = publish_stratified(database_url)
    factories.store(database_url, survey, [([1], 30), ([0], 10)])
    factories.close(database_url, survey.slug)

    document = report(signed_in, survey)

    found = groups(document)
    leaves = {path: by_hand(yes, n, 0.25) for path, (yes, n) in REPORTS.items()}
    for path, (value, variance) in leaves.items():
        assert found[path]["weighting"] == "no strata below"
        assert share(found[path]) == pytest.approx((value, variance**0.5), abs=1e-9)
    for path, n in (("", 750), ("Spain", 300), ("Peru", 450), ("Peru > Lima", 450)):
        own = [leaf for leaf in leaves if leaf.startswith(path)]
        total = sum(POPULATIONS[leaf] for leaf in own)
        value = sum(POPULATIONS[leaf] / total * leaves[leaf][0] for leaf in own)
        variance = sum((POPULATIONS[leaf] / total) ** 2 * leaves[leaf][1] for leaf in own)
        assert found[path]["weighting"] == "by population"
        assert (found[path]["n"], found[path]["population"]) == (n, total)
        assert share(found[path]) == pytest.approx((value, variance**0.5), abs=1e-9)
    assert share(found["-"])[0] == pytest.approx(by_hand(30, 40, 0.25)[0], abs=1e-9)
    # The first number is the weighted one; a step behind are all responses, those without stratum too.
    (question,) = document["questions"]
    assert question["weighting"] == "by population"
    assert question["estimate"]["shares"][1] == share(found[""])[0]
    everything = question["unweighted"]["estimate"]["shares"][1]
    assert everything == pytest.approx(by_hand(375, 790, 0.25)[0], abs=1e-9)
    # The broken twin: it matters whether strata count as much as their people, or as their responses.
    assert share(found[""])[0] != pytest.approx(by_hand(345, 750, 0.25)[0], abs=1e-3)


def test_csv_says_what_json_says_of_every_stratum(signed_in: FlaskClient, database_url: str) -> None:
    survey, links = publish_stratified(database_url)
    factories.store(database_url, survey, [([1], 3)], links["Spain > Madrid"])
    factories.close(database_url, survey.slug)
    text = signed_in.get(f"/manage/surveys/{survey.slug}/report.csv").text
    rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["answer"] == "yes"]

    found = groups(report(signed_in, survey))

    assert [(row["group"], row["stratum"], row["weighting"]) for row in rows][:3] == [
        ("all", "", "population"),
        ("all", "", "responses"),
        ("stratum", "Spain", "population"),
    ]
    assert {row["stratum"] for row in rows} == found.keys()
    for row in (rows[0], *rows[2:]):
        group = found[row["stratum"]]
        assert (float(row["estimate"]), float(row["standard_error"])) == share(group)
        assert int(row["n"]) == group["n"]


def test_without_every_population_responses_count_the_same(signed_in: FlaskClient, database_url: str) -> None:
    survey, _ = publish_stratified(database_url, TREE.replace("Callao, 200", "Callao"))
    factories.close(database_url, survey.slug)

    found = groups(report(signed_in, survey))

    assert found[""]["weighting"] == found["Peru"]["weighting"] == "some stratum has no population"
    assert found["Spain"]["weighting"] == "by population"
    assert share(found["Peru"])[0] == pytest.approx(by_hand(235, 450, 0.25)[0], abs=1e-9)
    assert share(found[""])[0] == pytest.approx(by_hand(345, 750, 0.25)[0], abs=1e-9)


def weighted_by_hand(weights: dict[str, float]) -> float:
    return sum(weight * by_hand(*REPORTS[path], 0.25)[0] for path, weight in weights.items())


def test_a_stratum_nobody_answered_in_counts_as_those_beside_it(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey, _ = publish_stratified(database_url, f"{TREE}\nSpain > Getafe, 400")
    factories.close(database_url, survey.slug)

    document = report(signed_in, survey)

    found = groups(document)
    total = sum(POPULATIONS.values()) + 400
    spain = sum(n for path, n in POPULATIONS.items() if path.startswith("Spain"))
    grown = {
        path: n / total * ((spain + 400) / spain if path.startswith("Spain") else 1)
        for path, n in POPULATIONS.items()
    }
    assert sum(grown.values()) == pytest.approx(1)
    for path in ("", "Spain"):
        assert found[path]["weighting"] == "by population"
        assert found[path]["not_used"] == ["Spain > Getafe"]
    assert share(found[""])[0] == pytest.approx(weighted_by_hand(grown), abs=1e-9)
    assert document["questions"][0]["estimate"]["shares"][1] == share(found[""])[0]
    assert (found["Spain > Getafe"]["n"], found["Spain > Getafe"]["found"]) == (0, None)
    assert found["Spain > Getafe"]["withheld"] is None
    shown = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text
    assert "No responses are used from: Spain &gt; Getafe." in shown
    done = factories.run(database_url, "report", survey.slug).stdout
    assert "No responses are used from: Spain > Getafe." in done


def test_withheld_strata_are_weighted_together(signed_in: FlaskClient, database_url: str) -> None:
    """Getafe is too small, Bilbao withheld beside it: their sum is no secret, and counts for both populations."""
    survey, links = publish_stratified(database_url, f"{TREE}\nSpain > Getafe, 400")
    factories.store(database_url, survey, [([1], 7)], links["Spain > Getafe"])
    factories.close(database_url, survey.slug)

    found = groups(report(signed_in, survey))

    yes, n = REPORTS["Spain > Bilbao"]
    both = by_hand(yes + 7, n + 7, 0.25)[0]
    total = sum(POPULATIONS.values()) + 400
    rest = {path: people / total for path, people in POPULATIONS.items() if path != "Spain > Bilbao"}
    expected = weighted_by_hand(rest) + (POPULATIONS["Spain > Bilbao"] + 400) / total * both
    assert found[""]["taken_together"] == [["Spain > Madrid", "Spain > Bilbao", "Spain > Getafe"][1:]]
    assert share(found[""])[0] == pytest.approx(expected, abs=1e-9)
    # No part of it tells the withheld ones apart.
    assert {sum(part["counts"]) for part in found[""]["found"]["parts"]} == {n + 7, 200, 400, 50}
    # What holds at every look would need the same parts at every look.
    assert found[""]["found"]["estimate"]["anytime_intervals"][1] == [0, 1]


def test_the_first_number_is_weighted_everywhere(signed_in: FlaskClient, database_url: str) -> None:
    """Strata of 9,000 and 1,000 people, of which 100 and 900 responded: 15 % are weighted, 55 % are not."""
    survey = factories.publish(database_url, factories.definition([0.25]))
    links = factories.plant(database_url, survey.slug, "large, 9000\nsmall, 1000")
    factories.store(database_url, survey, [([1], 30), ([0], 70)], links["large"])
    factories.store(database_url, survey, [([1], 495), ([0], 405)], links["small"])
    factories.close(database_url, survey.slug)
    page = f"/manage/surveys/{survey.slug}"
    weighted = 0.9 * by_hand(30, 100, 0.25)[0] + 0.1 * by_hand(495, 900, 0.25)[0]
    plain = by_hand(525, 1000, 0.25)[0]
    assert (round(weighted, 3), round(plain, 3)) == (0.150, 0.550)

    shown = signed_in.get(f"{page}/results?{ALL_OPEN}").text
    assert "15.0&nbsp;%" in shown.split("55.0&nbsp;%")[0]
    assert "weighted by population" in shown.split("15.0&nbsp;%")[0]
    for file in ("report.html",):
        text = signed_in.get(f"{page}/{file}").text
        lead, table = text.split("Weighted by population")
        assert "Estimates are weighted by the populations" in lead
        assert "15.0" in lead
        assert "55.0" not in lead
        assert table.index("15.0") < table.index("55.0")
    first, second, *_ = [
        line
        for line in factories.run(database_url, "report", survey.slug).stdout.splitlines()
        if "yes" in line
    ]
    assert (first.endswith("weighted by population"), "0.1500" in first) == (True, True)
    assert (second.endswith("not weighted"), "0.5500" in second) == (True, True)


def test_a_population_that_changes_is_logged_old_and_new_and_dated_in_every_report(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey, _ = publish_stratified(database_url)
    factories.close(database_url, survey.slug)
    page = f"/manage/surveys/{survey.slug}"
    number = next(
        found[1]
        for found in re.finditer(
            r'name="population.([0-9]+)"[^>]*value="200"', signed_in.get(f"{page}/strata").text
        )
    )

    assert signed_in.post(f"{page}/strata", data={f"population.{number}": "900"}).status_code == 303

    assert "changed the population of Spain &gt; Bilbao from 200 to 900" in signed_in.get(f"{page}/log").text
    today = datetime.now(UTC).date()
    assert report(signed_in, survey)["questions"][0]["populations_since"] == today.isoformat()
    for file in ("results", "report.html"):
        assert "Populations as they have stood since" in signed_in.get(f"{page}/{file}").text
    done = factories.run(database_url, "report", survey.slug)
    assert f"as it has stood since {today}" in done.stdout


def test_what_is_not_weighted_says_so(signed_in: FlaskClient, database_url: str) -> None:
    survey, _ = publish_stratified(database_url, TREE.replace("Callao, 200", "Callao"))
    factories.close(database_url, survey.slug)
    page = f"/manage/surveys/{survey.slug}"
    assert report(signed_in, survey)["questions"][0]["weighting"] == "some stratum has no population"
    for file in ("results", "report.html"):
        text = signed_in.get(f"{page}/{file}").text
        assert "Not weighted: every response counts the same. Some stratum has no population." in text
    assert "Not weighted" in factories.run(database_url, "report", survey.slug).stdout


def test_forged_responses_do_most_where_few_stand_for_many(signed_in: FlaskClient, database_url: str) -> None:
    """Strata of 1,000,000 people (90 responses) and 1,000 (900): 10 forged ones move the first number by 22 points."""
    survey = factories.publish(database_url, factories.definition([0.25]))
    links = factories.plant(database_url, survey.slug, "large, 1000000\nsmall, 1000")
    factories.store(database_url, survey, [([1], 30), ([0], 60)], links["large"])
    factories.store(database_url, survey, [([1], 300), ([0], 600)], links["small"])
    factories.close(database_url, survey.slug)

    text = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text

    bound = 10 / 90 * 1_000_000 / 1_001_000 / 0.5
    assert f"{100 * bound:.1f} points" in text
    assert "The bound is for the weighted share" in text
    # Ten turned round in the large stratum reach it.
    moved = (by_hand(40, 90, 0.25)[0] - by_hand(30, 90, 0.25)[0]) * 1_000_000 / 1_001_000
    assert moved == pytest.approx(bound)


def test_small_strata_are_withheld_in_every_format(signed_in: FlaskClient, database_url: str) -> None:
    survey, links = publish_stratified(database_url, f"{TREE}\nSpain > Getafe, 50")
    factories.store(database_url, survey, [([1], 7)], links["Spain > Getafe"])
    factories.close(database_url, survey.slug)

    found = groups(report(signed_in, survey))

    # Bilbao is the next smallest: without it, Spain less the others would tell what Getafe holds.
    hidden = {path for path, group in found.items() if group["withheld"]}
    assert hidden == {"Spain > Getafe", "Spain > Bilbao"}
    assert all(found[path]["n"] is None and found[path]["found"] is None for path in hidden)
    text = signed_in.get(f"/manage/surveys/{survey.slug}/report.csv").text
    rows = [row for row in csv.DictReader(io.StringIO(text, newline="")) if row["stratum"] in hidden]
    assert {(row["n"], row["estimate"], row["count_reported"]) for row in rows} == {("", "", "")}
    assert {bool(row["withheld"]) for row in rows} == {True}
    noisy = signed_in.get(f"/manage/surveys/{survey.slug}/responses.csv").text
    named = [row["stratum"] for row in csv.DictReader(io.StringIO(noisy, newline=""))]
    assert {path: named.count(path) for path in set(named)} == {
        "Spain": 107,
        "Spain > Madrid": 200,
        "Peru > Lima > Centre": 400,
        "Peru > Lima > Callao": 50,
    }
    for page in ("results", "report.html"):
        shown = signed_in.get(f"/manage/surveys/{survey.slug}/{page}").text
        assert shown.count(">withheld<") >= 2
        assert "Withheld are strata with fewer than 10 responses" in shown


def sizes_told(question: Any) -> dict[str, list[int]]:
    """Every number of responses that a question tells of each shown stratum: all of them, and part by part."""
    found: dict[str, list[int]] = {}

    def walk(group: Any) -> None:
        if group["path"] and not group["withheld"]:
            found[group["path"]] = [group["n"], *(sum(part["counts"]) for part in group["found"]["parts"])]
        for child in group.get("strata", []):
            walk(child)

    walk(question["strata"])
    return found


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"text": "Another one?"}, {"c", "d"}),
        ({"design": {"mechanism": "coin_flip", "gamma": 0.2}}, {"c", "d"}),
        ({}, {"a", "b", "c", "d"}),
    ],
    ids=["words", "gamma", "nothing"],
)
def test_the_few_of_a_version_are_not_told_by_a_subtraction(
    signed_in: FlaskClient, database_url: str, changes: dict[str, Any], named: set[str]
) -> None:
    """Of stratum "a" 4 answered the first version; 16 the second, where one question may have changed."""
    survey = factories.publish(database_url, factories.definition([0.25, 0.25]), minimum=10)
    links = factories.plant(database_url, survey.slug, "a\nb\nc\nd")
    for path, n in {"a": 4, "b": 12, "c": 30, "d": 50}.items():
        factories.store(database_url, survey, [([1, 0], 1), ([0, 1], n - 1)], links[path])
    document = factories.definition([0.25, 0.25], title="The same exams")
    document["questions"][1] |= changes
    newer = factories.publish(database_url, document, survey.slug)
    for path in links:
        factories.store(database_url, newer, [([1, 1], 16)], links[path])
    factories.close(database_url, survey.slug)

    told = [sizes_told(question) for question in report(signed_in, survey)["questions"]]

    assert [set(sizes) for sizes in told] == [named, named]
    for path in named:
        sizes = {0, *told[0][path], *told[1][path]}
        assert {abs(one - other) for one in sizes for other in sizes}.isdisjoint(range(1, 10))


def test_few_responses_show_nothing_anywhere(signed_in: FlaskClient, database_url: str) -> None:
    """While the survey is open nine are as good as none, which is what is said; afterwards they are too few."""
    survey = factories.publish(database_url, factories.definition([0.25]), minimum=10)
    home = f"/manage/surveys/{survey.slug}"
    none = [signed_in.get(f"{home}/{file}").data for file in ("results", "report.json", "responses.csv")]
    factories.store(database_url, survey, [([1], 7), ([0], 2)])

    assert [
        signed_in.get(f"{home}/{file}").data for file in ("results", "report.json", "responses.csv")
    ] == none
    assert "Nothing is shown yet." in none[0].decode()
    assert "Fewer than 20 more responses are not shown yet" in none[0].decode()
    factories.close(database_url, survey.slug)
    page = signed_in.get(f"{home}/results?{ALL_OPEN}").text
    assert "Fewer than 10 responses can be shown so far." in page
    assert "responses</dt>" not in page
    for file in ("report.html", "report.csv", "report.json", "responses.csv"):
        answer = signed_in.get(f"{home}/{file}", headers={"Accept": "application/json"})
        assert (file, answer.status_code) == (file, 409)
    assert signed_in.get(f"{home}/codebook.csv").status_code == 200


def test_as_many_as_the_minimum_show_once_as_many_again_wait(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, factories.definition([0.25]), minimum=10)
    for number, shown in ((19, 0), (1, 10), (9, 10), (1, 20)):
        factories.store(database_url, survey, [([1], number)])
        assert report(signed_in, survey)["n"] == shown
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text
    assert 'responses shown so far</dt><dd data-mark="responses">20</dd>' in page
    factories.close(database_url, survey.slug)
    assert report(signed_in, survey)["n"] == 30
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?{ALL_OPEN}").text
    assert 'responses</dt><dd data-mark="responses">30</dd>' in page
    assert "not shown yet" not in page


def test_few_in_a_version_or_without_stratum_are_left_out(signed_in: FlaskClient, database_url: str) -> None:
    survey, _ = publish_stratified(database_url)
    factories.store(database_url, survey, [([1], 4)])
    newer = factories.publish(database_url, factories.definition([0.2]), survey.slug)
    factories.store(database_url, newer, [([1], 2)])
    factories.close(database_url, survey.slug)

    document = report(signed_in, survey)

    assert document["n"] == 750
    assert document["left_out"] == {"versions": [2], "without_stratum": True}
    assert document["versions"] == document["questions"][0]["versions"] == [1]
    assert document["questions"][0]["unweighted"]["estimate"]["shares"][1] == pytest.approx(
        by_hand(345, 750, 0.25)[0], abs=1e-9
    )
    alone = signed_in.get(f"/manage/surveys/{survey.slug}/responses.csv?version=2")
    assert alone.status_code == 409


def test_a_question_that_nobody_has_answered_yet_is_shown_so(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey, _ = publish_stratified(database_url)
    number = {
        "name": "cups",
        "kind": "number",
        "text": "How many cups?",
        **{"low": 0, "high": 10, "step": 1},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 2},
    }
    questions = [*factories.definition([0.25])["questions"], factories.question("new", "New?"), number]
    factories.publish(database_url, factories.definition(questions=questions), survey.slug)
    factories.close(database_url, survey.slug)

    document = report(signed_in, survey)

    assert [entry["versions"] for entry in document["questions"]] == [[1], [2], [2]]
    assert [entry["counts"] for entry in document["questions"]] == [[405, 345], [0, 0], [0, 0]]
    assert document["questions"][1]["estimate"] is None
    for query in ("", "?question=cups", "?question=new", "?row=q1&column=new"):
        page = signed_in.get(f"/manage/surveys/{survey.slug}/results{query}")
        assert (query, page.status_code) == (query, 200)
        assert "No response is shown." in page.text
    for file in ("report.html", "report.csv"):
        assert signed_in.get(f"/manage/surveys/{survey.slug}/{file}").status_code == 200


def test_command_line_shows_strata_and_what_is_withheld(database_url: str) -> None:
    survey, links = publish_stratified(database_url, f"{TREE}\nSpain > Getafe, 50")
    factories.store(database_url, survey, [([1], 7)], links["Spain > Getafe"])
    factories.close(database_url, survey.slug)

    done = factories.run(database_url, "report", survey.slug)

    lines = [line.split() for line in done.stdout.splitlines()]
    (madrid,) = (line for line in lines if line[-3:] == ["Spain", ">", "Madrid"])
    assert madrid[:5] == ["q1", "yes", "200", "80", f"{by_hand(80, 200, 0.25)[0]:.4f}"]
    assert sum(line[-1] == "withheld" for line in lines) == 2
    assert any(line[-3:] == ["weighted", "by", "population"] for line in lines)


def test_a_question_that_cannot_be_weighted_says_so_beside_those_that_are(
    signed_in: FlaskClient, database_url: str
) -> None:
    """Its words changed, and whoever answered since came by the survey's own link."""
    questions = [factories.question(f"q{k}", f"Question {k}?", 0.25) for k in (1, 2)]
    first = factories.publish(database_url, factories.definition(questions=questions), minimum=10)
    links = factories.plant(database_url, first.slug, "Big, 900\nSmall, 100")
    factories.store(database_url, first, [([0, 1], 30), ([1, 0], 20)], links["Big"])
    factories.store(database_url, first, [([0, 1], 10), ([1, 0], 40)], links["Small"])
    changed = [questions[0], factories.question("q2", "Another question?", 0.25)]
    second = factories.publish(database_url, factories.definition(questions=changed), first.slug)
    factories.store(database_url, second, [([0, 1], 12), ([0, 0], 18)])
    factories.close(database_url, first.slug)
    home, english = f"/manage/surveys/{first.slug}", {"Accept-Language": "en"}

    one, other = report(signed_in, first)["questions"]
    assert (one["weighting"], one["unweighted"] is None) == ("by population", False)
    assert (other["weighting"], other["unweighted"]) == ("no stratum has enough responses", None)
    assert other["estimate"]["n"] == 30
    rows = list(csv.DictReader(io.StringIO(signed_in.get(f"{home}/report.csv").text, newline="")))
    weighted = {row["question"] for row in rows if row["weighting"] == "population"}
    assert weighted == {"q1"}

    said = "Not weighted, as no stratum has enough responses to them: q2."
    document = signed_in.get(f"{home}/report.html", headers=english).text
    assert (
        document.count(said) == 3
    )  # with what was found, with the estimates, and in the paragraph for an article
    assert "Of these it is for the share of all responses: q2." in document
    page = signed_in.get(f"{home}/results?{ALL_OPEN}", headers=english).text
    assert said in page
    assert "· weighted by population, but for q2" in page
    assert said in factories.run(database_url, "report", first.slug).output


@pytest.mark.parametrize("few", [True, False])
def test_a_mean_whose_interval_is_its_whole_range_says_why(
    signed_in: FlaskClient, database_url: str, few: bool
) -> None:
    """Of those who gave a number, in two strata by population, of which one has few responses; or enough."""
    cups = {"name": "cups", "kind": "number", "text": "Cups?", "low": 0, "high": 24, "step": 1}
    cups |= {"prefer_not_to_say": True, "design": {"mechanism": "stochastic_rounding", "epsilon": 3}}
    survey = factories.publish(database_url, factories.definition(questions=[cups]))
    links = factories.plant(database_url, survey.slug, "North, 900\nSouth, 100")
    for path, size in (("North", 400), ("South", 20 if few else 200)):
        rows = [([code], size * part // 10) for code, part in ((0, 5), (1, 4), (2, 1))]
        factories.store(database_url, survey, rows, links[path])
    (entry,) = report(signed_in, survey)["questions"]
    low, high = entry["mean"]["estimate"]["interval"]
    assert (low, high) == (0, 24) if few else 0 < low < high < 24
    said = "The interval of the mean is its whole range."
    for page in ("results", "report.html"):
        text = signed_in.get(f"/manage/surveys/{survey.slug}/{page}").text
        assert (said in text) == few
