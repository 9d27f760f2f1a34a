"""What the page of a new release shows, as one value that its template asks."""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from flask_babel import get_locale
from werkzeug.datastructures import MultiDict

from server.inputs import Problem
from server.output.documents import Chart
from server.releases import Expected, Shape, kinds
from server.releases.basis import Basis
from server.releases.noise_shapes import expect_noise
from server.releases.offers import QuestionOffer, instead_of_comparing, list_crossable, offers, questions_of
from server.releases.plans import plan_forms
from server.releases.plans.added_items import CHOSEN
from server.releases.plans.plan_forms import AMOUNTS, INSTEAD, STRATA, PlanForm
from server.releases.plans.plan_reader import Item, ItemKind, noises, plan_json
from server.releases.pricing import Price, cells_digest
from server.releases.survey_shapes import Variable
from server.reports.contents.expected_chart import draw_expected
from server.reports.contents.noise_chart import ShownNoise, show_noise
from server.reports.report_words import ReportWords
from server.store.models import Survey
from server.study import surveys
from server.study.definitions import Question
from server.web.problem_texts import describe, state_in_percent, state_in_points

FEW = 3
"""So many questions, or things in a plan, are shown as they are; where there are more, each is folded to a line."""
_ITEM = re.compile(r"items\[(\d{1,9})\]\.?(\w*).*")
_ADDED = {"table": "side2", "top": "top", "exceeding": "exceeding", "part": "stratum"}
"""By the button that adds something: the field at which it is said what is wrong with the whole."""
_PLAIN = (
    "side1",
    "side2",
    "side3",
    "top",
    "how_many",
    "exceeding",
    "share",
    "positives",
    "stratum",
    "epsilon",
)


@dataclass(frozen=True, eq=False)
class ReleasePage:
    """What is offered, what is typed, and what that costs.

    `looked` is the price, where it was asked for and can be said; `problems` is why something was refused,
    `form` what the form held, but for what was added since.
    """

    survey: Survey
    basis: Basis
    typed: PlanForm
    looked: Price | None
    problems: Sequence[Problem]
    form: MultiDict[str, str]

    count = Item(ItemKind.COUNT)
    hierarchy = Item(ItemKind.HIERARCHY)
    strata_side = STRATA
    instead = INSTEAD
    countable = staticmethod(kinds.is_countable)
    in_percent = staticmethod(plan_forms.in_percent)
    key_of = staticmethod(plan_forms.key_of)

    @property
    def shape(self) -> Shape:
        """What may be asked of the survey."""
        return self.basis.shape

    @cached_property
    def offers(self) -> tuple[QuestionOffer, ...]:
        """What is offered of each question."""
        return offers(self.shape)

    @cached_property
    def crossable(self) -> tuple[Variable, ...]:
        """Questions that can be a side of a table."""
        return list_crossable(self.shape)

    @property
    def strata(self) -> list[tuple[str, ...]]:
        """The paths of the smallest strata."""
        return [leaf.path for leaf in self.shape.leaves if leaf.path]

    @cached_property
    def questions(self) -> dict[str, Question]:
        """The questions by name, in their newest wording."""
        return questions_of(self.survey)

    @cached_property
    def language(self) -> str:
        """The survey's language."""
        return str(surveys.draft_document(self.survey)["language"])

    def is_begun(self, action: str) -> bool:
        """Whether something is chosen that this button has not added, or refused to add: it must not fold away."""
        refused = self.problems and self.form.get("action") == action
        return bool(refused) or any(self.form.get(name) for name in CHOSEN[action])

    @property
    def shows_questions(self) -> bool:
        """Whether what is offered of each question is shown without being asked for."""
        return len(self.offers) <= FEW

    def is_unfolded(self, key: str) -> bool:
        """Whether all that is known of an item is shown: it is one of few, or is paid for again."""
        return len(self.typed.items) <= FEW or bool(self.typed.anew(key))

    @cached_property
    def problem_texts(self) -> list[tuple[str, str, str | None]]:
        """Each problem: what its field is called, what is wrong, and the id on this page where it can be mended."""
        return [
            (*describe(self._state_in_unit(problem)), self._place(problem.field)) for problem in self.problems
        ]

    @cached_property
    def wrong(self) -> dict[str, str]:
        """What is wrong, by the id of what it is said beside."""
        return {place: message for _field, message, place in reversed(self.problem_texts) if place}

    @property
    def first_wrong(self) -> str | None:
        """The id of the first that is wrong, where the focus goes; None where nothing on the page is."""
        return next((place for _field, _message, place in self.problem_texts if place), None)

    def _state_in_unit(self, problem: Problem) -> Problem:
        """With its limits and its value in the unit in which its field is typed."""
        field, items = _ITEM.fullmatch(problem.field), list(self.typed.items.values())
        if field is not None and field[2] == "error" and int(field[1]) < len(items):
            return state_in_points(problem) if plan_forms.in_percent(items[int(field[1])]) else problem
        return state_in_percent(problem)

    def _place(self, field: str) -> str | None:
        item = _ITEM.fullmatch(field)
        if item is not None and int(item[1]) < len(self.typed.items):
            if item[2] == "delta" and self.basis.budget.delta:
                return "delta"
            return f"{'amount' if item[2] == self.amount_of else 'item'}-{item[1]}"
        shown = {"people": self.shape.respondents is None, "sure": bool(self.paying)}
        if field in _PLAIN or shown.get(field):
            return field
        return _ADDED.get(self.form.get("action", ""))

    @property
    def compared(self) -> list[str]:
        """The questions that are ticked to be compared."""
        return self.form.getlist("exceeding")

    @property
    def amount_of(self) -> str | None:
        """What is stated beside each item, by how the loss is divided."""
        return AMOUNTS.get(self.typed.division)

    @property
    def paying(self) -> str:
        """The plan that would be paid for; empty without one."""
        if self.looked is None or self.looked.paying is None:
            return ""
        return json.dumps(plan_json(self.looked.paying))

    @property
    def cells(self) -> str:
        """Which cells that is about."""
        if self.looked is None or self.looked.paying is None:
            return ""
        return cells_digest(self.basis, self.looked.paying)

    @property
    def digest(self) -> str:
        """What the form said when this was shown."""
        return digest_of(self.typed)

    def noises(self, item: Item) -> list[str]:
        """What can perturb an item within this budget."""
        return [each for each in noises(item.kind) if each != "gaussian" or self.basis.budget.delta]

    def instead_of_comparing(self, item: Item) -> tuple[Item, float] | None:
        """The histogram that says more than a comparison, and how much more exactly."""
        return instead_of_comparing(item, self.shape)

    def show_noise(self, expected: Expected) -> ShownNoise | None:
        """What chance will do in an item."""
        assert self.looked is not None  # a price was shown
        assert self.looked.paying is not None  # of what is paid for
        item = replace(expected.item, epsilon=expected.epsilon, delta=expected.delta)
        noise, confidence = expect_noise(item, self.shape), self.looked.paying.confidence
        return show_noise(ReportWords(str(get_locale())), item.kind, noise, confidence)

    def draw_expected(self, expected: Expected) -> Chart | None:
        """How far off an item may be, on a made-up result."""
        assert self.looked is not None  # a price was shown
        assert self.looked.paying is not None  # of what is paid for
        questions = expected.item.questions
        unit = self.questions[questions[0]].unit if questions and questions[0] in self.questions else None
        words = ReportWords(str(get_locale()))
        return draw_expected(words, expected, self.shape, self.looked.paying.confidence, unit)

    def offer_label(self, item: Item, variable: Variable) -> str:
        """What an offered item is called beside its question, to be translated."""
        return kinds.offer_label(item, variable, self.shape)


def digest_of(typed: PlanForm) -> str:
    """What tells whether a form still says what it said when its price was shown."""
    chosen = sorted((name, text) for name, text in typed.chosen.items() if name.startswith("anew "))
    document = typed.document()
    items = sorted(json.dumps(item, sort_keys=True) for item in document["items"])
    return hashlib.sha256(json.dumps([{**document, "items": items}, chosen]).encode()).hexdigest()
