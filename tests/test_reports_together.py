"""Questions together in a report: what is worked out by hand, the same in every format and by every way to it."""

import csv
import html
import io
import itertools
import json
import re
from functools import reduce
from typing import Any

import jsonschema
import numpy as np
import openpyxl
import pypdf
import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from server.cli import main
from server.inputs.schema import schema
from server.reports.joint_counts import weigh_some
from server.reports.population_weights import StratumCells, Weighed, Weighting
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published

GAMMAS = (0.25, 0.4, 0.1)
REPORTED = (520, 350, 310, 300, 420, 300, 460, 440)
COUNTS = dict(zip(itertools.product((0, 1), repeat=3), REPORTED, strict=True))


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens after everything was read."""
    return sqlite(True)


def publish_three(database_url: str, gammas: tuple[float, ...] = GAMMAS, slug: str = "") -> Published:
    survey = factories.publish(database_url, factories.definition(gammas), slug)
    factories.store(database_url, survey, [(list(at), count) for at, count in COUNTS.items()])
    return survey


def run(database_url: str, *arguments: str) -> str:
    done = CliRunner(env={"DATABASE_URL": database_url}).invoke(main, ["report", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


def read_together(database_url: str, survey: Published, *texts: str) -> Any:
    options = [part for text in texts for part in ("--together", text)]
    found = json.loads(run(database_url, survey.slug, "--json", *options))
    jsonschema.validate(found, schema("report"))
    return found["together"]


def solve(gammas: tuple[float, ...], counts: Any) -> Any:
    """The joint table of coins, by the Kronecker product written out."""
    coins = [np.array([[0.5 + g, 0.5 - g], [0.5 - g, 0.5 + g]]) for g in gammas]
    return np.linalg.solve(reduce(np.kron, coins).T, np.ravel(counts) / np.sum(counts))


def test_three_questions_are_the_solution_under_all_their_coins(database_url: str) -> None:
    survey = publish_three(database_url)
    (found,) = read_together(database_url, survey, "q1,q3,q2")
    table = np.array([COUNTS[a, c, b] for a, b, c in itertools.product((0, 1), repeat=3)])
    expected = solve((0.25, 0.1, 0.4), table)
    assert found["questions"] == ["q1", "q3", "q2"]
    assert [row["answers"] for row in found["rows"][:8]] == [
        ["no" if not bit else "yes" for bit in at] for at in itertools.product((0, 1), repeat=3)
    ]
    rows = found["rows"][:8]
    shares = [row["estimate"] for row in rows]
    assert shares == pytest.approx(expected.tolist(), abs=1e-9)
    # The twin whose answers are in the order of the definition.
    assert shares != pytest.approx(solve(GAMMAS, list(COUNTS.values())).tolist(), abs=1e-3)
    assert all(row["interval"][0] < row["estimate"] < row["interval"][1] for row in rows)


def test_two_questions_go_together_within_each_answer_of_the_third(database_url: str) -> None:
    """From the joint table under all coins; the twin that forgets the third answer is another number."""
    survey = publish_three(database_url)
    (found,) = read_together(database_url, survey, "q1,q2,q3")
    table = solve(GAMMAS, list(COUNTS.values())).reshape(2, 2, 2)
    rows = {(row["statistic"], tuple(row["answers"])): row for row in found["rows"][8:]}
    assert len(rows) == 3 * 2 * 5
    for axis, (first, second, third) in enumerate(
        (("q2", "q3", "q1"), ("q1", "q3", "q2"), ("q1", "q2", "q3"))
    ):
        for place, answer in enumerate(("no", "yes")):
            own = table.take(place, axis)
            named = (f"{first}: yes", f"{second}: yes", f"{third}: {answer}")
            gave, others = own[1, 1] / own[1].sum(), own[0, 1] / own[0].sum()

            def read(statistic: str, named: tuple[str, ...] = named) -> Any:
                return rows[f"{statistic}, within the last", named]

            for who, share in (("those who gave the first", gave), ("the others", others)):
                row = read(f"share among {who}")
                expected = share if 0 <= share <= 1 else None
                assert row["estimate"] == (
                    expected if expected is None else pytest.approx(expected, abs=1e-9)
                )
                assert row["interval"][0] <= min(max(share, 0), 1) <= row["interval"][1]
            if (own > 0).all():
                odds = own[1, 1] * own[0, 0] / (own[0, 1] * own[1, 0])
                assert read("odds ratio")["estimate"] == pytest.approx(odds, rel=1e-7)
                assert read("difference")["estimate"] == pytest.approx(gave - others, abs=1e-9)
                pooled = table.sum(axis=axis)
                assert odds != pytest.approx(
                    pooled[1, 1] * pooled[0, 0] / (pooled[0, 1] * pooled[1, 0]), rel=1e-3
                )


def test_versions_are_weighted_by_their_responses_each_under_its_own_coins(database_url: str) -> None:
    first = publish_three(database_url)
    newer = (0.2, 0.4, 0.1)
    publish_three(database_url, newer, first.slug)
    (found,) = read_together(database_url, first, "q1,q2,q3")
    values = list(COUNTS.values())
    expected = (solve(GAMMAS, values) + solve(newer, values)) / 2
    assert (found["versions"], found["n"]) == ([2, 1], 2 * sum(values))
    assert [row["estimate"] for row in found["rows"][:8]] == pytest.approx(expected.tolist(), abs=1e-9)


STRATA = {
    "North": (500, (3000, 1200, 900, 600)),
    "South": (300, (800, 900, 700, 1600)),
    "East": (200, (4, 5, 3, 2)),
}
"""Population, and reports of (no, no), (no, yes), (yes, no), (yes, yes)."""
PAIRS = ((0, 0), (0, 1), (1, 0), (1, 1))


def publish_strata(database_url: str, populations: bool = True, loose: int = 0) -> Published:
    """Three strata, the last of so few that one more group is withheld beside it; and some without stratum."""
    survey = factories.publish(database_url, factories.definition([0.25, 0.4]), minimum=20)
    lines = [f"{name}, {size}" if populations else name for name, (size, _) in STRATA.items()]
    links = factories.plant(database_url, survey.slug, "\n".join(lines))
    for name, (_, counts) in STRATA.items():
        rows = [(list(at), count) for at, count in zip(PAIRS, counts, strict=True)]
        factories.store(database_url, survey, rows, links[name])
    if loose:
        factories.store(database_url, survey, [([1, 1], loose)])
    factories.close(database_url, survey.slug)
    return survey


def weigh(counts: dict[float, Any]) -> tuple[Any, Any]:
    """The joint table, and its covariance, of independent groups that count so much, by the Kronecker product."""
    coins = [np.array([[0.5 + g, 0.5 - g], [0.5 - g, 0.5 + g]]) for g in (0.25, 0.4)]
    inverse = np.linalg.inv(np.kron(*coins).T)
    table, spread = np.zeros(4), np.zeros((4, 4))
    for share, own in counts.items():
        seen = np.array(own) / np.sum(own)
        table += share * inverse @ seen
        varied = (np.diag(seen) - np.outer(seen, seen)) / (np.sum(own) - 1)
        spread += share**2 * inverse @ varied @ inverse.T
    return table, spread


def test_strata_count_by_their_populations_and_withheld_ones_all_together(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = publish_strata(database_url)
    (found,) = read_together(database_url, survey, "q1,q2")
    # East has too few, so South, the smallest beside it, is withheld too: the two count as one.
    together = np.add(STRATA["South"][1], STRATA["East"][1])
    table, spread = weigh({0.5: STRATA["North"][1], 0.5 + 1e-15: together})
    assert (found["weighting"], found["n"]) == ("by population", 9714)
    assert (found["taken_together"], found["not_used"]) == ([["South", "East"]], [])
    rows = {(row["statistic"], tuple(row["answers"])): row for row in found["rows"]}
    shares = [rows["joint share", (a, b)] for a in ("no", "yes") for b in ("no", "yes")]
    assert [row["estimate"] for row in shares] == pytest.approx(table.tolist(), abs=1e-9)
    errors = np.sqrt(np.diag(spread)).tolist()
    assert [row["standard_error"] for row in shares] == pytest.approx(errors, abs=1e-9)
    gave, others = table[3] / (table[2] + table[3]), table[1] / (table[0] + table[1])
    yes = ("yes", "yes")
    assert rows["difference", yes]["estimate"] == pytest.approx(gave - others, abs=1e-9)
    odds = table[3] * table[0] / (table[1] * table[2])
    assert rows["odds ratio", yes]["estimate"] == pytest.approx(odds, rel=1e-7)
    low, high = rows["odds ratio", yes]["interval"]
    assert low < odds < high
    # The twin in which every response counts the same stands beside it.
    plain = found["unweighted"]
    expected = solve((0.25, 0.4), np.add(together, STRATA["North"][1])).tolist()
    assert [row["estimate"] for row in plain["rows"][:4]] == pytest.approx(expected, abs=1e-9)
    assert expected != pytest.approx(table.tolist(), abs=1e-2)

    written = csv.DictReader(
        io.StringIO(run(database_url, survey.slug, "--format", "csv", "--together", "q1,q2"))
    )
    cells = [row for row in written if row["kind"] == "together"]
    assert [row["weighting"] for row in cells] == ["population"] * 9 + ["responses"] * 9
    assert [float(row["estimate"]) for row in cells[:4]] == [row["estimate"] for row in shares]
    printed = run(database_url, survey.slug, "--together", "q1,q2")
    assert printed.count("q1 x q2 (9714 responses)") == 2
    notes = "Taken together, as some of them alone have too few responses: South; East."
    assert notes in printed
    home, asked = f"/manage/surveys/{survey.slug}", "row=q1&column=q2"
    page = html.unescape(signed_in.get(f"{home}/results?{asked}&open=joint-unweighted,joint-table").text)
    pair = page.partition('id="found-joint"')[2]
    assert pair.index("9,714 responses · Weighted by population") < pair.index(
        "9,714 responses · Not weighted"
    )
    assert notes in pair
    assert f"<strong>{100 * table[3]:.1f}" in pair
    for kind in ("html", "pdf", "xlsx"):
        shown = words_of(kind, signed_in.get(f"{home}/report.{kind}?together=q1,q2").get_data())
        assert "Estimatedsharesofthepopulation;" in shown, kind
        assert "Estimatedsharesofallwhoresponded;" in shown, kind
    picture = signed_in.get(f"{home}/crossing.csv?{asked}").text
    (first,) = itertools.islice(csv.DictReader(io.StringIO(picture)), 1)
    assert (first["weighting"], float(first["share"])) == ("population", shares[0]["estimate"])


def test_what_would_tell_what_is_withheld_is_not_used(database_url: str) -> None:
    """Beside few in a stratum those without one are withheld: a sum of that stratum alone would tell of both."""
    (found,) = read_together(database_url, publish_strata(database_url, loose=60), "q1,q2")
    assert (found["taken_together"], found["not_used"]) == ([], ["East"])
    table, _ = weigh({0.625: STRATA["North"][1], 0.375: STRATA["South"][1]})
    assert [row["estimate"] for row in found["rows"][:4]] == pytest.approx(table.tolist(), abs=1e-9)
    assert (found["n"], found["unweighted"]["n"]) == (9700, 9774)


def test_three_questions_are_weighted_too_and_equal_weights_change_nothing(database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition(GAMMAS), minimum=20)
    links = factories.plant(database_url, survey.slug, "North, 3000\nSouth, 1000")
    rows = [(list(at), count) for at, count in COUNTS.items()]
    factories.store(database_url, survey, [(at, 3 * count) for at, count in rows], links["North"])
    factories.store(database_url, survey, rows, links["South"])
    factories.close(database_url, survey.slug)
    for asked in ("q1,q2,q3", "q1,q2"):
        (found,) = read_together(database_url, survey, asked)
        assert found["weighting"] == "by population"
        for row, plain in zip(found["rows"], found["unweighted"]["rows"], strict=True):
            assert row["answers"] == plain["answers"]
            assert row["estimate"] == pytest.approx(plain["estimate"], abs=1e-8)


def test_without_populations_every_response_counts_the_same(database_url: str) -> None:
    (found,) = read_together(database_url, publish_strata(database_url, populations=False), "q1,q2")
    assert (found["weighting"], found["unweighted"], found["n"]) == ("responses", None, 9714)


def test_what_follows_from_two_groups_holds_with_them(database_url: str) -> None:
    survey = publish_three(database_url)
    (found,) = read_together(database_url, survey, "q1,q2")
    rows = {row["statistic"]: row for row in found["rows"] if row["statistic"] != "joint share"}
    gave, others = rows["share among those who gave the first"], rows["share among the others"]
    table = solve((0.25, 0.4), np.reshape(list(COUNTS.values()), (2, 2, 2)).sum(axis=2)).reshape(2, 2)
    no, yes = table[:, 1] / table.sum(axis=1)
    assert (gave["estimate"], others["estimate"]) == pytest.approx((yes, no), abs=1e-9)
    assert rows["difference"]["estimate"] == pytest.approx(yes - no, abs=1e-9)
    assert rows["difference"]["interval"] == pytest.approx(
        [gave["interval"][0] - others["interval"][1], gave["interval"][1] - others["interval"][0]]
    )
    odds = table[1, 1] * table[0, 0] / (table[0, 1] * table[1, 0])
    margins = np.prod([*table.sum(axis=0), *table.sum(axis=1)])
    assert rows["odds ratio"]["estimate"] == pytest.approx(odds, rel=1e-7)
    assert rows["phi"]["estimate"] == pytest.approx(np.linalg.det(table) / np.sqrt(margins), abs=1e-9)
    assert (rows["phi"]["interval"], rows["phi"]["confidence"]) == (None, None)


def words_of(kind: str, body: bytes) -> str:
    """What a reader of this format finds, spaces apart."""
    if kind == "pdf":
        text = " ".join(page.extract_text() for page in pypdf.PdfReader(io.BytesIO(body)).pages)
    elif kind == "xlsx":
        book = openpyxl.load_workbook(io.BytesIO(body))
        text = " ".join(
            str(cell) for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row
        )
    else:
        text = html.unescape(re.sub(r"<[^>]*>", " ", body.decode()))
    return re.sub(r"\s+", "", text)


def test_every_format_has_the_pair_that_the_page_of_results_offers(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = publish_three(database_url)
    home = f"/manage/surveys/{survey.slug}"
    page = html.unescape(signed_in.get(f"{home}/results?row=q1&column=q2&row_answer=q1-0").text)
    links = re.findall(rf'href="({home}/report\.(\w+)\?together=[^"]*)"', page)
    assert [kind for _, kind in links] == ["html", "pdf", "xlsx", "csv", "json"]
    files = {kind: signed_in.get(link).get_data() for link, kind in links}
    (found,) = json.loads(files["json"])["together"]
    difference = next(row for row in found["rows"] if row["statistic"] == "difference")
    assert difference["answers"] == ["no", "yes"]
    for kind in ("html", "pdf"):
        shown = words_of(kind, files[kind])
        for value in (difference["estimate"], *difference["interval"]):
            assert f"{100 * value:.1f}".replace("-", "\N{MINUS SIGN}") in shown, kind
    assert "Question1?×Question2?" in words_of("xlsx", files["xlsx"])
    rows = [row for row in csv.DictReader(io.StringIO(files["csv"].decode())) if row["kind"] == "together"]
    assert [(row["question"], row["statistic"], float(row["estimate"])) for row in rows] == [
        ("q1 × q2", each["statistic"], each["estimate"]) for each in found["rows"]
    ]
    plain, asked = signed_in.get(f"{home}/report.json").get_json(), json.loads(files["json"])
    added = [each["authors"] for each in asked["references"] if each not in plain["references"]]
    assert added == ["Fieller, E. C.", "Tango, T."]
    assert plain["together"] == []
    assert {**asked, "together": [], "references": plain["references"]} == plain


def test_what_has_no_end_is_written_in_every_format(signed_in: FlaskClient, database_url: str) -> None:
    """Of so uniform responses a group may be nobody."""
    survey = factories.publish(database_url, factories.definition([0.49, 0.49]))
    factories.store(database_url, survey, [([1, 0], 900)])
    for kind in ("html", "pdf", "xlsx", "csv", "json"):
        sent = signed_in.get(f"/manage/surveys/{survey.slug}/report.{kind}?together=q1,q2")
        assert sent.status_code == 200, kind
    rows = sent.get_json()["together"][0]["rows"]
    assert next(row for row in rows if row["statistic"] == "odds ratio")["interval"][1] is None


def test_an_estimate_where_no_true_number_can_be_is_none(database_url: str) -> None:
    survey = factories.publish(database_url, factories.definition([0.25, 0.25]))
    factories.store(database_url, survey, [([0, 0], 4), ([0, 1], 9), ([1, 0], 9), ([1, 1], 1)])
    (found,) = read_together(database_url, survey, "q1,q2")
    rows = {row["statistic"]: row for row in found["rows"]}
    shares = [rows[f"share among {who}"]["estimate"] for who in ("those who gave the first", "the others")]
    assert None in shares
    assert [rows[name]["estimate"] for name in ("difference", "phi")] == [None, None]
    assert all(share is None or 0 <= share <= 1 for share in shares)


def test_every_kind_of_question_goes_with_every_other(database_url: str) -> None:
    survey = factories.publish(database_url, every_kind.document())
    rows = np.random.default_rng(5).integers(0, 2, (300, 33)).tolist()
    factories.store(database_url, survey, [(row, 1) for row in rows])
    pairs = [
        "coin,drugs.cocaine",
        "party,cups",
        "cups,drugs",
        "city.lima,mood",
        "bins,trust",
        "coin,paid,drugs.pills",
    ]
    found = read_together(database_url, survey, *pairs)
    assert [len(one["rows"]) for one in found] == [
        2 * 4 + 5,
        4 * 2,
        4 * 2,
        7 * 5 + 5,
        6 * 4 + 5,
        2 * 3 * 2 + 7 * 5,
    ]
    assert found[1]["questions"] == ["party", "cups"]
    assert all(-10 <= end <= 30 for row in found[1]["rows"] for end in row["interval"])
    assert [row["answers"][2] for row in found[5]["rows"][:2]] == ["not pills", "pills"]
    printed = run(database_url, survey.slug, "--together", "coin,paid,drugs.pills")
    assert "coin x paid x drugs (300 responses):" in printed


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("coin", "must name two or three questions with commas between them; it is coin"),
        ("coin,party,city,mood", "must name two or three questions"),
        ("coin,coin", "must name different questions; it is coin,coin"),
        ("coin,cups.low", "must name some of cups; it names cups.low"),
        ("coin,mugs", "must not name a number that somebody may prefer not to say; it names mugs"),
        ("coin,party,cups", "must name at most one number, and none among three"),
        ("coin,party.grey", "must name some of party, party.red, party.green, party.blue, party.none"),
        ("coin,secret", "must name some of coin, mirror"),
    ],
)
def test_what_cannot_be_seen_together_is_refused_by_name(
    signed_in: FlaskClient, database_url: str, text: str, problem: str
) -> None:
    survey = factories.publish(database_url, every_kind.document())
    factories.store(database_url, survey, [([1] * 33, 20)])
    done = CliRunner(env={"DATABASE_URL": database_url}).invoke(
        main, ["report", survey.slug, "--together", text]
    )
    assert (done.exit_code, f"together: {problem}" in done.output) == (2, True), done.output
    refused = signed_in.get(f"/manage/surveys/{survey.slug}/report.json?together={text}")
    assert (refused.status_code, problem.partition("; it")[0] in html.unescape(refused.text)) == (422, True)


def test_the_command_says_where_pairs_have_no_place(database_url: str) -> None:
    survey = publish_three(database_url)
    for more in (["--public", "--format", "json"], ["--format", "microdata", "--output", "never.zip"]):
        done = CliRunner(env={"DATABASE_URL": database_url}).invoke(
            main, ["report", survey.slug, "--together", "q1,q2", *more]
        )
        assert (done.exit_code, "--together must not be given with" in done.output) == (2, True), done.output
    many = [part for _ in range(13) for part in ("--together", "q1,q2")]
    done = CliRunner(env={"DATABASE_URL": database_url}).invoke(main, ["report", survey.slug, *many])
    assert "together: must be at most 12; there are 13" in done.output


def test_of_so_many_strata_that_a_page_would_wait_nothing_is_weighted() -> None:
    for strata, comparisons, weighted in ((780, 1, True), (800, 1, False), (180, 4, True), (200, 4, False)):
        shares = np.full(strata, 1 / strata)
        cells = StratumCells(
            Weighed(Weighting.BY_POPULATION, ()), np.arange(strata + 1), shares, 100 * strata
        )
        found = weigh_some(lambda _waves, cells=cells: cells, [], 1, comparisons)
        assert (found is cells) == weighted, (strata, comparisons)
