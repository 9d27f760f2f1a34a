"""What a schema cannot say of an item to release: which of its fields go together."""

from collections.abc import Iterator, Mapping
from typing import Any

from server.inputs.decimals import plain
from server.inputs.problems import N_, Problem, shown
from server.releases.plans.items import Division, Item, Kind

NOISES: Mapping[Kind, tuple[str, ...]] = {
    Kind.COUNT: ("geometric", "laplace"),
    Kind.SHARE: ("geometric", "laplace"),
    Kind.HISTOGRAM: ("geometric", "laplace"),
    Kind.TABLE: ("geometric", "laplace"),
    Kind.MEAN: ("geometric", "laplace", "gaussian"),
    Kind.HIERARCHY: ("geometric",),
    Kind.MOST_COMMON: ("noisy_maximum", "exponential"),
    Kind.EXCEEDING: ("geometric",),
    Kind.SHUFFLED: ("geometric",),
    Kind.DECLARED: ("geometric",),
}
"""Each kind's, its default first."""
_QUESTIONS: Mapping[Kind, tuple[int, int]] = {
    Kind.COUNT: (0, 0),
    Kind.SHARE: (1, 1),
    Kind.HISTOGRAM: (1, 1),
    Kind.MEAN: (1, 1),
    Kind.TABLE: (1, 3),
    Kind.HIERARCHY: (0, 0),
    Kind.MOST_COMMON: (1, 1),
    Kind.EXCEEDING: (1, 1000),
    Kind.SHUFFLED: (0, 0),
}
"""The fewest and the most of each kind."""
_OWN: Mapping[str, tuple[Kind, ...]] = {
    "option": (Kind.SHARE,),
    "by_stratum": (Kind.TABLE, Kind.MEAN),
    "share": (Kind.EXCEEDING,),
    "positives": (Kind.EXCEEDING,),
    "values": (Kind.EXCEEDING,),
}
"""Fields that only some kinds have."""
_NEEDED = {Division.PROPORTIONS: "weight", Division.ERRORS: "error", Division.GIVEN: "epsilon"}
"""What each item must state, by how the loss is divided."""

REQUIRED = N_("is required")
NOT_HERE = N_("does not go with %(limit)s")


def broken_rules(
    item: Item, document: Mapping[str, Any], division: Division, field: str
) -> Iterator[Problem]:
    """What does not go together in one item."""
    if "question" in document and "questions" in document:
        yield Problem(f"{field}.question", NOT_HERE, {"limit": "questions"})
    low, high = _QUESTIONS[item.kind]
    if not low <= len(item.questions) <= high:
        template = N_("must name %(low)s to %(high)s questions; it has %(length)d")
        yield Problem(
            f"{field}.questions", template, {"low": low, "high": high, "length": len(item.questions)}
        )
    elif len(set(item.questions)) < len(item.questions):
        twice = next(name for place, name in enumerate(item.questions) if name in item.questions[:place])
        template = N_("must be unique; %(value)s stands twice")
        yield Problem(f"{field}.questions", template, {"value": shown(twice)})
    elif item.kind == Kind.TABLE and (len(item.questions) > 1) == item.by_stratum:
        template = N_("must name two or three questions, or one by stratum")
        yield Problem(f"{field}.questions", template, {})
    yield from (
        Problem(f"{field}.{name}", NOT_HERE, {"limit": item.kind.value})
        for name, kinds in _OWN.items()
        if name in document and item.kind not in kinds
    )
    if item.stratum and item.kind in (Kind.HIERARCHY, Kind.SHUFFLED):
        yield Problem(f"{field}.stratum", NOT_HERE, {"limit": item.kind.value})
    if item.kind == Kind.SHARE and item.option is None:
        yield Problem(f"{field}.option", REQUIRED, {})
    if item.kind == Kind.EXCEEDING and item.share is None:
        yield Problem(f"{field}.share", REQUIRED, {})
    if item.noise not in NOISES[item.kind]:
        template = N_("must be one of %(limit)s; it is %(value)s")
        yield Problem(
            f"{field}.noise", template, {"limit": ", ".join(NOISES[item.kind]), "value": item.noise}
        )
    if item.noise == "gaussian" and not item.delta:
        template = N_("must be more than 0 with Gaussian noise")
        yield Problem(f"{field}.delta", template, {})
    if item.noise != "gaussian" and item.delta:
        template = N_("goes with Gaussian noise only; it is %(value)s")
        yield Problem(f"{field}.delta", template, {"value": plain(item.delta)})
    for way, name in _NEEDED.items():
        stated = getattr(item, name) is not None
        if item.kind == Kind.SHUFFLED:
            if stated:
                yield Problem(f"{field}.{name}", NOT_HERE, {"limit": item.kind.value})
        elif way == division and not stated:
            yield Problem(f"{field}.{name}", REQUIRED, {})
        elif way != division and stated:
            yield Problem(f"{field}.{name}", NOT_HERE, {"limit": division.value})
