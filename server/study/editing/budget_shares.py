"""What each question of a draft spends: by its own strength, that of all, or its share of a budget."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from server.inputs.schema import is_possible
from server.privacy.designs import BestChoice, best_choice, coin_flip, for_epsilon, gamma_of, round_up
from server.study.definitions import (
    FORMAT,
    Choice,
    Grid,
    Option,
    Question,
    Strength,
    allot_share,
    left_of,
)
from server.study.editing.entry_shapes import strength_name

DEFAULT_STRENGTH = Strength("gamma", 0.25)
"""Of a new question: two fair coins, ln 3."""

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Spending:
    """What one respondent spends: by entry (None: nothing is sent, or cannot be told yet), in all, and for a share."""

    entries: tuple[float | None, ...]
    strength: Strength | None
    equal: bool
    budget: float | None

    @property
    def share(self) -> float | None:
        return None if self.strength is None else self.strength.epsilon

    @property
    def total(self) -> float:
        return math.fsum(epsilon for epsilon in self.entries if epsilon is not None)

    @property
    def left(self) -> float | None:
        """What the budget leaves; None without one."""
        return None if self.budget is None else left_of(self.budget, self.total)


def spending(document: Document) -> Spending:
    """What the draft spends as it stands."""
    strength, budget = strength_of(document), document.get("budget")
    share = None if strength is None else strength.epsilon
    return Spending(
        entries=tuple(epsilon_of(entry, share) for entry in document["questions"]),
        strength=strength,
        equal=equal_division(document),
        budget=budget if isinstance(budget, int | float) else None,
    )


def equal_division(document: Document) -> bool:
    """Whether all questions are equally strong: none states a strength of its own."""
    designs = [entry.get("design", {}) for entry in document["questions"] if strength_name(entry)]
    stated = any("gamma" in design or "epsilon" in design for design in designs)
    return not stated and ("budget" in document or "strength" in document or bool(designs))


def strength_of(document: Document) -> Strength | None:
    """What each question has that states none, or the next one, if there is none yet: as stated, or of the budget."""
    try:
        if "strength" in document:
            strength = Strength.from_json(document["strength"])
        else:
            strength = Strength("epsilon", allot_share(document["budget"], *shape_of_budget(document)))
        return strength if 0 < strength.epsilon <= 1000 else None
    except _UNFINISHED:
        return None


def with_strength(document: Document, strength: Strength) -> dict[str, Any]:
    """The same, with this strength for each question that states none, and no budget."""
    kept = {name: value for name, value in document.items() if name != "budget"}
    return {**kept, "format": FORMAT, "strength": strength.as_json()}


def keep_share(document: dict[str, Any], before: Document) -> dict[str, Any]:
    """The same, where questions that came or went would change what each has of a budget: with that for a strength."""
    divided = "budget" in document and document["budget"] == before.get("budget")
    if not divided or shape_of_budget(document) == shape_of_budget(before):
        return document
    strength = strength_of(before)
    return document if strength is None else with_strength(document, strength)


def shown_budget(document: Document) -> int | float | None:
    """What all questions spend where a strength is stated for all: what a budget of the same strength would be."""
    strength, (spent, sharing) = strength_of(document), shape_of_budget(document)
    if strength is None or "strength" not in document or not equal_division(document):
        return None
    total = round_up(spent + strength.epsilon * sharing)
    return int(total) if total.is_integer() else total


def shape_of_budget(document: Document) -> tuple[float, int]:
    """What the questions spend that state their strengths, and how many share what is left."""
    stated = (epsilon_of(entry, None) for entry in document["questions"] if not _shares(entry))
    spent = math.fsum(epsilon for epsilon in stated if epsilon is not None)
    return spent, sum(map(_shares, document["questions"]))


def own_strength(entry: Mapping[str, Any], strength: Strength) -> dict[str, float]:
    """The parameter that makes an entry's design as strong, as far as its range goes."""
    name = strength_name(entry)
    if name is None:
        return {}
    if name == strength.name:
        value = strength.value
    else:
        value = _shortest_gamma(max(strength.epsilon, 0.001)) if name == "gamma" else strength.epsilon
    return {name: min(max(value, 0.001), 0.499 if name == "gamma" else 20)}


def _shortest_gamma(epsilon: float) -> float:
    """The gamma of fewest decimals that makes the very coin flip with this privacy loss."""
    made, middle = for_epsilon(epsilon), gamma_of(epsilon) + 2**-33
    gammas = (round(middle, decimals) for decimals in range(2, 11))
    return next(gamma for gamma in gammas if 0 < gamma < 0.5 and coin_flip(gamma) == made)


def epsilon_of(entry: Mapping[str, Any], share: float | None) -> float | None:
    """The privacy loss of an entry's answer; None if it sends none or its design is unfinished."""
    try:
        question = _question(entry, share)
        return question.epsilon if question is not None and question.epsilon > 0 else None
    except _UNFINISHED:
        return None


def sketch_question(entry: Mapping[str, Any], share: float | None) -> Question | None:
    """The question that an entry is as far as chance goes, on made-up words.

    None as for `epsilon_of`, and while some of its answers are missing, or the numbers that it asks for.
    """
    try:
        question = _question(entry, share)
        return question if question is not None and question.epsilon > 0 and _has_answers(question) else None
    except _UNFINISHED:
        return None


def _has_answers(question: Question) -> bool:
    """Whether its answers are those that its designs have rows or bytes for: not all are stated from the start."""
    if question.traits.asks_number and question.grid is None:
        return False
    by_answer = question.encoding.by_answer
    return len(question.answers) == len(question.designs if by_answer else question.designs[0].weights)


def sketch_questions(document: Document) -> dict[int, Question]:
    """The questions of a draft whose designs are known by now, by their places from 0."""
    strength = strength_of(document)
    share = None if strength is None else strength.epsilon
    sketches = (sketch_question(entry, share) for entry in document["questions"])
    return {place: question for place, question in enumerate(sketches) if question is not None}


def find_chosen_design(entry: Mapping[str, Any], share: float | None) -> BestChoice | None:
    """Which design `best_choice` stands for, and the variances it was chosen by."""
    design = entry.get("design", {})
    if design.get("mechanism") != "best_choice":
        return None
    try:
        question = _question(entry, share)
        epsilon = design.get("epsilon", share)
        return best_choice(len(question.answers), epsilon) if question and epsilon else None
    except _UNFINISHED:
        return None


_UNFINISHED = (ArithmeticError, KeyError, TypeError, ValueError)
"""What an entry that is not finished may raise; what is missing is said where the draft is checked."""


def _question(entry: Mapping[str, Any], share: float | None) -> Question | None:
    """An entry's design on a made-up name and wording, so that it can be known before there are any."""
    design = entry.get("design", {})
    if design.get("mechanism") is None:
        return None
    return Question(
        name="q",
        kind=entry["kind"],
        text="q",
        choice=Choice.from_json(design),
        options=tuple(
            Option(str(place), str(option.get("text", "")))
            for place, option in enumerate(entry.get("options", ()))
        ),
        grid=_find_grid(entry),
        prefer_not_to_say="prefer_not_to_say" in entry,
        share=share,
    )


def _find_grid(entry: Mapping[str, Any]) -> Grid | None:
    """The numbers that may be entered; None where the entry does not say which yet, or says what is none."""
    try:
        stated = {name: entry[name] for name in ("low", "high", "step", "cuts") if name in entry}
        if not all(is_possible(stated[name], "$defs", entry["kind"], "properties", name) for name in stated):
            return None
        grid = Grid.from_json(entry)
        return grid if grid.of > 0 and grid.bins else None
    except _UNFINISHED:
        return None


def find_gamma(strength: Strength | None) -> float | None:
    """The gamma that is stated, or that of a coin flip that loses as much; None if there is none for a slider."""
    if strength is None or strength.name == "gamma":
        return None if strength is None else strength.value
    try:
        return min(max(gamma_of(strength.epsilon), 0.001), 0.499)
    except ValueError:
        return None


def place_slider(strength: Strength | None) -> float | None:
    """Where the slider stands: in hundredths, as a browser keeps it there."""
    gamma = find_gamma(strength)
    return None if gamma is None else min(max(round(gamma, 2), 0.01), 0.49)


def _shares(entry: Mapping[str, Any]) -> bool:
    design = entry.get("design", {})
    return strength_name(entry) is not None and "gamma" not in design and "epsilon" not in design
