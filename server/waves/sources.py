"""The responses to each version, counted by byte and by stratum: where every number about a survey comes from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from server import surveys
from server.collected import Key
from server.definitions import Definition, Question
from server.models import SurveyVersion
from server.privacy.designs import TOTAL, Design
from server.strata import Node, walk
from server.tallies import Tally, counted
from server.waves.sameness import identities

Counts = NDArray[np.int64]


def places_of(nodes: Sequence[Node]) -> list[int | None]:
    """All strata, each in its place; the survey's own link is first."""
    return [None, *(node.stratum.id for node in walk(nodes))]


@dataclass(frozen=True, eq=False)
class Wave:
    """The responses to one version; `places` says which of the `strata` each row comes from."""

    number: int
    definition: Definition
    strata: Sequence[int | None]
    bytes: NDArray[np.uint8]
    places: NDArray[np.int64]
    counts: Counts

    @classmethod
    def of(cls, version: SurveyVersion, strata: Sequence[int | None], tallies: Mapping[Key, Tally]) -> "Wave":
        """Of the tallies of one version."""
        own = [(place, tallies.get((version.id, stratum))) for place, stratum in enumerate(strata)]
        some = [(place, tally) for place, tally in own if tally is not None]
        nothing = np.zeros((0, len(version.reports)), dtype=np.uint8)
        places = [np.full(len(tally.counts), place) for place, tally in some]
        return cls(
            number=version.number,
            definition=surveys.definition_of(version),
            strata=strata,
            # A row for each byte: one byte of all responses is what is counted.
            bytes=np.ascontiguousarray(np.concatenate([nothing, *(tally.patterns for _, tally in some)]).T),
            places=np.concatenate([np.zeros(0, dtype=np.int64), *places]),
            counts=np.concatenate([np.zeros(0, dtype=np.int64), *(tally.counts for _, tally in some)]),
        )

    def tally(self, place: int) -> Tally:
        """The responses of one stratum."""
        own = self.places == place
        return Tally(self.bytes[:, own].T, self.counts[own])

    @cached_property
    def sizes(self) -> Counts:
        """Responses of each stratum."""
        return counted(self.places, self.counts, len(self.strata))

    @cached_property
    def identities(self) -> Mapping[str, str]:
        """What makes each question what it is."""
        return identities(self.definition)

    @cached_property
    def asked(self) -> Mapping[str, "Asked"]:
        """Each question with its bytes."""
        found, byte = {}, 0
        for question in self.definition.questions:
            found[question.name] = Asked(self, question, byte)
            byte += len(question.designs)
        return found


@dataclass(frozen=True, eq=False)
class Byte:
    """One byte of the responses to a version: its design, and the reports of each stratum (strata x reports)."""

    design: Design
    counts: Counts
    codes: Callable[[], NDArray[np.integer]]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question as one version asked it; `first` is its first byte."""

    wave: Wave
    question: Question
    first: int

    def bytes(self, by_option: bool) -> list[Byte]:
        """The question's bytes; `by_option`: one for each answer, whatever the design.

        Where every answer is kept, and turned into each other one, with the same chances, whether
        an answer arrived is a report of whether it was given, under a design of two rows.
        """
        if by_option and self.question.encoding == "whole":
            (whole,) = self._bytes
            return [self._split(whole, answer) for answer in range(len(self.question.answers))]
        return self._bytes

    @cached_property
    def _bytes(self) -> list[Byte]:
        return [self._byte(self.first + place, design) for place, design in enumerate(self.question.designs)]

    def _byte(self, byte: int, design: Design) -> Byte:
        reports = design.weights.shape[1]
        cells = self.wave.places * reports + self.wave.bytes[byte]
        shape = len(self.wave.strata), reports
        counts = counted(cells, self.wave.counts, shape[0] * shape[1]).reshape(shape)
        return Byte(design, counts, lambda: self.wave.bytes[byte])

    def _split(self, whole: Byte, answer: int) -> Byte:
        keep, other = whole.design.weights[0, :2].tolist()
        seen = whole.counts[:, answer]
        return Byte(
            Design([[TOTAL - other, other], [TOTAL - keep, keep]]),
            np.stack([whole.counts.sum(axis=1) - seen, seen], axis=1),
            lambda: (whole.codes() == answer).astype(np.uint8),
        )


def same_question(name: str, waves: Sequence[Wave]) -> tuple[Asked, ...]:
    """A question of the first wave in all waves that ask the same one, that of the first wave first."""
    newest = waves[0].asked[name]
    others = [
        wave.asked[name]
        for wave in waves[1:]
        if wave.identities.get(name) == waves[0].identities[name]
        and _comparable(newest.question, wave.asked[name].question)
    ]
    return newest, *others


def by_option(asked: Sequence[Asked]) -> bool:
    """Whether a question has to be looked at answer by answer: some version has a coin for each."""
    return any(one.question.encoding in ("one_hot", "boxes") for one in asked)


def _comparable(one: Question, other: Question) -> bool:
    """Whether two designs of a question can be pooled: both by one byte, or both answer by answer."""
    if one.encoding == other.encoding:
        return True
    return all(
        question.encoding == "one_hot" or question.designs[0].treats_options_alike()
        for question in (one, other)
    )
