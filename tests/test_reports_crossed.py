"""Two questions crossed: shares of pairs and odds ratios are those worked out by hand."""

import html
import re
from typing import Any

import numpy as np
import pytest
from flask.testing import FlaskClient

from server import reports
from server.people import survey_access
from server.reports import Crossed
from server.study import surveys
from tests.conftest import NewDatabase
from tests.support import every_kind, factories
from tests.support.factories import Published
from tests.support.folded_parts import ALL_OPEN


@pytest.fixture
def database_url(sqlite: NewDatabase) -> str:
    """SQLite only: what is checked here happens after everything was read."""
    return sqlite(True)


def cross_two(
    database_url: str, survey: Published, row: str, column: str, chosen: tuple[int, int] = (1, 1)
) -> Crossed:
    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        made = reports.read(session, found)
        return reports.cross_questions(made.waves, row, column, chosen, made.confidence)


def shares(made: Crossed) -> Any:
    assert made.cells is not None
    return np.array([[cell.share for cell in line] for line in made.cells])


def by_hand(counts: Any, *gammas: float) -> tuple[Any, Any]:
    """The joint table of two coins and its covariance, by the Kronecker product written out."""
    first, second = (np.array([[0.5 + g, 0.5 - g], [0.5 - g, 0.5 + g]]) for g in gammas)
    inverse = np.linalg.inv(np.kron(first, second).T)
    observed = np.ravel(counts) / np.sum(counts)
    spread = (np.diag(observed) - np.outer(observed, observed)) / (np.sum(counts) - 1)
    return inverse @ observed, inverse @ spread @ inverse.T


def test_two_versions_are_crossed_each_under_its_own_design(database_url: str) -> None:
    first = factories.publish(database_url, factories.definition([0.25, 0.25]))
    old, new = np.array([[330, 200], [210, 260]]), np.array([[190, 125], [125, 160]])
    factories.store(database_url, first, [([i, j], int(old[i, j])) for i in (0, 1) for j in (0, 1)])
    second = factories.publish(database_url, factories.definition([0.2, 0.25]), first.slug)
    factories.store(database_url, second, [([i, j], int(new[i, j])) for i in (0, 1) for j in (0, 1)])

    made = cross_two(database_url, first, "q1", "q2")

    parts = by_hand(old, 0.25, 0.25), by_hand(new, 0.2, 0.25)
    weights = old.sum() / 1600, new.sum() / 1600
    table = sum(weight * part[0] for weight, part in zip(weights, parts, strict=True))
    spread = sum(weight**2 * part[1] for weight, part in zip(weights, parts, strict=True))
    assert (made.n, made.versions) == (1600, (2, 1))
    assert shares(made).ravel() == pytest.approx(table, abs=1e-8)
    assert made.cells is not None
    errors = [cell.standard_error for line in made.cells for cell in line]
    assert errors == pytest.approx(np.sqrt(np.diag(spread)).tolist(), abs=1e-8)
    ratio = table[0] * table[3] / (table[1] * table[2])
    assert made.association.odds_ratio.value == pytest.approx(ratio, rel=1e-7)
    gradient = np.array([1, -1, -1, 1]) / table
    log_error = float(np.sqrt(gradient @ spread @ gradient))
    low, high = made.association.odds_ratio.interval
    assert (low, high) == pytest.approx(
        (ratio * np.exp(-1.959964 * log_error), ratio * np.exp(1.959964 * log_error)), rel=1e-5
    )
    groups = made.comparison.gave, made.comparison.others
    assert [group.value for group in groups] == pytest.approx(
        [table[3] / (table[2] + table[3]), table[1] / (table[0] + table[1])]
    )
    # The broken twin: the odds ratio of the reports as they arrived is far nearer to 1.
    arrived = (old + new).astype(float)
    naive = arrived[0, 0] * arrived[1, 1] / arrived[0, 1] / arrived[1, 0]
    assert naive < 0.5 * ratio


def test_boxes_are_crossed_with_one_of_several(database_url: str) -> None:
    """Each cell is that of the box's own coin and of the answer's row."""
    party = {
        "name": "party",
        "kind": "select_one",
        "text": "Which?",
        "options": every_kind.options(every_kind.PARTIES),
        "design": {"mechanism": "k_ary", "epsilon": 2.0},
    }
    drugs = {
        "name": "drugs",
        "kind": "select_multiple",
        "text": "Which drugs?",
        "options": every_kind.options({"a": 0, "b": 0}),
        "design": {"mechanism": "coin_flip", "gamma": 0.25},
    }
    drugs["design"] = {"mechanism": "coin_flip", "epsilon": 2.5}
    survey = factories.publish(database_url, factories.definition(questions=[party, drugs]))
    generator = np.random.default_rng(3)
    rows = [[k, int(a), int(b)] for k in range(4) for a in (0, 1) for b in (0, 1)]
    counts = generator.integers(50, 200, len(rows)).tolist()
    factories.store(database_url, survey, list(zip(rows, counts, strict=True)))

    made = cross_two(database_url, survey, "party", "drugs", (2, 1))

    with factories.writing(database_url) as session:
        found = survey_access.find(session, survey.slug)
        assert found is not None
        assert found.current is not None
        k_ary, first, second = surveys.definition_of(found.current).designs
    expected = np.zeros((4, 2))
    for box, design in enumerate((first, second)):
        table = np.zeros((4, 2))
        for row, count in zip(rows, counts, strict=True):
            table[row[0], row[1 + box]] += count / sum(counts)
        expected[:, box] = (np.linalg.inv(k_ary.matrix.T) @ table @ np.linalg.inv(design.matrix))[:, 1]
    assert shares(made) == pytest.approx(expected, abs=1e-9)
    turned = cross_two(database_url, survey, "drugs", "party", (1, 2))
    assert shares(turned) == pytest.approx(expected.T, abs=1e-9)
    one, other = made.association.odds_ratio, turned.association.odds_ratio
    assert one.value == pytest.approx(other.value)
    assert one.interval == pytest.approx(other.interval)


def test_a_number_has_a_mean_among_those_who_gave_each_answer(
    signed_in: FlaskClient, database_url: str
) -> None:
    number = {
        "name": "cups",
        "kind": "number",
        "text": "How many cups?",
        **{"low": -10, "high": 30, "step": 0.5},
        "design": {"mechanism": "stochastic_rounding", "epsilon": 1.0986122886681098},
    }
    questions = [factories.question("q1", "Question 1?", 0.25), number]
    survey = factories.publish(database_url, factories.definition(questions=questions))
    counts = np.array([[460, 340], [350, 450]])
    factories.store(database_url, survey, [([i, j], int(counts[i, j])) for i in (0, 1) for j in (0, 1)])

    made, turned = (cross_two(database_url, survey, *names) for names in (("q1", "cups"), ("cups", "q1")))

    table, spread = by_hand(counts, 0.25, 0.25)
    no, yes = (-10 + 40 * high / (low + high) for low, high in table.reshape(2, 2))
    for index, (mean, others) in enumerate(((no, yes), (yes, no))):
        compared = made.groups[index]
        values = [-10 + 40 * (group.value or 0) for group in (compared.gave, compared.others)]
        assert values == pytest.approx([mean, others], abs=1e-6)
        for group in (compared.gave, compared.others):
            assert group.interval[0] < (group.value or 0) < group.interval[1]
    # By the delta method, with differences in place of derivatives: of so many it is about as wide, for half the error.
    step = 1e-6 * np.eye(4)

    def mean_of_yes(cells: Any) -> float:
        return float(cells[3] / (cells[2] + cells[3]))

    gradient = np.array([(mean_of_yes(table + one) - mean_of_yes(table - one)) / 2e-6 for one in step])
    low, high = made.groups[1].gave.interval
    assert high - low == pytest.approx(2 * 2.241403 * float(np.sqrt(gradient @ spread @ gradient)), rel=0.1)
    assert [group.gave.value for group in turned.groups] == [group.gave.value for group in made.groups]
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?row=cups&column=q1&{ALL_OPEN}").text
    assert f"<strong>{yes:.2f}</strong>" in page


def test_large_tables_are_crossed_answer_by_answer(signed_in: FlaskClient, database_url: str) -> None:
    names = {f"o{number}": 0 for number in range(50)}
    questions = [
        {
            "name": name,
            "kind": "select_one",
            "text": f"Which {name}?",
            "options": every_kind.options(names),
            "design": {"mechanism": "k_ary", "epsilon": 6.0},
        }
        for name in ("one", "other")
    ]
    survey = factories.publish(database_url, factories.definition(questions=questions))
    rows = [([k, k], 30) for k in range(50)] + [([k, (k + 1) % 50], 10) for k in range(50)]
    factories.store(database_url, survey, rows)

    made = cross_two(database_url, survey, "one", "other", (7, 7))

    assert made.cells is None
    assert made.association.odds_ratio.value is not None
    assert made.association.odds_ratio.value > 50
    page = signed_in.get(
        f"/manage/surveys/{survey.slug}/results?row=one&column=other&row_answer=one-7&{ALL_OPEN}"
    )
    assert "The whole table would be too large to read" in page.text


def test_page_shows_the_numbers_and_refuses_what_cannot_be_crossed(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url, every_kind.document())
    home = f"/manage/surveys/{survey.slug}/results"
    factories.store(database_url, survey, [([1] * 33, 200), ([0] * 33, 300), ([1, 0] * 16 + [0], 100)])
    made = cross_two(database_url, survey, "coin", "party", (1, 0))

    page = signed_in.get(f"{home}?row=coin&column=party&{ALL_OPEN}").text

    words = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())
    assert made.cells is not None
    for cell in (made.cells[1][0], made.cells[0][3]):
        low, high = (f"{100 * limit:.1f}" for limit in cell.interval)
        said = f"{100 * cell.share:.1f} ± {100 * cell.standard_error:.1f} {low} to {high}"
        assert said.replace("-", "\N{MINUS SIGN}") in words
        assert not cell.guaranteed
    assert "those of the inverted score test" in words
    for query, field in (
        ("row=coin&column=coin", "Columns"),
        ("row=coin&column=mugs", "Columns"),
        ("row=nothing&column=coin", "Rows"),
        ("question=nothing", "Question"),
        ("interval=3", "Intervals"),
    ):
        refused = signed_in.get(f"{home}?{query}")
        assert (query, refused.status_code) == (query, 404)
        assert field in refused.text


def test_of_fewer_than_a_hundred_the_cells_have_guaranteed_intervals(
    signed_in: FlaskClient, database_url: str
) -> None:
    survey = factories.publish(database_url)
    factories.store(database_url, survey, [([1, 1], 40), ([0, 1], 59)])
    made = cross_two(database_url, survey, "q1", "q2")
    assert made.cells is not None
    assert all(cell.guaranteed for line in made.cells for cell in line)
    page = signed_in.get(f"/manage/surveys/{survey.slug}/results?row=q1&column=q2&{ALL_OPEN}").text
    assert "cover at least as often as they say, whatever the true shares (Chernoff 1952)" in page


@pytest.mark.parametrize("arrived", [[([1, 1], 20)], [([0, 0], 12), ([1, 1], 1)], [([1, 0], 900)]])
def test_a_ratio_without_end_is_drawn_and_written_everywhere(
    signed_in: FlaskClient,
    database_url: str,
    arrived: list[tuple[list[int], int]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Of so few, or so uniform, responses a group may be nobody: the odds ratio then has no highest value."""
    survey = factories.publish(database_url, factories.definition([0.49, 0.49]))
    factories.store(database_url, survey, arrived)
    factories.close(database_url, survey.slug)
    assert cross_two(database_url, survey, "q1", "q2").comparison.odds_ratio[1] == np.inf
    home = f"/manage/surveys/{survey.slug}"
    page = signed_in.get(f"{home}/results?row=q1&column=q2&{ALL_OPEN}").text
    assert "∞" in page.partition("Odds ratio")[2]
    for name in ("report.html", "report.pdf", "groups.svg?row=q1&column=q2", "crossing.svg?row=q1&column=q2"):
        assert signed_in.get(f"{home}/{name}").status_code == 200, name
    assert caplog.messages == []
