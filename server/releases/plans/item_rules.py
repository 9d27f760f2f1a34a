"""What a schema cannot say of an item to release: which of its fields go together."""

from collections.abc import Iterator, Mapping
from typing import Any

from server.inputs.decimals import format_decimal
from server.inputs.problems import N_, Problem, shorten_value
from server.releases.kinds import KINDS
from server.releases.plans.items import Division, Item, ItemKind

_SOME_HAVE = tuple(dict.fromkeys(name for entry in KINDS.values() for name in entry.fields))
"""Fields that only some kinds have."""
_NEEDED = {Division.PROPORTIONS: "weight", Division.ERRORS: "error", Division.GIVEN: "epsilon"}
"""What each item must state, by how the loss is divided."""

REQUIRED = N_("is required")
NOT_HERE = N_("does not go with %(limit)s")


def broken_rules(
    item: Item, document: Mapping[str, Any], division: Division | None, field: str
) -> Iterator[Problem]:
    """What does not go together in one item; without a division, whatever is said of its loss."""
    if "question" in document and "questions" in document:
        yield Problem(f"{field}.question", NOT_HERE, {"limit": "questions"})
    kind = KINDS[item.kind]
    low, high = kind.questions
    if not low <= len(item.questions) <= high:
        template = N_("must name %(low)s to %(high)s questions; it has %(length)d")
        yield Problem(
            f"{field}.questions", template, {"low": low, "high": high, "length": len(item.questions)}
        )
    elif len(set(item.questions)) < len(item.questions):
        twice = next(name for place, name in enumerate(item.questions) if name in item.questions[:place])
        template = N_("must be unique; %(value)s stands twice")
        yield Problem(f"{field}.questions", template, {"value": shorten_value(twice)})
    elif item.kind == ItemKind.TABLE and (len(item.questions) > 1) == item.by_stratum:
        template = N_("must name two or three questions, or one by stratum")
        yield Problem(f"{field}.questions", template, {})
    yield from (
        Problem(f"{field}.{name}", NOT_HERE, {"limit": item.kind})
        for name in _SOME_HAVE
        if name in document and name not in kind.fields
    )
    if item.stratum and not kind.of_a_stratum:
        yield Problem(f"{field}.stratum", NOT_HERE, {"limit": item.kind})
    yield from (
        Problem(f"{field}.{name}", REQUIRED, {}) for name in kind.required if getattr(item, name) is None
    )
    if item.where and kind.own_price:
        yield Problem(f"{field}.where", NOT_HERE, {"limit": item.kind})
    if item.people is not None and not item.where:
        template = N_("goes with conditions (where) only; it is %(value)s")
        yield Problem(f"{field}.people", template, {"value": item.people})
    if item.noise not in kind.noises:
        template = N_("must be one of %(limit)s; it is %(value)s")
        yield Problem(f"{field}.noise", template, {"limit": ", ".join(kind.noises), "value": item.noise})
    if item.noise == "gaussian" and not item.delta:
        template = N_("must be more than 0 with Gaussian noise")
        yield Problem(f"{field}.delta", template, {})
    if item.noise != "gaussian" and item.delta:
        template = N_("goes with Gaussian noise only; it is %(value)s")
        yield Problem(f"{field}.delta", template, {"value": format_decimal(item.delta)})
    if item.anew and item.kind == ItemKind.SHUFFLED:
        # Among the others: in the difference of two a response hides among those that came in between alone.
        template = N_("must be false: exact tallies are released once, as two would tell of those in between")
        yield Problem(f"{field}.anew", template, {})
    if division is None:
        return
    for way, name in _NEEDED.items():
        stated = getattr(item, name) is not None
        if kind.own_price:
            if stated:
                yield Problem(f"{field}.{name}", NOT_HERE, {"limit": item.kind})
        elif way == division and not stated:
            yield Problem(f"{field}.{name}", REQUIRED, {})
        elif way != division and stated:
            yield Problem(f"{field}.{name}", NOT_HERE, {"limit": division.value})
