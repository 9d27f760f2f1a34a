"""Every kind of release: with hardly any noise it is what the responses say; with noise its intervals hold the truth.

What the responses say is taken from the report on them, whose estimators know nothing of releases.
"""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from server import releases, reports
from server.privacy.queries import hierarchy
from server.releases import STRATUM, Figure, Source
from server.releases.plans.plan_reader import parse_plan
from server.reports import Report
from server.simulation import Assumptions, draw_people
from server.store.engines import make_engine, open_session
from server.study.definitions.definition_reader import parse_definition
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.sample_releases import find_survey, grant

Place = tuple[tuple[str, str], ...]

LEAVES = "North > Alba", "North > Bruma", "South"
OWN = releases.OWN_LINK
TOPS = "North", "South", OWN
RESPONDENTS = 4_200
SHARES, MEANS = every_kind.true_shares(), every_kind.true_means()


@pytest.fixture(scope="module", params=["unbounded", "bounded"])
def study(request: pytest.FixtureRequest, sqlite: NewDatabase) -> tuple[str, str]:
    """A closed survey with every kind of question, in two versions with different designs; its database and slug."""
    database_url = sqlite(True)
    document = every_kind.document()
    tighter = {**document, "questions": [_tighter(entry) for entry in document["questions"]]}
    slug = factories.draft(database_url, document)
    links = factories.plant(database_url, slug, "North > Alba\nNorth > Bruma\nSouth")
    assumptions = Assumptions(every_kind.assumed_shares(), every_kind.assumed_means())
    for version in (document, tighter):
        published = factories.publish(database_url, version, slug)
        for path in LEAVES:
            people = draw_people(parse_definition(version), RESPONDENTS // 6, assumptions)
            sent = Counter(map(tuple, people.reports().tolist()))
            factories.store(database_url, published, list(sent.items()), links[path])
    factories.close(database_url, slug)  # so that the report shows all responses, as releases count them
    grant(database_url, slug, neighbours=request.param)
    return database_url, slug


def _tighter(entry: dict[str, Any]) -> dict[str, Any]:
    """The question with more privacy where its strength is a number."""
    design = dict(entry.get("design", {}))
    for strength in ("gamma", "epsilon"):
        if strength in design:
            design[strength] *= 0.8
    return {**entry, "design": design} if design else entry


@pytest.fixture(scope="module")
def report(study: tuple[str, str]) -> Iterator[Report]:
    """The report on the same responses, which is read while it is used."""
    database_url, slug = study
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        yield reports.read(session, find_survey(session, slug))
    engine.dispose()


@pytest.fixture(scope="module")
def source(study: tuple[str, str]) -> Iterator[Source]:
    """What releases are drawn from; it is read while it is used."""
    database_url, slug = study
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        yield releases.survey_source(session, find_survey(session, slug))
    engine.dispose()


def _draw_figures(
    source: Source, item: dict[str, Any], epsilon: float = 1e6, confidence: float = 0.95
) -> tuple[Figure, ...]:
    """The figures of one item at any loss, unlike what plans admit; nothing is kept."""
    plan = parse_plan({"format": 1, "division": "given", "items": [{**item, "epsilon": 1}]})
    query = releases.query_of(plan.items[0], source.shape, "items[0]")
    return query.draw(source, epsilon, 0.0, confidence).figures


def _values(figures: tuple[Figure, ...], statistic: str) -> dict[Place, float | int | None]:
    """Their values, by where they are."""
    return {figure.place: figure.value for figure in figures if figure.statistic == statistic}


QUESTIONS = [entry["name"] for entry in every_kind.document()["questions"] if "design" in entry]
ANSWERED = [name for name in QUESTIONS if name not in ("cups", "mugs")]


@pytest.mark.parametrize("name", ANSWERED)
def test_a_histogram_is_that_of_the_report(source: Source, report: Report, name: str) -> None:
    figures = _draw_figures(source, {"kind": "histogram", "question": name})

    rows = {((name, row.answer),): row for row in report.question(name).rows}
    assert _values(figures, "reports") == {place: row.count for place, row in rows.items()}
    shares = [figure for figure in figures if figure.statistic == "share"]
    assert [figure.place for figure in shares] == list(rows)
    for figure in shares:
        row = rows[figure.place]
        assert figure.value == pytest.approx(row.value, abs=1e-9)
        # The report takes the variance about each version's own share, which is a little smaller.
        assert figure.standard_error == pytest.approx(row.standard_error, rel=0.02)


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_share_of_an_answer_is_that_of_the_report(source: Source, report: Report, name: str) -> None:
    for row in report.question(name).rows[:2]:
        figures = _draw_figures(source, {"kind": "share", "question": name, "option": row.answer})

        assert _values(figures, "share") == {((name, row.answer),): pytest.approx(row.value, abs=1e-9)}


@pytest.mark.parametrize("name", ["mood", "trust", "cups", "mugs"])
def test_a_mean_is_that_of_the_report(source: Source, report: Report, name: str) -> None:
    figures = _draw_figures(source, {"kind": "mean", "question": name})

    mean = report.question(name).mean
    assert mean is not None
    assert _values(figures, "mean") == {((name, ""),): pytest.approx(mean.value, abs=1e-9)}
    assert bool(_values(figures, "answered")) == (name in ("trust", "mugs"))


@pytest.mark.parametrize(
    ("row", "column"), [("party", "mood"), ("coin", "dice"), ("city", "coin"), ("drugs", "party")]
)
def test_a_table_is_that_of_the_report(source: Source, report: Report, row: str, column: str) -> None:
    figures = _draw_figures(source, {"kind": "table", "questions": [row, column]})

    cells = reports.cross_questions(report.waves, row, column, (0, 0), report.confidence).cells
    assert cells is not None
    sides = [[(name, answer) for answer in report.question(name).question.answers] for name in (row, column)]
    expected = {
        (one, other): cells[first][second].share
        for first, one in enumerate(sides[0])
        for second, other in enumerate(sides[1])
    }
    expected |= {
        ((name, entry.answer),): entry.value for name in (row, column) for entry in report.question(name).rows
    }
    assert _values(figures, "share") == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "item", [{"questions": ["party", "trust", "coin"]}, {"questions": ["trust"], "by_stratum": True}]
)
def test_fitted_tables_add_up_and_have_no_negative_cell(source: Source, item: dict[str, Any]) -> None:
    for epsilon in (0.01, 0.03, 0.1):
        fitted = _values(_draw_figures(source, {"kind": "table", **item}, epsilon), "fitted")

        cells = {place: value or 0 for place, value in fitted.items() if len(place) > 1}
        margins = {place[0]: value for place, value in fitted.items() if len(place) == 1}
        assert min(cells.values()) >= 0
        assert {pair for place in cells for pair in place} == margins.keys()
        for pair, value in margins.items():
            assert value == sum(inside for place, inside in cells.items() if pair in place)
        # Where the number of respondents is public, it is what they add up to.
        assert (sum(cells.values()) == RESPONDENTS) or source.shape.neighbours == "unbounded"


def test_a_tree_is_that_of_the_public_number_of_respondents(source: Source) -> None:
    """The noise on a root that is not known is 0 once in four at a loss of 1/2, in 40 trees never."""
    roots = set()
    for _ in range(40):
        tree = _draw_figures(source, {"kind": "hierarchy"}, 0.5)
        assert tree[0].value == sum(figure.value or 0 for figure in tree if figure.place[0][1] in TOPS)
        roots.add((tree[0].value, tree[0].standard_error))
    assert (roots == {(RESPONDENTS, 0.0)}) == (source.shape.neighbours == "bounded")


def test_a_known_number_of_respondents_leaves_more_for_the_strata(source: Source) -> None:
    """Two levels share what three would have shared; the strata's error foretold is that of what is drawn."""
    item = {"kind": "hierarchy"}
    plan = parse_plan({"format": 1, "division": "given", "items": [{**item, "epsilon": 1}]})
    error = releases.query_of(plan.items[0], source.shape, "items[0]").error(1.0, 0.0, None).noise

    leaves = [figure for figure in _draw_figures(source, item, 1.0) if figure.place[0][1] in (*LEAVES, OWN)]
    told = [figure.standard_error or 0.0 for figure in leaves]
    assert len(told) == 4
    assert error == pytest.approx(math.sqrt(np.mean(np.square(told))))
    shared = hierarchy([("North", "Alba"), ("North", "Bruma"), ("South",), (OWN,)], 1.0, "bounded")
    ends = [shared.nodes.index(leaf) for leaf in shared.leaves]
    paid = math.sqrt(np.mean(np.square(shared.expected_error()[ends])))
    assert error < 0.8 * paid


def test_by_stratum_a_share_is_that_among_the_respondents_from_there(source: Source, report: Report) -> None:
    figures = _draw_figures(source, {"kind": "table", "question": "party", "by_stratum": True})

    shares, counts = _values(figures, "share"), _values(figures, "reports")
    groups = {group.path: group for group in report.strata(report.question("party"))}
    for path in LEAVES:
        entry = groups[path].report
        assert entry is not None
        for row in entry.rows:
            place = ((STRATUM, path), ("party", row.answer))
            assert shares[place] == pytest.approx(row.value, abs=1e-9)
            assert counts[place] == row.count
    for row in report.question("party").rows:
        assert shares[(("party", row.answer),)] == pytest.approx(row.value, abs=1e-9)
        assert counts[(STRATUM, releases.OWN_LINK), ("party", row.answer)] == 0


def test_the_tree_of_strata_is_that_of_the_report(source: Source, report: Report) -> None:
    figures = _draw_figures(source, {"kind": "hierarchy"})

    groups = {group.path: group.n for group in report.strata(report.question("party"))}
    tree = {path: value for ((_, path),), value in _values(figures, "respondents").items()}
    assert tree == {**groups, releases.OWN_LINK: 0}
    (north,) = _draw_figures(source, {"kind": "count", "stratum": ["North"]})
    assert north.value == groups["North"]
    part = _draw_figures(
        source, {"kind": "share", "question": "party", "option": "red", "stratum": ["South"]}
    )
    whole = _draw_figures(source, {"kind": "table", "question": "party", "by_stratum": True})
    there = _values(whole, "share")[(STRATUM, "South"), ("party", "red")]
    assert _values(part, "share") == {(("party", "red"),): pytest.approx(there, abs=1e-9)}


@pytest.mark.parametrize("noise", ["noisy_maximum", "exponential"])
def test_the_most_common_answer_is_that_with_the_largest_estimate(
    source: Source, report: Report, noise: str
) -> None:
    for name in ANSWERED:
        figures = _draw_figures(source, {"kind": "most_common", "question": name, "noise": noise})

        best = max(report.question(name).rows, key=lambda row: row.value)
        assert figures == (Figure("most_common", ((name, best.answer),), None),)


@pytest.mark.parametrize("answers", [1, 2])
def test_the_most_common_answers_are_those_with_the_largest_estimates(
    source: Source, report: Report, answers: int
) -> None:
    for name in ANSWERED:
        rows = sorted(report.question(name).rows, key=lambda row: -row.value)
        if len(rows) <= answers:
            continue
        figures = _draw_figures(source, {"kind": "top", "question": name, "how_many": answers})

        best = {row.answer for row in rows[:answers]}
        assert [figure.statistic for figure in figures] == ["top"] * answers
        assert {figure.place for figure in figures} == {((name, answer),) for answer in best}
        assert all(figure.value is None for figure in figures)


def test_what_exceeds_a_share_is_what_is_estimated_to(source: Source, report: Report) -> None:
    names = ["coin", "moon", "party", "mirror", "dice"]
    item = {"kind": "exceeding", "questions": names, "share": "0.22", "positives": 3, "values": True}
    figures = _draw_figures(source, item)

    estimates = {((name, row.answer),): row.value for name in names for row in report.question(name).shown}
    said: dict[Place, int | None] = {}
    for place, estimate in estimates.items():
        said[place] = None if sum(value or 0 for value in said.values()) == 3 else int(estimate > 0.22)
    assert None in said.values()
    assert _values(figures, "above") == said
    above = {place: estimates[place] for place, value in said.items() if value}
    assert _values(figures, "share") == pytest.approx(above, abs=1e-9)


def _misses(source: Source, confidence: float, part: float = 1.0) -> tuple[int, int]:
    """How many true shares and means are outside this part of their intervals, of how many."""
    missed = total = 0
    for name in QUESTIONS:
        items = [{"kind": "histogram", "question": name}] if name in ANSWERED else []
        items += [{"kind": "mean", "question": name}] if name in MEANS else []
        for figure in (figure for item in items for figure in _draw_figures(source, item, 0.5, confidence)):
            if figure.statistic not in ("share", "mean"):
                continue
            ((_, answer),) = figure.place
            truth = MEANS[name] if figure.statistic == "mean" else SHARES[name][answer]
            assert figure.low is not None
            assert figure.high is not None
            middle, half = (figure.low + figure.high) / 2, (figure.high - figure.low) / 2
            missed += abs(truth - middle) > half * part
            total += 1
    return missed, total


def test_every_true_share_and_mean_is_inside_its_interval(source: Source) -> None:
    """Of 60 intervals of 1 - 1e-8 one misses once in a million runs."""
    missed, total = _misses(source, 1 - 1e-8)
    assert (missed, total) == (0, 60)


def test_a_third_of_an_interval_misses(source: Source) -> None:
    """The twin: a third of a 95 % interval holds about half of 60 true values; fewer than 6 missed are never seen."""
    missed, _ = _misses(source, 0.95, 1 / 3)
    assert missed > 5


@pytest.mark.parametrize(
    ("item", "changed", "parts"),
    [
        ({"kind": "count", "stratum": ["North"]}, (1, 1), 1),
        ({"kind": "share", "question": "coin", "option": "yes"}, (1, 2), 2),
        ({"kind": "histogram", "question": "dice"}, (1, 2), 1),
        ({"kind": "histogram", "question": "drugs"}, (4, 8), 2),
        ({"kind": "table", "question": "coin", "by_stratum": True}, (1, 2), 2),
    ],
)
def test_the_noise_is_that_of_the_loss(
    source: Source, item: dict[str, Any], changed: tuple[int, int], parts: int
) -> None:
    """Cells that a response changes, unbounded and bounded, and the noise that a loss of 1/2 then needs.

    The mean square of 500 discrete Laplace numbers of variance v is v (1 ± sqrt(5 / 500)), their
    kurtosis being 6 (of sums of two 4.5): six standard deviations are 0.6. A sensitivity of half or
    twice as much makes it 4 or 1/4 times as large.
    """
    statistic = "respondents" if item["kind"] == "count" else "reports"
    exact = _values(_draw_figures(source, item), statistic)
    errors: list[float] = []
    while len(errors) < 500:
        noisy = _values(_draw_figures(source, item, 0.5), statistic)
        errors += [(noisy[place] or 0) - (exact[place] or 0) for place in exact]
    rate = math.exp(-0.5 / changed[source.shape.neighbours == "bounded"])
    ratio = float(np.mean(np.square(errors[:500]))) / (2 * rate / (1 - rate) ** 2) / parts
    assert abs(ratio - 1) < 0.6
