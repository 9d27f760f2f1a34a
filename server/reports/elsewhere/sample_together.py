"""Two or three questions of a sample together: the share of every combination of answers, and two of the answers."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from server.inputs import N_, InputError, refuse, shorten_value
from server.privacy.estimators.sample_designs import SampleDesign
from server.privacy.estimators.sampled_joint import SampledPair, collapse_pair, measure_pair, narrow_table
from server.privacy.estimators.sampled_ratios import RatioEstimates, estimate_ratios
from server.privacy.estimators.weighted_rows import WeightedEstimate, pick_estimate
from server.reports.answer_names import AnswerTexts
from server.reports.chosen_together import ChosenTogether, parse_together
from server.reports.crossing import MOST_CELLS, MOST_JOINT, CrossedSide, take_sides
from server.reports.elsewhere.sample_answers import SampleAnswers
from server.reports.elsewhere.sample_tables import Comparable
from server.reports.together_values import TogetherRow, name_given
from server.study.definitions import Definition

FIELD = "sampling.together"
_MOST_NUMBERS = 1 << 24
"""Of a table: rows times combinations, each a number in memory some times over."""
_BY_T = "t"
"""What the kind of an interval is called that is by Student's t."""


@dataclass(frozen=True, eq=False)
class SampleWithin:
    """Two of the questions, by their places: `measures` of their chosen answers, None where the rows do not tell.

    Of three, among those who gave the answer at the place `answer` of the `third`; of two that is None.
    """

    pair: tuple[int, int]
    third: int | None
    answer: int
    measures: SampledPair | None


@dataclass(frozen=True, eq=False)
class SampleTogether:
    """Questions together, of `n` rows. One that is not estimated whole stands for its chosen answer, given or not.

    `cells` are of every combination of answers, the last question's beside each other.
    """

    sides: tuple[CrossedSide, ...]
    answers: tuple[int, ...]
    n: int
    confidence: float
    cells: tuple[WeightedEstimate, ...]
    pairs: tuple[SampleWithin, ...]

    @property
    def versions(self) -> tuple[int, ...]:
        """The numbers of the versions that ask all of them."""
        return tuple(one.wave.number for one in self.sides[0].versions)

    @property
    def chosen_places(self) -> tuple[int, ...]:
        """Where the chosen answer of each question stands in the table."""
        return tuple(1 if side.split else own for side, own in zip(self.sides, self.answers, strict=True))

    def list_places(self) -> list[tuple[int, ...]]:
        """Every combination of answers, in the order of `cells`."""
        return list(product(*(range(_count(side)) for side in self.sides)))


def join_sampled(
    names: Sequence[str], known: Comparable, answers: SampleAnswers, sample: SampleDesign, confidence: float
) -> tuple[SampleTogether, ...]:
    """Each that the study file asks for.

    Raises
    ------
    InputError
        Naming the field, if questions are none, a number is among them, nobody was asked all, or there are too many
        combinations.
    """
    definition = known.waves[0].definition
    try:
        chosen = parse_together(definition, names)
    except InputError as error:
        raise InputError(error.status, [replace(one, field=FIELD) for one in error.problems]) from None
    return tuple(_join(one, known, answers, sample, confidence) for one in chosen)


def _join(
    choice: ChosenTogether, known: Comparable, answers: SampleAnswers, sample: SampleDesign, confidence: float
) -> SampleTogether:
    text = shorten_value(", ".join(choice.questions))
    for name in choice.questions:
        if known.find_question(name, FIELD)[0].question.encoding.between_ends:
            template = N_("must not name a number, which tables compare between groups; it names %(value)s")
            raise refuse(422, FIELD, template, value=shorten_value(name))
    sides = tuple(take_sides(known.waves, choice.questions))
    rows, shape = len(sample.weights), [_count(side) for side in sides]
    cells = math.prod(shape)
    if cells > MOST_CELLS or _count_reports(sides) > MOST_JOINT or rows * cells > _MOST_NUMBERS:
        template = N_(
            "must have at most %(limit)d combinations of answers, fewer of very many rows; %(value)s has %(length)d"
        )
        raise refuse(422, FIELD, template, limit=MOST_CELLS, value=text, length=cells)
    parts = list(answers.join(sides, choice.answers))
    if not parts:
        template = N_("must be questions that somebody was asked together; nobody was asked %(value)s")
        raise refuse(422, FIELD, template, value=text)
    ratios = estimate_ratios(parts, sample)
    made = SampleTogether(
        sides,
        choice.answers,
        int(ratios.rows[0]),
        confidence,
        tuple(pick_estimate(ratios, place, confidence) for place in range(cells)),
        (),
    )
    return replace(made, pairs=tuple(_list_pairs(made, ratios, shape)))


def _list_pairs(made: SampleTogether, ratios: RatioEstimates, shape: Sequence[int]) -> Iterator[SampleWithin]:
    """Of two questions their chosen answers; of three, each two within each answer of the third, the last one first."""
    freedom = int(ratios.degrees_of_freedom.min())
    places = np.indices(tuple(shape)).reshape(len(shape), -1)
    for third in (None,) if len(shape) == 2 else (2, 1, 0):
        first, second = (place for place in range(len(shape)) if place != third)
        chosen = made.chosen_places[first], made.chosen_places[second]
        sums = collapse_pair(shape, (first, second), chosen)
        for answer in range(1 if third is None else shape[third]):
            inside = (
                np.ones(places.shape[1]) if third is None else (places[third] == answer).astype(np.float64)
            )
            part = narrow_table(ratios.values, ratios.covariance, inside)
            pair = None
            if part is not None:
                values, covariance = sums @ part[0], sums @ part[1] @ sums.T
                pair = measure_pair(values.reshape(2, 2), covariance, freedom, made.confidence)
            yield SampleWithin((first, second), third, answer, pair)


def _count(side: CrossedSide) -> int:
    return 2 if side.split else len(side.question.answers)


def _count_reports(sides: Sequence[CrossedSide]) -> int:
    versions = zip(*(side.versions for side in sides), strict=True)
    return max(
        (
            math.prod(
                asked.bytes(side.split)[0].design.weights.shape[1]
                for side, asked in zip(sides, version, strict=True)
            )
            for version in versions
        ),
        default=0,
    )


def list_sampled_rows(definition: Definition, sample_together: SampleTogether) -> Iterator[TogetherRow]:
    """Every number of it, called as those of questions together that were asked here."""
    texts = AnswerTexts(definition)
    for at, cell in zip(sample_together.list_places(), sample_together.cells, strict=True):
        named = [
            name_given(texts, *own)
            for own in zip(sample_together.sides, sample_together.answers, at, strict=True)
        ]
        names, said = zip(*named, strict=True)
        yield TogetherRow(
            "joint share",
            names,
            said,
            cell.value,
            cell.standard_error,
            cell.interval,
            _BY_T,
            sample_together.confidence,
        )
    for within in sample_together.pairs:
        yield from _list_pair_rows(texts, sample_together, within)


def _list_pair_rows(
    texts: AnswerTexts, together: SampleTogether, within: SampleWithin
) -> Iterator[TogetherRow]:
    places = [(place, together.chosen_places[place]) for place in within.pair]
    where = ""
    if within.third is not None:
        places.append((within.third, within.answer))
        where = ", within the last"
    named = [
        name_given(texts, together.sides[place], together.answers[place], index) for place, index in places
    ]
    names, said = zip(*named, strict=True)
    if where:
        asked = [together.sides[place].question.name for place, _ in places]
        names = tuple(f"{question}: {name}" for question, name in zip(asked, names, strict=True))
    pair = within.measures
    for statistic, own in (
        ("share among those who gave the first", None if pair is None else pair.gave),
        ("share among the others", None if pair is None else pair.others),
        ("difference", None if pair is None else pair.association.difference),
        ("odds ratio", None if pair is None else pair.association.odds_ratio),
        ("phi", None if pair is None else pair.association.phi),
    ):
        if own is None or own.value is None:
            yield TogetherRow(statistic + where, names, said, None, None, (None, None), "", None)
        else:
            value, error, ends = own.value, own.standard_error, own.interval
            yield TogetherRow(statistic + where, names, said, value, error, ends, _BY_T, together.confidence)
