"""`python -m server plan`: what a survey, or one question, needs and reveals."""

from pathlib import Path
from typing import Any, TextIO

import click

from server.cli.common import JSON, database_session, found_survey, print_document, print_table
from server.cli.power_options import draw_curve, plan_test, power_options, print_power, read_test
from server.inputs import margin_text, parse_json
from server.output.formatting import chance
from server.privacy.designs import round_up
from server.study import planning, surveys
from server.study.definitions import Choice, Definition, Grid, Option, Question
from server.study.definitions.definition_reader import DEFINITION_LIMIT, parse_definition
from server.study.kinds import KINDS

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
WHAT = {
    "share": "share of yes",
    "shares": "share of each answer",
    "boxes": "share of each box",
    "mean": "mean, in parts of its range",
}


class Margin(click.FloatRange):
    """A margin as people type it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As a fraction."""
        typed: Any = margin_text(value) if isinstance(value, str) else value
        return super().convert(typed, param, ctx)


@click.command()
@click.argument("survey", required=False)
@click.option("--mechanism", type=click.Choice(list(PLANNED)), help="Plan one question instead of a survey.")
@click.option("--gamma", type=float, help="Of a coin flip: the truth is sent with probability 1/2 + gamma.")
@click.option("--epsilon", type=float, help="Privacy loss of the question, in nats.")
@click.option("--truth", type=float, help="Chance of answering truthfully (warner, forced_response).")
@click.option("--yes", type=float, help="Chance of a forced yes.")
@click.option("--prevalence", type=float, help="Share of yes to the innocuous question.")
@click.option("--if-yes", type=float, help="Kuk: chance of red for yes.")
@click.option("--if-no", type=float, help="Kuk: chance of red for no.")
@click.option("--options", type=click.IntRange(2, 50), help="Answers to choose from, or levels of a scale.")
@click.option(
    "--margin",
    type=Margin(0.001, 0.5),
    help="Half the width of the interval wanted: 5%, 5 (points) or 0.05.",
)
@click.option("--respondents", type=click.IntRange(1, 10_000_000), help="How many are planned.")
@click.option("--share", "shares", metavar="SHARE[,SHARE...]", help="True shares; the worst ones without it.")
@click.option("--confidence", default=0.95, show_default=True)
@power_options
@JSON
def plan(
    survey: str | None,
    mechanism: str | None,
    options: int | None,
    margin: float | None,
    respondents: int | None,
    shares: str | None,
    confidence: float,
    wanted: float | None,
    null: float | None,
    against: float | None,
    ratio: int,
    sides: int,
    alpha: float,
    curve: TextIO | None,
    over: str,
    as_json: bool,
    **chances: float | None,
) -> None:
    """Say how many respondents a plan needs, what they give, and what answers reveal.

    SURVEY is a survey's slug or a definition file (JSON; - for standard input). Instead of it, one question may
    be described by its --mechanism. With --null or --against, what it takes to show that a share of yes is another.
    """
    given = {name: value for name, value in chances.items() if value is not None}
    if (survey is None) == (mechanism is None):
        raise click.UsageError("either SURVEY or --mechanism must be given, and not both")
    if mechanism is None:
        assert survey is not None
        named = {
            "options": options,
            "share": shares,
            "power": wanted,
            "null": null,
            "against": against,
            "curve": curve,
        }
        for name in [*given, *(name for name, value in named.items() if value is not None)]:
            raise click.UsageError(f"{_flag(name)} must not be given with a survey; it needs --mechanism")
        made = planning.plan(read_definition(survey), respondents, margin, confidence)
        document = _survey_json(made)
        planned = made.questions
    elif any(value is not None for value in (wanted, null, against, curve)):
        if margin is not None or confidence != 0.95:
            raise click.UsageError("--margin and --confidence must not be given with --null or --against")
        test = read_test(shares, null, against, ratio, sides, alpha)
        made_power = plan_test(test, _question(mechanism, given, options), wanted, respondents)
        print_power(made_power, as_json)
        if curve is not None:
            curve.write(draw_curve(made_power, over))
        return
    else:
        question = _question(mechanism, given, options)
        wanted = planning.DEFAULT_MARGIN if margin is None else margin
        planned = (
            planning.plan_question(question, 1, respondents, wanted, confidence, _shares(shares, question)),
        )
        document = {"respondents": respondents, "margin": wanted, "confidence": confidence}
        document |= {"questions": [_question_json(planned[0])]}
    if as_json:
        print_document(document, as_json)
    else:
        _print(document, planned)


def read_definition(survey: str) -> Definition:
    """The definition that an argument names: a file, or a survey's draft."""
    if survey == "-" or Path(survey).is_file():
        with click.open_file(survey, "rb") as file:
            return parse_definition(parse_json(file.read(DEFINITION_LIMIT + 1), DEFINITION_LIMIT))
    if "/" in survey or survey.endswith(".json"):
        raise click.UsageError(f"SURVEY must be a slug or a file that can be read; {survey!r} is not there")
    with database_session() as session:
        return surveys.draft(found_survey(session, survey))


def _question(mechanism: str, given: dict[str, float], options: int | None) -> Question:
    """The question that the options describe."""
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
            missing = "--gamma" if mechanism == "coin_flip" else _flag(name)
            raise click.UsageError(f"{missing}{alternative} must be given with --mechanism {mechanism}")
    for name in given:
        if name not in needed:
            raise click.UsageError(f"{_flag(name)} is not known to --mechanism {mechanism}")
    if kind.has_options != (options is not None):
        raise click.UsageError(
            f"--options must {'' if kind.has_options else 'not '}be given with --mechanism {mechanism}"
        )
    return Question(
        name="question",
        kind=kind.name,
        text="",
        options=tuple(Option(f"o{place}", "") for place in range(options or 0)),
        grid=Grid(0, 1, 1) if kind.asks_number else None,
        choice=Choice(mechanism, tuple(given.items())),
    )


def _shares(text: str | None, question: Question) -> tuple[float, ...] | None:
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


def _survey_json(made: planning.SurveyPlan) -> dict[str, Any]:
    return {
        "respondents": made.respondents,
        "margin": made.margin,
        "confidence": made.confidence,
        "epsilon": made.epsilon,
        "belief": made.belief,
        "budget": made.budget,
        "left": made.left,
        "binding": made.binding.question.name,
        "questions": [_question_json(question) for question in made.questions],
    }


def _question_json(made: planning.QuestionPlan) -> dict[str, Any]:
    return {
        "question": made.question.name,
        "kind": made.question.kind,
        "mechanism": made.question.choice.mechanism,
        "encoding": made.question.encoding,
        "epsilon": made.epsilon,
        "gamma": made.gamma,
        "belief": made.belief,
        "targets": [
            {
                "what": target.what,
                "promised": target.promised,
                "respondents": target.respondents,
                "reached": target.reached,
                "reachable": target.reachable,
                "price": target.price,
                "range": target.range,
            }
            for target in made.targets
        ],
    }


def warn_of_shortfall(shortfall: planning.Shortfall, respondents: int) -> str:
    """What the planned respondents cannot tell as precisely as was wanted."""
    planned, target = shortfall.plan, shortfall.target
    return (
        f"With {respondents} respondents, question {planned.number} ({planned.question.name}, {WHAT[target.what]}) "
        f"can be estimated to within +-{round_up(target.reached or 0.0):.4f}, not +-{target.margin:g}; "
        f"it would need {target.respondents}."
    )


def _print(document: dict[str, Any], planned: tuple[planning.QuestionPlan, ...]) -> None:
    respondents, margin = document["respondents"], document["margin"]
    header = ["question", "mechanism", "epsilon", "10% becomes", "estimated", f"needed for +-{margin:g}"]
    print_table(
        [*header, *([] if respondents is None else [f"with {respondents}", ""]), "price"],
        [
            [
                question.question.name,
                question.question.choice.mechanism,
                f"{round_up(question.epsilon):.4f}",
                f"{chance(question.belief, 'en')}%",
                WHAT[target.what],
                str(target.respondents),
                *(
                    []
                    if target.reached is None
                    else [f"+-{round_up(target.reached):.4f}", _describe_target(target)]
                ),
                f"{target.price:.2f}",
            ]
            for question in planned
            for target in question.targets
        ],
    )
    if "binding" in document:
        budget = "" if document["budget"] is None else f" of a budget of {document['budget']:g}"
        believed = chance(document["belief"], "en")
        click.echo(f"In all: epsilon = {round_up(document['epsilon'])}{budget}; 10% becomes {believed}%.")
        click.echo(f"Most respondents are needed by {document['binding']}.")


def _describe_target(target: planning.Target) -> str:
    if target.reachable:
        return "enough"
    return "too few" if target.promised else "not promised"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
