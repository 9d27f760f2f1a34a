"""Survey definitions of every kind, as hypothesis draws them: what import, editor and export must keep."""

from typing import Any

from hypothesis import strategies as st

from server.study.editing.entry_shapes import mechanisms
from server.study.kinds import KINDS

_ODD = "ñÁ“”—<script>&\"' {%}%(x)s\t​ر日🙂=+@"
_LINE = st.text(st.one_of(st.characters(categories=("L", "N", "P", "S")), st.sampled_from(_ODD)), max_size=30)


def lines(most: int = 40) -> st.SearchStrategy[str]:
    """One line of text that is not blank."""
    return st.one_of(st.sampled_from(["Sí", "No sé", "=1+1", "<b>x</b>"]), _LINE).map(_strip_text(most))


def prose(most: int = 80) -> st.SearchStrategy[str]:
    """Texts of several lines."""
    return st.lists(lines(), min_size=1, max_size=3).map("\n".join).map(_strip_text(most))


def _strip_text(most: int) -> Any:
    return lambda text: text[:most].strip() or "x"


NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True).filter(lambda name: name != "prefer_not_to_say")
EPSILONS = st.floats(0.01, 10, allow_nan=False)
_SLIDER = st.integers(1, 49).map(lambda place: place / 100)
CHANCES = st.floats(0.01, 0.99).filter(lambda chance: chance != 0.5)
WHOLE = st.sampled_from(["best_choice", "k_ary", "unary", "symmetric_unary"])


def options(least: int = 2, most: int = 5) -> st.SearchStrategy[list[dict[str, str]]]:
    """Answers with names and texts that differ."""
    return st.lists(
        st.tuples(NAMES, lines()), min_size=least, max_size=most, unique_by=(lambda x: x[0], lambda x: x[1])
    ).map(lambda pairs: [{"name": name, "text": text} for name, text in pairs])


@st.composite
def _strength(draw: st.DrawFn, mechanism: str, budget: bool) -> dict[str, Any]:
    if budget and draw(st.booleans()):
        return {"mechanism": mechanism}
    return {"mechanism": mechanism, "epsilon": draw(EPSILONS)}


@st.composite
def _yes_no_design(draw: st.DrawFn, budget: bool) -> dict[str, Any]:
    mechanism = draw(
        st.sampled_from(["coin_flip", "warner", "forced_response", "unrelated_question", "kuk", "crosswise"])
    )
    design: dict[str, Any] = {"mechanism": mechanism}
    if mechanism == "coin_flip":
        return design if budget and draw(st.booleans()) else {**design, "gamma": draw(st.floats(0.01, 0.49))}
    if mechanism == "warner":
        return {**design, "truth": draw(CHANCES)}
    if mechanism == "forced_response":
        return {**design, "truth": draw(st.floats(0.01, 0.6)), "yes": draw(st.floats(0.01, 0.3))}
    if mechanism == "unrelated_question":
        return {**design, "truth": draw(CHANCES), "prevalence": draw(CHANCES), "innocuous": draw(lines())}
    if mechanism == "kuk":
        return {**design, "if_yes": draw(st.floats(0.5, 0.99)), "if_no": draw(st.floats(0.01, 0.4))}
    return {**design, "prevalence": draw(CHANCES), "innocuous": draw(lines())}


@st.composite
def _grid(draw: st.DrawFn) -> dict[str, Any]:
    tenths, steps = draw(st.sampled_from([1, 5, 10, 100])), draw(st.integers(2, 60))
    low = draw(st.integers(-500, 500))
    numbers = [number / 10 for number in (low, low + tenths * steps, tenths)]
    low_, high, step = (int(number) if number == int(number) else number for number in numbers)
    unit = {"unit": draw(lines())} if draw(st.booleans()) else {}
    return {"low": low_, "high": high, "step": step, **unit}


@st.composite
def questions(draw: st.DrawFn, name: str, budget: bool) -> dict[str, Any]:
    """A question of any kind, without a condition."""
    kind = draw(st.sampled_from(list(KINDS)))
    unsaid = {"prefer_not_to_say": True} if draw(st.booleans()) else {}
    entry: dict[str, Any] = {"name": name, "kind": kind, "text": draw(prose()), **unsaid}
    match kind:
        case "yes_no" if unsaid:
            entry["design"] = draw(_strength("k_ary", budget))
        case "yes_no":
            entry["design"] = draw(_yes_no_design(budget))
            if draw(st.booleans()):
                entry["control"] = True
        case "select_one":
            entry |= {"options": draw(options()), "design": draw(_strength(draw(WHOLE), budget))}
        case "select_multiple":
            entry |= {"options": draw(options(1)), "design": draw(_strength("coin_flip", budget))}
        case "scale":
            mechanism = "k_ary" if unsaid else draw(st.sampled_from(["ordinal", "k_ary"]))
            entry |= {"options": draw(options()), "design": draw(_strength(mechanism, budget))}
        case "number":
            entry |= {**draw(_grid()), "design": draw(_strength("stochastic_rounding", budget))}
        case "binned_number":
            grid = draw(_grid())
            tenths = [round(10 * grid[name]) for name in ("low", "high", "step")]
            places = range(tenths[0] + tenths[2], tenths[1] + 1, tenths[2])
            cuts = draw(st.lists(st.sampled_from(places), min_size=1, max_size=4, unique=True).map(sorted))
            entry |= {**grid, "cuts": [cut // 10 if cut % 10 == 0 else cut / 10 for cut in cuts]}
            entry["design"] = draw(_strength(draw(WHOLE), budget))
        case _:  # as the kind itself says
            entry |= KINDS[kind].example
            entry["design"] = draw(_strength(draw(st.sampled_from(mechanisms(entry))), budget))
    return entry


def answer_names(entry: dict[str, Any]) -> list[str]:
    """What a question's answers are called in conditions."""
    names = [*KINDS[entry["kind"]].fixed, *(option["name"] for option in entry.get("options", ()))]
    return [*names, "prefer_not_to_say"] if entry.get("prefer_not_to_say") else names


@st.composite
def _condition(draw: st.DrawFn, gate: dict[str, Any]) -> dict[str, Any]:
    if "low" in gate:
        return {"question": gate["name"], "from": gate["low"], "to": gate["high"]}
    names = draw(st.lists(st.sampled_from(answer_names(gate)), min_size=1, unique=True))
    return {"question": gate["name"], "any_of": names}


@st.composite
def _otherwise(draw: st.DrawFn, entry: dict[str, Any]) -> Any:
    if "low" in entry:
        return draw(st.sampled_from([entry["low"], entry["high"]]))
    names = answer_names(entry)
    if entry["kind"] == "select_multiple":
        return draw(st.lists(st.sampled_from(names), unique=True))
    return draw(st.sampled_from(names))


@st.composite
def _draw_shown(draw: st.DrawFn, name: str) -> dict[str, Any]:
    kind = draw(st.sampled_from(["text", "section", "check"]))
    if kind == "text":
        return {"name": name, "kind": kind, "text": draw(prose())}
    if kind == "section":
        body = {"body": draw(prose())} if draw(st.booleans()) else {}
        return {"name": name, "kind": kind, "text": draw(lines()), **body}
    offered = draw(options())
    return {
        "name": name,
        "kind": kind,
        "text": draw(prose()),
        "options": offered,
        "correct": offered[-1]["name"],
        "feedback": draw(prose()),
    }


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A valid survey definition, as canonical as its export: no CR, nothing blank at the ends of texts."""
    divided = draw(st.sampled_from(["", "budget", "strength"]))
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    entries: list[dict[str, Any]] = []
    asked: list[dict[str, Any]] = []
    for place, name in enumerate(names):
        last = place == len(names) - 1 and not asked
        sent = last or draw(st.integers(0, 3)) > 0
        entry = draw(questions(name, bool(divided)) if sent else _draw_shown(name))
        if asked and draw(st.booleans()):
            entry["show_if"] = draw(_condition(draw(st.sampled_from(asked))))
            if sent:
                entry["otherwise"] = draw(_otherwise(entry))
        if sent:
            asked.append(entry)
        entries.append(entry)
    document: dict[str, Any] = {
        "format": 2 if divided == "strength" else draw(st.sampled_from([1, 2])),
        "language": draw(st.sampled_from(["en", "es"])),
        "title": draw(lines()),
        "introduction": draw(st.one_of(st.just(""), prose())),
        "questions": entries,
    }
    if divided == "budget":
        document["budget"] = draw(st.integers(120, 900))
    elif divided:
        document["strength"] = draw(
            st.one_of(
                st.builds(lambda gamma: {"gamma": gamma}, st.one_of(st.floats(0.001, 0.499), _SLIDER)),
                st.builds(lambda epsilon: {"epsilon": epsilon}, EPSILONS),
            )
        )
    if draw(st.booleans()):
        document |= {"consent": draw(prose()), "least_age": draw(st.integers(1, 120))}
    if draw(st.booleans()):
        document["plan"] = {
            "respondents": draw(st.integers(1, 100_000)),
            "margin": draw(st.floats(0.01, 0.4)),
        }
    return document
