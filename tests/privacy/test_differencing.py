"""The differencing attack, played: who sees a release guesses whether one person is in the data.

Everybody else is known. Whether the person is in is tossed with a fair coin, so that whoever sees nothing is right
half of the time, and whoever sees a release of loss eps at most with chance e^eps / (1 + e^eps) (Kairouz, Oh and
Viswanath 2015). The optimal guess reaches that bound exactly for a count.
"""

import math
from collections.abc import Callable
from secrets import randbelow

import numpy as np
import pytest

from server.privacy.noise import geometric
from server.privacy.queries import contingency, count, histogram

GAMES = 10_000
SLACK = math.sqrt(math.log(1e7) / (2 * GAMES))
"""By more than this a share of so many games exceeds its chance, or falls below it, with chance 1e-7 (Hoeffding)."""
OTHERS = 99

Guess = Callable[[np.ndarray], np.ndarray]


def success(guess: Guess) -> float:
    """How often the attacker is right: `guess` sees what is released about data with or without each person.

    All games are played at once, every person in a cell of their own of one histogram, whose cells are
    perturbed independently: what one person changes is that cell.
    """
    inside = np.array([randbelow(2) for _ in range(GAMES)])
    return float((guess(inside) == (inside == 1)).mean())


def alone(guess: Callable[[bool], bool], games: int = 400) -> tuple[float, float]:
    """The same with a release for each game, and the slack of fewer games."""
    inside = [bool(randbelow(2)) for _ in range(games)]
    rate = sum(guess(truth) == truth for truth in inside) / games
    return rate, SLACK * math.sqrt(GAMES / games)


def release_counts(counts: np.ndarray, epsilon: float) -> np.ndarray:
    return histogram(range(GAMES), epsilon).release(counts).value


def bound(epsilon: float) -> float:
    return 1 / (1 + math.exp(-epsilon))


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 2.0])
def test_counts_tell_as_much_as_their_loss_says_and_no_more(epsilon: float) -> None:
    rate = success(lambda inside: release_counts(OTHERS + inside, epsilon) > OTHERS)
    assert abs(rate - bound(epsilon)) < SLACK


def test_an_exact_count_tells_everything_and_too_little_noise_too_much() -> None:
    assert success(lambda inside: OTHERS + inside > OTHERS) == 1 > bound(1.0) + SLACK
    # Noise of half the scale, sold as eps 1.
    assert success(lambda inside: geometric(OTHERS + inside, 1, 2.0) > OTHERS) > bound(1.0) + SLACK
    # Rounded noise of the right scale, but none for every second count.
    halved = success(
        lambda inside: OTHERS + inside + geometric(0 * inside, 1, 1.0) * (np.arange(GAMES) % 2) > OTHERS
    )
    assert halved > bound(1.0) + SLACK


@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_the_difference_of_two_releases_is_protected_by_both_noises(epsilon: float) -> None:
    # One release before the person withdrew and one after; only the first may have them in.
    def withdrew(inside: np.ndarray) -> np.ndarray:
        return release_counts(OTHERS + inside, epsilon) - release_counts(OTHERS + 0 * inside, epsilon) > 0

    def twice(inside: np.ndarray) -> np.ndarray:
        return (
            release_counts(OTHERS + inside, epsilon) + release_counts(OTHERS + inside, epsilon) > 2 * OTHERS
        )

    assert success(withdrew) < bound(epsilon) + SLACK
    # Both have the person in: the losses add up, and both together tell more than one.
    assert success(twice) < bound(2 * epsilon) + SLACK
    # Without noise the difference is the person.
    assert success(lambda inside: (OTHERS + inside) - OTHERS > 0) == 1


def test_two_releases_booked_as_one_are_caught() -> None:
    def often(inside: np.ndarray) -> np.ndarray:
        return np.asarray(
            np.mean([release_counts(OTHERS + inside, 1.0) for _ in range(4)], axis=0) > OTHERS + 0.5
        )

    assert bound(1.0) + SLACK < success(often) < bound(4.0) + SLACK


def test_a_replaced_answer_is_protected_under_bounded_neighbours() -> None:
    # Each pair of cells has one person who is in the one or in the other.
    def guess(epsilon: float) -> Guess:
        def guess_answers(yes: np.ndarray) -> np.ndarray:
            pairs = np.stack([50 - yes, 49 + yes])
            no_count, yes_count = (
                histogram(range(2 * GAMES), epsilon, "bounded").release(pairs.ravel()).value.reshape(2, -1)
            )
            # The likelier answer, by the chances of geometric noise with this scale.
            nearer = (
                np.abs(no_count - 50)
                + np.abs(yes_count - 49)
                - np.abs(no_count - 49)
                - np.abs(yes_count - 50)
            )
            return np.asarray(nearer + np.array([randbelow(2) for _ in range(GAMES)]) - 0.5 > 0)

        return guess_answers

    assert success(guess(1.0)) < bound(1.0) + SLACK
    # A quarter of the noise, sold as eps 1.
    assert success(guess(4.0)) > bound(1.0) + SLACK


def test_one_count_at_a_time_tells_no_more_either() -> None:
    query = count(1.0)
    rate, slack = alone(lambda inside: int(query.release(OTHERS + inside).value) > OTHERS)
    assert abs(rate - bound(1.0)) < slack


def test_a_table_with_margins_tells_no_more_than_its_loss() -> None:
    query = contingency([["a", "b"], ["no", "yes"]], 1.0, margins=0.5)
    table = np.array([[30, 20], [20, 29]])

    def guess(inside: bool) -> bool:
        answer = query.release(table + np.array([[0, 0], [0, int(inside)]]))
        weight = 0.5 * (answer.cells[1, 1] - 29) + 0.25 * sum(
            int(margin[1]) - 49 for margin in answer.noisy_margins
        )
        return bool(weight > 0.5)

    rate, slack = alone(guess)
    assert rate < bound(1.0) + slack
