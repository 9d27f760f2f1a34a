"""Dealt noise: exact losses of mechanisms as they are called, and of twins that must be told apart."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from server.privacy import noise, queries, selection
from server.privacy.auditing import exact_loss
from server.privacy.auditing.cases import Case, Finding, judge
from server.privacy.auditing.comparing import compared_loss
from server.privacy.auditing.dealing import Path, deal_randomness, freeze_output, outcomes
from server.privacy.auditing.noise_losses import dealt_loss, gaussian_loss
from server.privacy.auditing.report_coins import coins_of, coins_of_reports
from server.privacy.designs import coin_flip, forced_response, k_ary, ordinal
from server.privacy.noise import gaussian_pmf, geometric_pmf
from server.privacy.selection import best_split


def test_noise_that_is_dealt_is_drawn_again_afterwards() -> None:
    loss, _ = dealt_loss(lambda counts: noise.geometric(counts, 1, 1.0), [3], [4])
    assert loss == 1
    assert len({int(noise.geometric(0, 1, 0.001)) for _ in range(20)}) > 1
    with pytest.raises(ZeroDivisionError), deal_randomness(Path(())):
        raise ZeroDivisionError
    assert len({int(noise.geometric(0, 1, 0.001)) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("mechanism", "loss"),
    [
        (lambda counts: noise.geometric(counts, 1, 2.0), 2),
        (lambda counts: noise.geometric(counts, 2, 1.0), 0.5),
        (lambda counts: (noise.geometric(counts, 1, 1.0), noise.geometric(counts, 1, 0.5)), 1.5),
        (lambda counts: 7, 0),
    ],
)
def test_the_loss_is_the_distance_over_the_scale(mechanism: Callable[[Any], Any], loss: float) -> None:
    assert dealt_loss(mechanism, [3], [4])[0] == loss


@pytest.mark.parametrize(
    "mechanism",
    [
        lambda counts: (noise.geometric(counts, 1, 1.0), counts[0]),
        lambda counts: noise.geometric(counts, 1, 1.0) / counts[0],
        lambda counts: noise.geometric(counts, 1, 1.0 if counts[0] > 3 else 2.0),
        lambda counts: noise.geometric(counts, 1, 1.0) if counts[0] > 3 else noise.geometric([0, 0], 1, 1.0),
        lambda counts: counts[0],
    ],
    ids=["beside it", "divided by it", "scale", "number", "bare"],
)
def test_what_looks_at_more_than_noisy_numbers_loses_everything(mechanism: Callable[[Any], Any]) -> None:
    assert dealt_loss(mechanism, [3], [4])[0] == math.inf


def test_a_mean_by_an_exact_count_is_told_from_the_shipped_one() -> None:
    # methods.md section 9: the exact count leaks.
    def twin(data: list[float]) -> float:
        return float(noise.geometric(round(sum(data)), 1, 1.0)) / len(data)

    assert dealt_loss(twin, [-1.0], [-1.0, 1.0])[0] == math.inf
    loss, _ = dealt_loss(lambda data: queries.mean(-1.0, 1.0, 1.0).run(data), [-1.0], [-1.0, 1.0])
    assert loss == 1


def test_chances_of_choices_are_those_of_the_definition() -> None:
    # Pr(r) proportional to exp(eps u / 2): two options five apart.
    found, left = outcomes(lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0), [5, 0])
    assert found[0].chance == pytest.approx(1 / (1 + math.exp(-2.5)), abs=1e-6)
    assert 0 < left < 1e-6
    chances = [[math.exp(u / 2) for u in scores] for scores in ([5, 0], [4, 1])]
    exact = exact_loss(*([weight / sum(row) for weight in row] for row in chances))
    mechanism = lambda scores: selection.exponential_mechanism(scores, 1.0, 1.0)  # noqa: E731
    assert dealt_loss(mechanism, [5, 0], [4, 1])[0] == pytest.approx(exact, abs=1e-5)
    assert dealt_loss(mechanism, [5, 0], [4, 1])[0] < exact


def enumerate_outputs(answers: list[int], epsilon: float) -> dict[str, float]:
    """The sparse vector's outputs for one positive, summed over a threshold and all noise, from the definition."""
    first, second = (float(part) for part in best_split(1, epsilon))
    line = np.arange(-80, 81)
    of_threshold, of_answers = geometric_pmf(line, 1, first), geometric_pmf(line, 2, second)
    found: dict[str, float] = {}
    for offset, chance in zip(line, of_threshold, strict=True):
        for place, answer in enumerate([*answers, None]):
            above = [float(of_answers[line + each >= offset].sum()) for each in answers[:place]]
            last = 1.0 if answer is None else float(of_answers[line + answer >= offset].sum())
            key = "-" * place + ("" if answer is None else "+")
            found[key] = found.get(key, 0.0) + chance * math.prod(1 - each for each in above) * last
    return found


def sparse(answers: list[int]) -> str:
    made = selection.sparse_vector(answers, 1, 1.0, 1, 2.0)
    return "".join("+" if above else "-" for above in made.above)


def test_a_sparse_vector_loses_what_enumeration_says() -> None:
    below, above = [0, 0, -1], [1, 1, -2]
    chances = [enumerate_outputs([each - 1 for each in answers], 2.0) for answers in (below, above)]
    assert [sum(each.values()) for each in chances] == pytest.approx([1, 1], abs=1e-9)
    expected = max(abs(math.log(chances[0][key] / chances[1][key])) for key in chances[0])
    assert compared_loss(sparse, below, above, 3)[0] == pytest.approx(expected, abs=1e-6)


def test_comparisons_without_noise_or_that_tell_more_lose_everything() -> None:
    def bare(answers: list[int]) -> list[bool]:
        offset = int(noise.geometric(0, 1, 1.0))
        return [answer >= offset for answer in answers]

    def telling(answers: list[int]) -> list[int]:
        # methods.md section 9: the very noisy value that was compared.
        offset = int(noise.geometric(0, 1, 1.0))
        noisy = noise.geometric(answers, 2, 1.0)
        return [int(value) if value >= offset else -99 for value in noisy]

    for twin in (bare, telling):
        assert compared_loss(twin, [0, 0], [1, 1], 2)[0] == math.inf


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.5, 1e-3), (3.0, 0.05)])
def test_a_gaussian_loses_what_its_discrete_chances_say(epsilon: float, delta: float) -> None:
    line = np.arange(-60, 62)
    first = gaussian_pmf(line, 1.0, epsilon, delta)
    second = gaussian_pmf(line - 1, 1.0, epsilon, delta)
    found, _ = dealt_loss(lambda counts: noise.gaussian(counts, 1.0, epsilon, delta), [0], [1], delta)
    # Rounding to whole numbers afterwards can only take away.
    assert exact_loss(first, second, delta=delta) <= found + 1e-6
    assert epsilon - 1e-3 < found <= epsilon


def test_a_gaussian_on_a_fine_grid_is_the_continuous_one() -> None:
    scale, moved, delta = 1077.3, 255, 1e-3
    line = np.arange(-20_000, 20_000)
    chances = np.exp(-(line**2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi))
    loss = gaussian_loss(moved / scale, delta)
    kept = np.maximum(
        chances
        - math.exp(loss) * np.exp(-((line - moved) ** 2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi)),
        0,
    ).sum()
    assert kept == pytest.approx(delta, rel=1e-5)
    assert gaussian_loss(0.0, delta) == 0
    assert gaussian_loss(1.0, 0.0) == math.inf


@pytest.mark.parametrize(
    "design", [coin_flip(0.25), forced_response(0.75, 0.125), k_ary(4, 1.0), ordinal(5, 1.0)]
)
def test_counted_coins_are_the_weights(design: Any) -> None:
    assert (coins_of(design) == design.weights).all()


def test_reports_that_do_not_grow_with_the_coin_are_refused() -> None:
    design = coin_flip(0.25)
    with pytest.raises(ValueError, match="must grow with the coin"):
        coins_of_reports(lambda truths, coins: 1 - design.report(truths, coins), 2, 2)


def test_ways_to_one_output_must_perturb_the_same() -> None:
    def mix_mechanisms(counts: list[int]) -> int:
        chosen = selection.noisy_maximum([1, 1], 1.0)
        noise.geometric([counts[0] + chosen], 1, 1.0)
        return 0

    with pytest.raises(ValueError, match="must perturb the same numbers on every way"):
        dealt_loss(mix_mechanisms, [0], [1])
    with pytest.raises(ValueError, match="noise must be of one kind"):
        dealt_loss(
            lambda counts: (noise.geometric(counts, 1, 1.0), noise.gaussian(counts, 1.0, 1.0, 1e-6)),
            [0],
            [1],
        )


def test_outputs_are_compared_as_values() -> None:
    assert freeze_output(np.array([[1.0, math.nan]])) == freeze_output(np.array([[1.0, math.nan]]))
    assert freeze_output(np.array([1, 2])) != freeze_output(np.array([[1, 2]]))
    assert freeze_output({"a": [1, (2, None)]}) == (("a", (1, (2, None))),)


def test_a_trial_that_could_not_have_refuted_is_not_as_it_should_be() -> None:
    def verdict(detectable: float) -> bool:
        case = Case("one", 1.0, lambda: Finding(0.5, "an event", detectable), lambda: None)
        return judge(case).as_it_should_be

    assert verdict(1.3)
    assert not verdict(1.29)
