"""The letters by which answers are written down on paper and keyed in."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from server.inputs import N_, InputError, Problem
from server.privacy.designs import Throws
from server.store.models import SurveyVersion
from server.study.by_hand.throw_tables import ThrowRow, list_rows
from server.study.by_hand.throwing import list_obstacles, plan_by_hand
from server.study.definitions import Question
from server.study.surveys import definition_of

KEYS = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without those that are taken for a number or for each other in handwriting: I, L and O."""


@dataclass(frozen=True)
class PaperQuestion:
    """A question on paper: how it is thrown, and the places of its answers in the design, in the order of the keys."""

    question: Question
    throws: Throws
    order: tuple[int, ...]

    @property
    def keys(self) -> str:
        """The letters that may be written down."""
        return KEYS[: len(self.order)]

    @property
    def rows(self) -> tuple[ThrowRow, ...]:
        """What each outcome of the throw has somebody record."""
        return tuple(list_rows(self.throws, self.order))


def list_paper_questions(version: SurveyVersion) -> tuple[PaperQuestion, ...]:
    """The questions of a published version as they stand on paper.

    Raises
    ------
    InputError
        409, naming each question that is in the way and why.
    """
    obstacles = list_paper_obstacles(version)
    if obstacles:
        raise InputError(409, obstacles)
    questions = definition_of(version).questions
    throws = plan_by_hand(json.loads(version.published)["questions"])
    assert throws is not None  # nothing stands in the way
    return tuple(
        PaperQuestion(question, thrown, _order_answers(question))
        for question, thrown in zip(questions, throws, strict=True)
    )


def list_paper_obstacles(version: SurveyVersion) -> list[Problem]:
    """What stands in the way of answering a version on paper; nothing where it can be."""
    entries = json.loads(version.published)["questions"]
    return [*list_obstacles(entries), *_list_long_ones(definition_of(version).questions)]


def read_key(question: PaperQuestion, cell: str) -> int | None:
    """The report that a letter stands for; None if it is none of this question's. Small letters are as good."""
    letter = cell.strip().upper()
    if len(letter) != 1 or letter not in question.keys:
        return None
    return question.order[question.keys.index(letter)]


def _order_answers(question: Question) -> tuple[int, ...]:
    """As screens list them: Yes before No."""
    places = range(len(question.answers))
    return tuple(sorted(places, key=lambda place: question.answers[place] != question.traits.main))


def _list_long_ones(questions: Sequence[Question]) -> Iterator[Problem]:
    for place, question in enumerate(questions):
        if len(question.answers) > len(KEYS):
            template = N_("has more than %(limit)d answers, and one letter has to tell them")
            yield Problem(f"questions[{place}]", template, {"limit": len(KEYS)})
