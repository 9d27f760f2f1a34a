"""The editor's page: a draft with what is wrong with it, and what it takes and reveals as it stands."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import render_template, request

from server.inputs import InputError, Problem, schema_limit
from server.output.languages import RESPONDENT_LANGUAGES
from server.store.models import Survey
from server.study import drafts, editing, planning, question_library
from server.study.definitions import Definition
from server.study.definitions.definition_reader import parse_definition
from server.study.definitions.own_texts import find_untranslated
from server.study.study_sheets import find_unwritten, read_study_sheet
from server.study.study_sheets.sheet_fields import STUDY_FIELDS
from server.web.context import session
from server.web.odds_pictures import draw_odds
from server.web.problem_texts import describe
from server.web.security import researcher

_STRENGTH = re.compile(r"(questions\[\d+\]\.design|strength)\.(gamma|epsilon)")
_OPTION_NAME = re.compile(r"questions\[(\d+)\]\.options\[(\d+)\]\.name")


@dataclass(frozen=True)
class PastedList:
    """A list of questions as it was pasted, and what was read of it, or what is wrong with it."""

    text: str
    listed: Sequence[editing.ListedQuestion] = ()
    problems: Sequence[Problem] = ()


def render_editor(
    survey: Survey | None,
    document: dict[str, Any],
    *,
    base: int | None = None,
    overtaken: bool = False,
    pasted: PastedList | None = None,
) -> str:
    """The page; `base` is the state that the form was made from, `overtaken` whether it is no longer the newest."""
    definition, problems = check_draft(document)
    spending = editing.spending(document)
    gamma = editing.find_gamma(spending.strength) if spending.equal else None
    budget = editing.shown_budget(document)
    shown_document = document if budget is None else {**document, "budget": budget}
    margin = planning.planned_margin(document) or planning.DEFAULT_MARGIN
    cards = editing.cards(document, spending)
    outlook = editing.foresee_draft(document)
    everything = "check" in request.args
    fields = editing.Fields(shown_document, place_problems(problems, document), everything=everything)
    at = _read_number("at")
    undo, redo = (False, False) if survey is None else drafts.count_steps(session(), survey)
    return render_template(
        "manage/editor.html",
        survey=survey,
        document=document,
        fields=fields,
        checked=everything,
        respondent_languages=RESPONDENT_LANGUAGES,
        untranslated={} if survey is None else find_untranslated(document),
        unwritten={} if survey is None else _list_unwritten(survey, document),
        base=base or (survey.draft_number if survey is not None else 0),
        overtaken=overtaken,
        at=at,
        opened=_open_one(cards, fields, at),
        at_option=_read_number("option"),
        said=request.args.get("said", ""),
        selected=read_places(request.args.get("selected", "")),
        together=request.args.get("together", ""),
        strengths=(editing.LEAST_STRENGTH, editing.MOST_STRENGTH),
        undo=undo,
        redo=redo,
        spending=spending,
        slider=editing.place_slider(spending.strength),
        shown=None if gamma is None else planning.consequences(gamma, margin),
        promise=_promise(spending, margin),
        margin=margin,
        repeated=editing.find_repeated(document),
        alike=editing.find_alike(document),
        brackets=editing.find_brackets(document),
        make_plan=None if definition is None else partial(planning.plan, definition),
        outlook=outlook,
        advice=editing.advise(document, outlook),
        fixed=any(card.is_sent and card.mechanisms and card.strength is None for card in cards),
        without=None if outlook is None or _share_the_rest(cards, spending) else outlook.without,
        draw_odds=draw_odds,
        kinds=editing.KINDS,
        library=question_library.list_questions(session(), researcher()),
        most_kept=question_library.MOST_KEPT,
        pasted=pasted,
        pasted_problems=[] if pasted is None else [describe(problem) for problem in pasted.problems],
        cards=cards,
        scale_needs=partial(_scale_needs, margin),
        most_questions=schema_limit("properties", "questions", "maxItems"),
    )


def _share_the_rest(cards: Sequence[editing.Card], spending: editing.Spending) -> bool:
    """Whether some questions share what others leave of a budget, and would take the part of one that is dropped."""
    stated = ({"gamma", "epsilon"} & card.entry["design"].keys() for card in cards if card.strength)
    return not spending.equal and spending.budget is not None and not all(stated)


def _open_one(cards: Sequence[editing.Card], fields: editing.Fields, at: int | None) -> int | None:
    """The entry that is folded out: where the button led, else the first with something wrong, or the only one."""
    if at is not None or len(cards) == 1:
        return 0 if at is None else at
    return next((card.place for card in cards if fields.any_wrong(card.path)), None)


def _list_unwritten(survey: Survey, document: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the study sheet calls the texts that it lacks in each language of the survey."""
    spoken = dict.fromkeys((document["language"], *document.get("translations", {})))
    unwritten = find_unwritten(read_study_sheet(session(), survey).sheet, spoken)
    return {code: [STUDY_FIELDS[name] for name in names] for code, names in unwritten.items()}


def _promise(spending: editing.Spending, margin: float) -> planning.Promise | None:
    """What the first screen will say of the questions whose strength is known by now."""
    losses = [epsilon for epsilon in spending.entries if epsilon]
    return planning.make_promise(losses, margin) if losses else None


def _scale_needs(margin: float, card: editing.Card) -> planning.ScaleNeeds | None:
    """What both designs of a scale take; None where it has but one, or nothing to compare yet."""
    levels = len(card.entry.get("options", ()))
    if (
        not (card.traits and card.traits.design_of_use)
        or len(card.mechanisms) < 2
        or levels < 3
        or not card.epsilon
    ):
        return None
    try:
        return planning.compare_scale_designs(levels, card.epsilon, margin)
    except ValueError:  # of a strength that is still being typed; said beside it
        return None


def check_draft(document: Mapping[str, Any]) -> tuple[Definition | None, Sequence[Problem]]:
    """The definition if the draft is finished, else what is missing."""
    try:
        return parse_definition(document), ()
    except InputError as error:
        return None, error.problems


def place_problems(problems: Sequence[Problem], document: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Path, name and message of each problem, at the field where it is mended."""
    shown: dict[tuple[str, str, str], None] = {}
    for problem in problems:
        place = _OPTION_NAME.fullmatch(problem.field)
        if place is not None:
            option = document["questions"][int(place[1])]["options"][int(place[2])]
            if not option.get("name"):
                continue  # it is made from the text, which is missing as well
        name, message = describe(problem)
        field = problem.field
        if _STRENGTH.fullmatch(field) and editing.equal_division(document) and "budget" not in document:
            field = "budget"  # where the strength of all is mended
            name, message = describe(Problem(field, problem.template, problem.values))
        shown[field, name, message] = None
    return list(shown)


def read_places(text: str) -> list[int]:
    """Entries as an address names them: "0-2-3"."""
    return [
        int(number)
        for number in text.split("-")
        if number.isdecimal() and number.isascii() and len(number) < 5
    ]


def _read_number(name: str) -> int | None:
    number = request.args.get(name, "")
    return int(number) if number.isdecimal() and number.isascii() and len(number) < 5 else None
