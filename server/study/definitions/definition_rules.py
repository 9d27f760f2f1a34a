"""What a schema cannot say of a definition: names that refer, numbers that fit, budgets that suffice.

Works on a document that already keeps to the schema, and reports every problem it finds.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from server.inputs.problems import N_, Problem, shorten_value
from server.privacy.designs.numbers import STEPS_LIMIT
from server.study.definitions import PREFER_NOT_TO_SAY, BudgetError, Choice, Grid
from server.study.definitions.budget_division import LEAST_SHARE
from server.study.definitions.look_alikes import strip_unseen
from server.study.kinds import KINDS

BYTES_LIMIT = 1000
"""Most bytes of one response."""

Document = Mapping[str, Any]


def rule_problems(document: Document) -> list[Problem]:
    """Every broken rule of a document that keeps to the schema, in the order of its fields."""
    return [Problem(field, template, values) for field, template, values in _broken(document)]


def look_problems(document: Document) -> list[Problem]:
    """Options that nobody tells apart. Of a published version nothing is asked that was not when it was published."""
    problems = []
    for index, entry in enumerate(document["questions"]):
        taken: set[str] = set()
        for place, option in enumerate(entry.get("options", ())):
            look = strip_unseen(option["text"])
            if look in taken:
                template = N_("must be unique; another one looks like %(value)s")
                field = f"questions[{index}].options[{place}].text"
                problems.append(Problem(field, template, {"value": shorten_value(look)}))
            taken.add(look)
    for language, known in document.get("translations", {}).items():
        for entry in document["questions"]:
            said = [known.get(option["text"], option["text"]) for option in entry.get("options", ())]
            looks = [strip_unseen(text) for text in said]
            twice = next((text for place, text in enumerate(looks) if text in looks[:place]), None)
            if twice is not None and language != document["language"]:
                template = N_("must tell the answers to a question apart; two of them look like %(value)s")
                problems.append(
                    Problem(f"translations.{language}", template, {"value": shorten_value(twice)})
                )
    return problems


def budget_problem(problem: BudgetError, budget: object) -> Problem:
    """A budget that its questions do not fit into."""
    if problem.sharing:
        template = N_(
            "must leave at least %(least)s for each question that states no strength; "
            "it is %(budget)s, and the others take %(spent).4f"
        )
    else:
        template = N_("must cover what the questions take, %(spent).4f; it is %(budget)s")
    values = {"least": LEAST_SHARE, "budget": budget, "spent": problem.spent}
    return Problem("budget", template, values)


_Broken = Iterator[tuple[str, str, dict[str, object]]]


def _broken(document: Document) -> _Broken:
    entries: Sequence[Document] = document["questions"]
    before: dict[str, Document] = {}
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        field = f"questions[{index}]"
        if entry["name"] in seen:
            yield f"{field}.name", N_("must be unique; %(value)s stands twice"), {"value": entry["name"]}
        seen.add(entry["name"])
        yield from _options(entry, field)
        if "low" in entry:
            yield from _grid(entry, field)
        yield from _condition(entry, field, before)
        if entry["kind"] in KINDS:
            yield from _design(entry, field, not {"budget", "strength"} & document.keys())
            yield from _otherwise(entry, field)
            before[entry["name"]] = entry
        elif entry["kind"] == "check" and entry["correct"] not in _names(entry):
            yield f"{field}.correct", _ONE_OF, {"limit": ", ".join(_names(entry)), "value": entry["correct"]}
    if not before:
        yield "questions", N_("must hold at least one question that is sent"), {}
    most = sum(KINDS[entry["kind"]].most_bytes(entry) for entry in before.values())
    if most > BYTES_LIMIT:
        template = N_("must have at most %(limit)d options and boxes in all; they have %(length)d")
        yield "questions", template, {"limit": BYTES_LIMIT, "length": most}


_ONE_OF = N_("must be one of %(limit)s; it is %(value)s")


def _names(entry: Document) -> list[str]:
    """The answers of a question that has names for them."""
    fixed = KINDS[entry["kind"]].fixed if entry["kind"] in KINDS else ()
    names = [*fixed, *(option["name"] for option in entry.get("options", ()))]
    return [*names, PREFER_NOT_TO_SAY] if entry.get("prefer_not_to_say") else names


def _options(entry: Document, field: str) -> _Broken:
    for part, value in (("name", "name"), ("text", "text")):
        taken: set[str] = set()
        for place, option in enumerate(entry.get("options", ())):
            where = f"{field}.options[{place}].{part}"
            if option[value] in taken:
                yield (
                    where,
                    N_("must be unique; %(value)s stands twice"),
                    {"value": shorten_value(option[value])},
                )
            elif part == "name" and option["name"] == PREFER_NOT_TO_SAY:
                yield where, N_("must be another name; %(value)s is reserved"), {"value": PREFER_NOT_TO_SAY}
            taken.add(option[value])


def _grid(entry: Document, field: str) -> _Broken:
    low, high, step = entry["low"], entry["high"], entry["step"]
    if low >= high:
        yield (
            f"{field}.high",
            N_("must be above the lowest number, %(low)s; it is %(value)s"),
            {"low": low, "value": high},
        )
        return
    grid = Grid.from_json(entry)
    if not grid.holds(high):
        yield (
            f"{field}.step",
            N_("must lead from %(low)s to %(high)s in whole steps; it is %(value)s"),
            {"low": low, "high": high, "value": step},
        )
    elif grid.of > STEPS_LIMIT:
        yield (
            f"{field}.step",
            N_("must make at most %(limit)d steps; it makes %(length)d"),
            {"limit": STEPS_LIMIT, "length": grid.of},
        )
    else:
        for place, cut in enumerate(entry.get("cuts", ())):
            if not (grid.holds(cut) and cut > low):
                template = N_(
                    "must be above %(low)s, at most %(high)s and reached in steps of %(step)s; it is %(value)s"
                )
                values = {"low": low, "high": high, "step": step, "value": cut}
                yield f"{field}.cuts[{place}]", template, values
        for place, (first, second) in enumerate(pairwise(entry.get("cuts", ())), 1):
            if first >= second:
                yield (
                    f"{field}.cuts[{place}]",
                    N_("must be above the one before, %(low)s; it is %(value)s"),
                    {"low": first, "value": second},
                )


def _condition(entry: Document, field: str, before: Mapping[str, Document]) -> _Broken:
    condition = entry.get("show_if")
    if condition is None:
        return
    where = f"{field}.show_if"
    gate = before.get(condition["question"])
    if gate is None:
        template = N_("must name a question that stands before this one; it is %(value)s")
        yield f"{where}.question", template, {"value": condition["question"]}
        return
    given = condition.keys() & {"any_of", "from", "to"}
    if "low" in gate:
        if given != {"from", "to"}:
            yield where, N_('must have "from" and "to" for a number, and no "any_of"'), {}
        elif condition["from"] > condition["to"]:
            yield (
                f"{where}.to",
                N_("must be at least %(low)s; it is %(value)s"),
                {
                    "low": condition["from"],
                    "value": condition["to"],
                },
            )
    elif given != {"any_of"}:
        yield where, N_('must have "any_of" for a choice, and neither "from" nor "to"'), {}
    else:
        for place, name in enumerate(condition["any_of"]):
            if name not in _names(gate):
                yield f"{where}.any_of[{place}]", _ONE_OF, {"limit": ", ".join(_names(gate)), "value": name}


def _design(entry: Document, field: str, by_hand: bool) -> _Broken:
    design = entry["design"]
    kind, mechanism, where = KINDS[entry["kind"]], design["mechanism"], f"{field}.design"
    if entry.get("prefer_not_to_say"):
        if kind.with_refusal and mechanism not in kind.with_refusal:
            template = N_('must be k_ary where "prefer not to say" is an answer; it is %(value)s')
            yield f"{where}.mechanism", template, {"value": mechanism}
        if entry.get("control"):
            yield f"{field}.control", N_('must not be set where "prefer not to say" is an answer'), {}
    elif mechanism in kind.refusal_only:
        yield f"{where}.mechanism", N_('must be another one: k_ary is for "prefer not to say"'), {}
    if by_hand and Choice.from_json(design).by_share:
        name = "gamma" if mechanism in kind.by_gamma else "epsilon"
        template = N_("is required where the survey has neither a budget nor a strength for all")
        yield f"{where}.{name}", template, {}
    if mechanism == "forced_response" and design["truth"] + design["yes"] >= 1:
        template = N_("must be below %(high)s, so that some answers are forced to be No; it is %(value)s")
        yield f"{where}.yes", template, {"high": round(1 - design["truth"], 9), "value": design["yes"]}
    for name in ("truth", "prevalence") if mechanism in ("warner", "crosswise") else ():
        if design.get(name) == 0.5:
            yield f"{where}.{name}", N_("must not be 0.5, where reports say nothing"), {}
    if mechanism == "kuk" and design["if_yes"] == design["if_no"]:
        yield (
            f"{where}.if_no",
            N_("must differ from the other deck; both are %(value)s"),
            {"value": design["if_no"]},
        )


def _otherwise(entry: Document, field: str) -> _Broken:
    where = f"{field}.otherwise"
    if "show_if" not in entry:
        if "otherwise" in entry:
            yield where, N_('must not stand without "show_if"'), {}
        return
    if "otherwise" not in entry:
        yield where, N_("is required: everybody reports, also those who are not shown the question"), {}
        return
    answer = entry["otherwise"]
    if "low" in entry:
        grid = Grid.from_json(entry)
        named = answer == PREFER_NOT_TO_SAY and entry.get("prefer_not_to_say")
        if not named and (isinstance(answer, str) or not grid.holds(answer)):
            template = N_("must be from %(low)s to %(high)s in steps of %(step)s; it is %(value)s")
            yield (
                where,
                template,
                {
                    "low": entry["low"],
                    "high": entry["high"],
                    "step": entry["step"],
                    "value": answer,
                },
            )
        return
    for place, name in enumerate(answer if isinstance(answer, list) else [answer]):
        if name not in _names(entry):
            spot = f"{where}[{place}]" if isinstance(answer, list) else where
            yield spot, _ONE_OF, {"limit": ", ".join(_names(entry)) or "-", "value": shorten_value(name)}
