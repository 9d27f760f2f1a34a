"""A survey as a study file states it: its designs may be ones that we do not offer, or be written out."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from server.inputs.problems import N_, InputError, Problem, refuse, shorten_value
from server.privacy.designs import TOTAL, Design
from server.privacy.estimators.one_sided import OneSidedDesign, forced_yes, mangat, one_sided, triangular
from server.study.definitions import Choice, Definition, Entry, Question
from server.study.definitions.definition_reader import read_definition
from server.study.definitions.reading_designs import design_problems
from server.study.kinds import KINDS

ONE_SIDED = {
    "mangat": (mangat, "truth"),
    "triangular": (triangular, "prevalence"),
    "forced_yes": (forced_yes, "yes"),
}
"""Designs that we estimate from and do not collect with: what makes them, and of which chance."""
MATRIX = "matrix"
_STAND_INS: Mapping[str, Mapping[str, Any]] = {
    "yes_no": {"mechanism": "kuk", "if_yes": 0.75, "if_no": 0.25},
    "select_one": {"mechanism": "k_ary", "epsilon": 1},
    "scale": {"mechanism": "k_ary", "epsilon": 1},
    "binned_number": {"mechanism": "k_ary", "epsilon": 1},
    "number": {"mechanism": "stochastic_rounding", "epsilon": 1},
}
"""What a definition may say where the file says what it may not; the design itself comes from the file."""
_MORE = {**dict.fromkeys(_STAND_INS, (MATRIX,)), "yes_no": (*ONE_SIDED, MATRIX)}
"""What the design of a question of each kind may be beside what a definition knows."""
_MECHANISM = re.compile(r"questions\[(\d+)\]\.design\.mechanism")
_MOST = 256
"""Reports of a design: each is one byte."""


def read_survey(document: Mapping[str, Any], field: str) -> Definition:
    """The definition that a study file states at `field`, with the designs that it means.

    Raises
    ------
    InputError
        Naming the field below `field`.
    """
    try:
        return _read(document)
    except InputError as error:
        told = [_name_designs(problem, document) for problem in error.problems]
        problems = [replace(problem, field=f"{field}.{problem.field}") for problem in told]
        raise InputError(error.status, problems) from None


def read_title(document: Mapping[str, Any], field: str) -> Definition:
    """A survey that states no question: its title and language, beside models of their own columns."""
    stand_in = {"name": "answer", "kind": "yes_no", "text": "?", "design": _STAND_INS["yes_no"]}
    return replace(read_survey({**document, "questions": [stand_in]}, field), entries=())


def _name_designs(problem: Problem, document: Mapping[str, Any]) -> Problem:
    """Where a mechanism is not known, all that a study file may name beside those of a definition."""
    found = _MECHANISM.fullmatch(problem.field)
    if found is None or "limit" not in problem.values:
        return problem
    kind = document["questions"][int(found[1])]["kind"]
    limit = ", ".join([str(problem.values["limit"]), *_MORE.get(kind, ())])
    return replace(problem, values={**problem.values, "limit": limit})


def _read(document: Mapping[str, Any]) -> Definition:
    given = document.get("questions")
    entries = given if isinstance(given, list) else []
    plain, written = [], {}
    for place, entry in enumerate(entries):
        kept = entry
        if isinstance(entry, dict) and isinstance(entry.get("kind"), str):
            kept = {name: value for name, value in entry.items() if name not in ("designs", "epsilon")}
            found = _find_designs(entry, f"questions[{place}]")
            if found and "designs" not in entry:
                kept["design"] = _stand_in(entry, f"questions[{place}].design")
            if found:
                written[place] = found
        plain.append(kept)
    usual = {"format": 2, "language": "en", "title": "Data from elsewhere", "introduction": ""}
    stated = {name: value for name, value in document.items() if name not in ("epsilon", "questions")}
    definition = read_definition({**usual, **stated, "questions": plain})
    read = tuple(
        _rewrite(entry, written[place], entries[place], f"questions[{place}]") if place in written else entry
        for place, entry in enumerate(definition.entries)
    )
    problems = design_problems(read)
    if problems:
        raise InputError(422, problems)
    return replace(definition, entries=read)


def _stand_in(entry: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    if entry["kind"] not in _STAND_INS:
        raise refuse(422, f"{field}.mechanism", N_("must be one that has a coin for each box"))
    allowed = KINDS[entry["kind"]].with_refusal
    if entry.get("prefer_not_to_say") and allowed:
        return {"mechanism": allowed[0], "epsilon": 1}
    return _STAND_INS[entry["kind"]]


def _find_designs(entry: Mapping[str, Any], field: str) -> tuple[Design, ...]:
    """The designs that are written out, or that we do not offer; none where the definition says all."""
    if "designs" in entry:
        stated = entry["designs"]
        if not (isinstance(stated, list) and stated and all(isinstance(one, dict) for one in stated)):
            raise refuse(
                422, f"{field}.designs", N_("must be a list; it is %(value)s"), value=shorten_value(stated)
            )
        return tuple(
            _make(one.get("weights"), f"{field}.designs[{k}].weights") for k, one in enumerate(stated)
        )
    stated = entry.get("design")
    if not isinstance(stated, dict) or stated.get("mechanism") not in (*ONE_SIDED, MATRIX):
        return ()
    mechanism = stated["mechanism"]
    allowed = ("chances",) if mechanism == MATRIX else (ONE_SIDED[mechanism][1],)
    for name in stated:
        if name not in ("mechanism", *allowed):
            template = N_("is not known here; allowed: %(allowed)s")
            raise refuse(422, f"{field}.design.{shorten_value(name)}", template, allowed=", ".join(allowed))
    at = f"{field}.design.{allowed[0]}"
    if allowed[0] not in stated:
        raise refuse(422, at, N_("is required"))
    value = stated[allowed[0]]
    if mechanism == MATRIX:
        return (_make(value, at),)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.001 <= value <= 0.999:
        template = N_("must be from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, at, template, low=0.001, high=0.999, value=shorten_value(value))
    return (ONE_SIDED[mechanism][0](float(value)),)


def _make(rows: object, field: str) -> Design:
    """A design from rows of chances, or of weights out of 2^32."""
    if not (isinstance(rows, list) and all(isinstance(row, list) for row in rows)):
        raise refuse(
            422,
            field,
            N_("must be a list of rows, one for each answer; it is %(value)s"),
            value=shorten_value(rows),
        )
    numbers = [number for row in rows for number in row]
    if not all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers):
        raise refuse(422, field, N_("must hold numbers only"))
    try:
        if max(map(len, rows), default=0) > _MOST or len(rows) > _MOST:
            raise ValueError(f"a matrix must have at most {_MOST} rows and columns")
        if not all(map(any, zip(*rows, strict=False))):
            raise ValueError("each report must have a chance under some answer")
        whole = all(isinstance(number, int) for number in numbers) and all(sum(row) == TOTAL for row in rows)
        made = OneSidedDesign(rows) if whole else one_sided(rows)
        if (made.weights == 0).any():
            return made
        return Design(made.weights)
    except ValueError as error:
        raise refuse(422, field, N_("must be the chances of a design: %(value)s"), value=str(error)) from None


def _rewrite(entry: Entry, designs: tuple[Design, ...], document: Mapping[str, Any], field: str) -> Question:
    assert isinstance(entry, Question)  # another kind of entry has no design
    wanted = len(entry.answers)
    if "designs" not in document:
        entry = replace(entry, choice=Choice.from_json(document["design"]))
    if len(designs) > 1 and len(designs) != wanted:
        template = N_("must have one entry, or one for each answer, %(limit)d; it has %(length)d")
        raise refuse(422, f"{field}.designs", template, limit=wanted, length=len(designs))
    rows = wanted if len(designs) == 1 else 2
    for design in designs:
        if len(design.weights) != rows:
            template = N_("must have a row for each answer, %(limit)d; it has %(length)d")
            raise refuse(422, f"{field}.design", template, limit=rows, length=len(design.weights))
    return replace(entry, stored_designs=designs)
