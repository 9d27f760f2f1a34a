"""The responses to each version, counted by byte and by stratum: where every number about a survey comes from."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.collect.response_counts import Collected, Key
from server.collect.tallies import Tally
from server.collect.waves.blocks import Block, Blocks, Pieces
from server.collect.waves.sameness import identities
from server.privacy.designs import Design, split_answer
from server.store.models import SurveyVersion
from server.study import surveys
from server.study.definitions import Definition, Question
from server.study.strata import Node, walk

Counts = NDArray[np.int64]


def places_of(nodes: Sequence[Node]) -> list[int | None]:
    """All strata, each in its place; the survey's own link is first."""
    return [None, *(node.stratum.id for node in walk(nodes))]


def _list_nothing() -> Iterator[Any]:
    return iter(())


@dataclass(frozen=True, eq=False)
class Wave:
    """The responses to one version.

    Attributes
    ----------
    strata : sequence
        Where responses come from: `places_of` a tree.
    margins : ndarray of int, shape (strata, all reports of all bytes)
        How often each report arrived in each byte, those of a byte beside each other.
    sizes : ndarray of int, shape (strata,)
        Responses of each stratum.
    count_weeks, read_weeks : callable
        How many, and which, were first shown in which week, None where it is not known, by the place of their stratum;
        of nobody where weeks are not told.
    """

    number: int
    definition: Definition
    strata: Sequence[int | None]
    margins: Counts
    sizes: Counts
    _pieces: Pieces
    count_weeks: Callable[[], Iterator[tuple[int, str | None, int]]] = _list_nothing
    read_weeks: Callable[[], Iterator[tuple[int, str | None, Tally]]] = _list_nothing

    @classmethod
    def of(
        cls,
        version: SurveyVersion,
        strata: Sequence[int | None],
        collected: Collected,
        only: Container[Key] | None = None,
    ) -> "Wave":
        """Of what was collected in one version, from the strata that are wanted, or all."""
        keys = [(place, (version.id, stratum)) for place, stratum in enumerate(strata)]
        own = {key: place for place, key in keys if only is None or key in only}
        sizes = np.zeros(len(strata), dtype=np.int64)
        margins = np.zeros((len(strata), sum(version.reports)), dtype=np.int64)
        for key, place in own.items():
            if key in collected.sizes:
                sizes[place], margins[place] = collected.sizes[key], collected.margins[key]
        return cls(
            number=version.number,
            definition=surveys.definition_of(version),
            strata=strata,
            margins=margins,
            sizes=sizes,
            _pieces=lambda: ((own[key], tally) for key, tally in collected.pieces(version.id) if key in own),
            count_weeks=lambda: (
                (own[key], week, n)
                for key, weeks in collected.weekly.count().items()
                if key in own
                for week, n in weeks.items()
            ),
            read_weeks=lambda: (
                (own[key], week, tally)
                for key, week, tally in collected.weekly.pieces(version.id)
                if key in own
            ),
        )

    @property
    def n(self) -> int:
        """Number of responses."""
        return int(self.sizes.sum())

    def blocks(self) -> Iterator[Block]:
        """The responses, in parts of some megabytes; what fits into memory is read once."""
        return self._blocks.walk()

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self._pieces)

    @cached_property
    def identities(self) -> Mapping[str, str]:
        """What makes each question what it is."""
        return identities(self.definition)

    @cached_property
    def questions(self) -> Mapping[str, "WaveQuestion"]:
        """Each question with its bytes."""
        found, byte, column = {}, 0, 0
        for question in self.definition.questions:
            found[question.name] = WaveQuestion(self, question, byte, column)
            byte += len(question.designs)
            column += sum(design.weights.shape[1] for design in question.designs)
        return found


@dataclass(frozen=True, eq=False)
class Byte:
    """One byte of the responses to a version: its design, and the reports of each stratum (strata x reports).

    `codes` are the reports in it of the patterns of a tally.
    """

    design: Design
    counts: Counts
    codes: Callable[[Tally], NDArray[np.integer]]


@dataclass(frozen=True, eq=False)
class WaveQuestion:
    """A question as one version asked it; `first` is its first byte, `column` where that stands in the margins."""

    wave: Wave
    question: Question
    first: int
    column: int

    def bytes(self, by_option: bool) -> list[Byte]:
        """The question's bytes; `by_option`: one for each answer, whatever the design.

        Where every answer is kept, and turned into each other one, with the same chances, whether
        an answer arrived is a report of whether it was given, under a design of two rows.
        """
        if by_option and not self.question.encoding.by_answer:
            return self._split_bytes
        return self._bytes

    @cached_property
    def _split_bytes(self) -> list[Byte]:
        (whole,) = self._bytes
        return [self._split(whole, answer) for answer in range(len(self.question.answers))]

    @cached_property
    def _bytes(self) -> list[Byte]:
        found, column = [], self.column
        for byte, design in enumerate(self.question.designs, start=self.first):
            reports = design.weights.shape[1]
            counts = self.wave.margins[:, column : column + reports]
            found.append(Byte(design, counts, _codes_of(byte)))
            column += reports
        return found

    def _split(self, whole: Byte, answer: int) -> Byte:
        seen = whole.counts[:, answer]
        return Byte(
            split_answer(whole.design),
            np.stack([whole.counts.sum(axis=1) - seen, seen], axis=1),
            lambda tally: (whole.codes(tally) == answer).astype(np.uint8),
        )


def _codes_of(byte: int) -> Callable[[Tally], NDArray[np.integer]]:
    return lambda tally: tally.patterns[:, byte]


def same_question(name: str, waves: Sequence[Wave]) -> tuple[WaveQuestion, ...]:
    """A question of the first wave in all waves that ask the same one, that of the first wave first."""
    newest = waves[0].questions[name]
    others = [
        wave.questions[name]
        for wave in waves[1:]
        if wave.identities.get(name) == waves[0].identities[name]
        and _comparable(newest.question, wave.questions[name].question)
    ]
    return newest, *others


def by_option(versions: Sequence[WaveQuestion]) -> bool:
    """Whether a question has to be looked at answer by answer: some version has a coin for each."""
    return any(one.question.encoding.by_answer for one in versions)


def _comparable(first: Question, second: Question) -> bool:
    """Whether two designs of a question can be pooled: both by one byte, or both answer by answer."""
    if first.encoding == second.encoding:
        return True
    return all(
        question.encoding.by_answer or question.designs[0].treats_options_alike()
        for question in (first, second)
    )
