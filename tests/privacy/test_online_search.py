"""The sparse vector one question at a time: its exact loss, wrong variants that must fail, its errors, its price."""

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from server.privacy.accounting import optimal
from server.privacy.auditing.comparing import compared_loss
from server.privacy.auditing.interactions import interaction_loss
from server.privacy.noise import geometric
from server.privacy.selection import (
    OngoingSearch,
    SearchNoise,
    begin_search,
    plan_search,
    sparse_vector,
)

Ask = Callable[[Any, int], tuple[Any, Any]]

FIRST = [-1] * 6 + [-2] * 2
SECOND = [0] * 6 + [-3] * 2
"""Of neighbours: six answers at the threshold less one that rise, and two below them that fall."""


def ask(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch | None]:
    above, after = search.compare(excess)
    return above, after if after.left else None


def loss_of(noise: SearchNoise, asked: Ask = ask, falls: int = 2) -> float:
    first, second = [*FIRST, *[-2] * (falls - 2)], [*SECOND, *[-3] * (falls - 2)]
    return interaction_loss(lambda: begin_search(noise, 1), asked, first, second)[0]


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("positives", [1, 2])
def test_the_whole_course_loses_no_more_than_was_paid_and_hardly_less(positives: int, epsilon: float) -> None:
    loss = loss_of(plan_search(positives, epsilon))
    assert 0.75 * epsilon < loss <= epsilon


def test_one_that_moves_all_answers_the_same_way_costs_no_more() -> None:
    noise = plan_search(2, 4.0, monotone=True)
    second = [0] * 6 + [-2] * 2
    loss, _ = interaction_loss(lambda: begin_search(noise, 1), ask, FIRST, second)
    assert 0.9 * 4 < loss <= 4
    # The broken twin: the same noise where one person moves answers both ways.
    assert loss_of(noise) > 4


def without_noise(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch | None]:
    """Algorithm 5 of Lyu, Su and Li (2017): the answers are compared as they are."""
    above = excess >= search.offset
    left = search.left - above
    return above, replace(search, left=left) if left else None


def without_end(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch]:
    """Algorithm 6: however many are above, it goes on."""
    above, _ = search.compare(excess)
    return above, search


def telling_the_value(search: OngoingSearch, excess: int) -> tuple[int | None, OngoingSearch | None]:
    """Algorithm 3: the very noisy value that was compared is told."""
    noisy = int(geometric(excess, search.noise.factor, search.noise.answers_loss))
    above = noisy >= search.offset
    return noisy if above else None, None if above and search.left == 1 else search


def telling_the_threshold(search: OngoingSearch, excess: int) -> tuple[Any, OngoingSearch | None]:
    """What is to be kept secret is shown beside the answer."""
    above, after = search.compare(excess)
    return (above, search.offset), after if after.left else None


@pytest.mark.parametrize("wrong", [without_noise, without_end, telling_the_value, telling_the_threshold])
def test_published_variants_that_are_wrong_fail(wrong: Ask) -> None:
    assert loss_of(plan_search(2, 4.0), wrong, falls=4) > 4


def unless_far(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch | None]:
    """What hardly needs noise gets none."""
    if abs(excess) < 50:
        return ask(search, excess)
    return (True, None) if excess > 0 else (False, search)


def test_answers_far_from_the_threshold_need_noise_as_well() -> None:
    """Nothing that is told of these two tells the neighbours apart: it is seen that something else decided."""
    noise, far = plan_search(1, 4.0), ([-200, 200], [-199, 199])
    assert interaction_loss(lambda: begin_search(noise, 1), ask, *far)[0] <= 4
    assert interaction_loss(lambda: begin_search(noise, 1), unless_far, *far)[0] == math.inf

    def at_once(answers: list[int]) -> list[bool]:
        found = sparse_vector(answers, 0, 1, 1, 4.0).above.tolist()
        return [True] if answers[0] >= 50 else found

    assert compared_loss(at_once, [0, 0], [1, 1], 2)[0] <= 4
    assert compared_loss(at_once, [200, 0], [199, 1], 2)[0] == math.inf


def test_noise_that_does_not_grow_with_c_fails() -> None:
    """Algorithm 4, and half of its factor."""
    right = plan_search(2, 4.0)
    for factor in (1, 2):
        assert loss_of(replace(right, factor=factor)) > 4


def test_a_threshold_drawn_anew_each_time_costs_more_than_one() -> None:
    """As if a restart forgot the noise of the threshold."""

    def forgetful(search: OngoingSearch, excess: int) -> tuple[bool, OngoingSearch | None]:
        above, after = ask(begin_search(search.noise, 1), excess)
        return above, search if after is not None else None

    noise = plan_search(1, 4.0)
    loss, where = interaction_loss(lambda: begin_search(noise, 1), forgetful, FIRST, SECOND)
    assert loss == math.inf, where


@pytest.mark.parametrize(
    ("positives", "epsilon", "delta"), [(100, 1.0, 1e-6), (20, 0.2, 1e-6), (2, 1.0, 0.1)]
)
def test_with_delta_a_new_threshold_each_time_adds_up_to_what_was_paid(
    positives: int, epsilon: float, delta: float
) -> None:
    noise = plan_search(positives, epsilon, delta)
    if not noise.redrawn:
        assert noise == plan_search(positives, epsilon)
        return
    each = noise.threshold_loss + float(noise.answers_loss)
    assert (
        optimal(each, positives, delta).epsilon <= epsilon < optimal(each * 1.001, positives, delta).epsilon
    )
    assert noise.variance(1) < plan_search(positives, epsilon).variance(1)


def test_a_new_threshold_each_time_is_as_private_as_its_parts_together() -> None:
    noise = plan_search(2, 1.0, 0.1)
    assert noise.redrawn
    together = 2 * (noise.threshold_loss + float(noise.answers_loss))
    rounds = ([-1] * 6 + [-2]) * 2, ([0] * 6 + [-3]) * 2
    loss, _ = interaction_loss(lambda: begin_search(noise, 1), ask, *rounds)
    assert 0.95 * together < loss <= together
    # The broken twin: one answer in each search loses more than it should.
    louder = replace(noise, answers_loss=noise.answers_loss * Fraction(6, 5))
    assert interaction_loss(lambda: begin_search(louder, 1), ask, *rounds)[0] > together
    # One noise for both loses less, whatever is asked: nothing that is told could refute it.
    kept = replace(noise, redrawn=False)
    most = noise.threshold_loss + 2 * float(noise.answers_loss)
    assert 0.95 * most < interaction_loss(lambda: begin_search(kept, 1), ask, *rounds)[0] <= most < together
    assert -math.expm1(noise.epsilon - most) < noise.delta


def test_delta_is_given_back_where_it_does_not_help() -> None:
    noise = plan_search(5, 1.0, 1e-9)
    assert (noise.delta, noise.redrawn) == (0.0, False)


def test_asked_one_by_one_it_tells_as_much_as_the_list_at_once() -> None:
    """To each course the same chance, as the loss is the same for lists that it differs for."""
    for positives, epsilon in ((1, 4.0), (2, 1.0)):
        at_once, _ = compared_loss(
            lambda answers, c=positives, e=epsilon: sparse_vector(answers, 0, 1.0, c, e),
            FIRST,
            SECOND,
            len(FIRST),
        )
        assert loss_of(plan_search(positives, epsilon)) == pytest.approx(at_once, abs=1e-9)
    assert loss_of(plan_search(2, 1.001)) != pytest.approx(at_once, abs=1e-9)  # the broken twin


def test_the_error_told_holds_and_not_half_of_it() -> None:
    """For the union of a threshold and nine answers, by the chances of their noise (summed to 60 scales)."""

    def tail(scale: float, beyond: int) -> float:
        a = math.exp(-1 / scale)
        return 2 * a ** (beyond + 1) / (1 + a)

    noise = plan_search(2, 1.0)
    scales = 1 / noise.threshold_loss, noise.factor / float(noise.answers_loss)
    told = noise.error(9, 0.05, 1)

    def bound_miss(distance: int) -> float:
        """At least, by any split of the distance, that all noise stays within it."""
        return min(
            tail(scales[0], part) + 1 - (1 - tail(scales[1], distance - 1 - part)) ** 9
            for part in range(distance)
        )

    assert bound_miss(told) <= 0.05 < bound_miss(told // 2)


def test_the_noise_of_the_threshold_is_not_in_what_is_printed() -> None:
    assert "offset" not in repr(begin_search(plan_search(1, 1.0), 1))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: plan_search(0, 1.0), r"positives must be a whole number in \[1, 1000\]; it is 0"),
        (lambda: plan_search(1, -1.0), "epsilon must be positive and finite; it is -1.0"),
        (lambda: plan_search(1, 1.0, 2.0), r"delta must be in \[0, 1\]; it is 2.0"),
        (lambda: begin_search(plan_search(1, 1.0), 0), "sensitivity must be positive and finite"),
        (
            lambda: replace(begin_search(plan_search(3, 1.0), 1), left=0).compare(0),
            "at most 3 answers may be told to be above",
        ),
    ],
)
def test_arguments_out_of_range_are_named(call: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_the_losses_of_a_search_are_exact() -> None:
    noise = plan_search(7, 0.3)
    assert Fraction(noise.threshold_loss) + noise.answers_loss == Fraction(0.3)
