"""A question that the options of `plan` describe: its mechanism, with the chances or the strength of that."""

import click

from server.study.definitions import Choice, Option, Question
from server.study.kinds import KINDS
from server.study.kinds.grids import Grid

PLANNED = {mechanism: kind for kind in KINDS.values() for mechanism in kind.planned_for}
"""The kind of question that a mechanism is planned for, when it is named on the command line."""

PARAMETERS = {
    "coin_flip": ("gamma",),
    "warner": ("truth",),
    "forced_response": ("truth", "yes"),
    "unrelated_question": ("truth", "prevalence"),
    "kuk": ("if_yes", "if_no"),
    "crosswise": ("prevalence",),
}


def describe_question(
    mechanism: str, given: dict[str, float], options: int | None, option: str = "--mechanism"
) -> Question:
    """The question that the options describe; `option` named its mechanism."""
    if mechanism not in PLANNED:
        raise click.UsageError(f"{option} must be one of {', '.join(PLANNED)}; it is {mechanism!r}")
    kind = PLANNED[mechanism]
    needed = PARAMETERS.get(mechanism, ("epsilon",))
    if mechanism == "coin_flip" and "epsilon" in given:
        if "gamma" in given:
            raise click.UsageError(
                "--gamma and --epsilon must not be given both: each says how strong a coin is"
            )
        needed = ("epsilon",)
    for name in needed:
        if name not in given:
            alternative = " or --epsilon" if mechanism == "coin_flip" else ""
            missing = "--gamma" if mechanism == "coin_flip" else call_option(name)
            raise click.UsageError(f"{missing}{alternative} must be given with {option} {mechanism}")
    for name in given:
        if name not in needed:
            raise click.UsageError(f"{call_option(name)} is not known to {option} {mechanism}")
    if kind.has_options != (options is not None):
        raise click.UsageError(
            f"--options must {'' if kind.has_options else 'not '}be given with {option} {mechanism}"
        )
    return Question(
        name="question",
        kind=kind.name,
        text="",
        options=tuple(Option(f"o{place}", "") for place in range(options or 0)),
        grid=Grid(0, 1, 1) if kind.asks_number else None,
        choice=Choice(mechanism, tuple(given.items())),
    )


def read_shares(text: str | None, question: Question) -> tuple[float, ...] | None:
    """True shares, one for each row of the design; a single number is the share of the second of two."""
    if text is None:
        return None
    try:
        shares = tuple(float(share) for share in text.split(","))
    except ValueError:
        raise click.UsageError(f"--share must be numbers with commas between them; it is {text!r}") from None
    truths = len(question.designs[0].weights)
    if len(shares) == 1 and truths == 2:
        if not 0 <= shares[0] <= 1:
            raise click.UsageError(f"--share must be from 0 to 1; it is {text!r}")
        return (1 - shares[0], shares[0])
    if len(shares) != truths:
        raise click.UsageError(f"--share must be {truths} numbers, one for each answer; it is {text!r}")
    return shares


def call_option(name: str) -> str:
    """A parameter as it is typed."""
    return f"--{name.replace('_', '-')}"
