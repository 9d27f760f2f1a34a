"""A decoded survey definition -> a `Definition`, by the schema that is shipped and the rules beside it."""

from collections.abc import Mapping
from typing import Any

from server.inputs.decoding import check_text
from server.inputs.problems import InputError
from server.inputs.schema import violations
from server.study.definitions import (
    BudgetError,
    Check,
    Choice,
    Condition,
    Definition,
    Entry,
    Grid,
    Option,
    Question,
    Strength,
    StudyPlan,
    SurveySection,
    SurveyText,
    divide,
)
from server.study.definitions.definition_rules import budget_problem, look_problems, rule_problems
from server.study.definitions.reading_designs import design_problems

DEFINITION_LIMIT = 1024 * 1024
"""Largest survey definition, in bytes."""


def parse_definition(document: object) -> Definition:
    """A decoded survey definition -> a `Definition`.

    Line ends become LF, and texts lose white space at their ends.

    Raises
    ------
    InputError
        With every problem and its field, of the first 1000.
    """
    definition = read_definition(document)
    assert isinstance(document, dict)  # it was read
    problems = look_problems(document) or design_problems(definition.entries)
    if problems:
        raise InputError(422, problems)
    return definition


def read_definition(document: object) -> Definition:
    """As `parse_definition`, where the designs need not be made: those of a published version are written out."""
    check_text(document)
    document = _tidy(document)
    problems = violations(document)
    if problems:
        raise InputError(422, problems)
    assert isinstance(document, dict)  # the schema says so
    problems = rule_problems(document)
    if problems:
        raise InputError(422, problems)
    entries = tuple(_entry(entry) for entry in document["questions"])
    budget = document.get("budget")
    strength = Strength.from_json(document["strength"]) if "strength" in document else None
    chosen = budget if strength is None else strength
    if chosen is not None:
        problems = design_problems(entries)
        if problems:  # what they take of the budget is not known
            raise InputError(422, problems)
        try:
            entries = divide(entries, chosen)
        except BudgetError as problem:
            raise InputError(422, [budget_problem(problem, chosen)]) from None
    plan = document.get("plan")
    return Definition(
        language=document["language"],
        title=document["title"],
        introduction=document["introduction"],
        consent=document.get("consent", ""),
        least_age=int(document["least_age"]) if "least_age" in document else None,  # JSON's 18.0 is one, too
        entries=entries,
        format=int(document["format"]),
        budget=budget,
        strength=strength,
        family=document.get("family", ""),
        translations={
            code: {_tidy(text): said for text, said in known.items()}
            for code, known in document.get("translations", {}).items()
        },
        plan=None if plan is None else StudyPlan(int(plan["respondents"]), plan["margin"]),
    )


def _tidy(value: Any) -> Any:
    """Texts as they are kept: line ends are LF, and no white space stands at the ends."""
    if isinstance(value, str):
        return value.replace("\r\n", "\n").replace("\r", "\n").strip()
    if isinstance(value, dict):
        return {name: _tidy(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return value


def _entry(document: Mapping[str, Any]) -> Entry:
    common: dict[str, Any] = {
        "name": document["name"],
        "text": document["text"],
        "show_if": _condition(document.get("show_if")),
    }
    match document["kind"]:
        case "text":
            return SurveyText(**common)
        case "section":
            return SurveySection(**common, body=document.get("body"))
        case "check":
            return Check(
                **common,
                options=_options(document),
                correct=document["correct"],
                feedback=document["feedback"],
            )
    otherwise = document.get("otherwise")
    return Question(
        **common,
        kind=document["kind"],
        choice=Choice.from_json(document["design"]),
        options=_options(document),
        grid=Grid.from_json(document) if "low" in document else None,
        unit=document.get("unit"),
        prefer_not_to_say=document.get("prefer_not_to_say", False),
        control=document.get("control", False),
        otherwise=tuple(otherwise) if isinstance(otherwise, list) else otherwise,
    )


def _options(document: Mapping[str, Any]) -> tuple[Option, ...]:
    return tuple(Option(option["name"], option["text"]) for option in document.get("options", ()))


def _condition(document: Mapping[str, Any] | None) -> Condition | None:
    if document is None:
        return None
    if "any_of" in document:
        return Condition(document["question"], any_of=tuple(document["any_of"]))
    return Condition(document["question"], span=(document["from"], document["to"]))
