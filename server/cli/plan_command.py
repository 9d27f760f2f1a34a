"""`python -m server plan`: what a survey, or one question, needs and reveals."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from server.cli.common import (
    JSON,
    WholeNumber,
    database_session,
    open_new_file,
    print_document,
    refuse_others,
    require_beside,
    require_survey,
)
from server.cli.described_question import PLANNED, call_option, describe_question, read_shares
from server.cli.plan_output import plan_of_question, plan_of_survey, print_plan
from server.cli.power_options import list_asking, plan_request, power_options, read_request
from server.cli.power_output import draw_curve, print_grid, print_power
from server.inputs import margin_text, parse_json
from server.study import planning, surveys
from server.study.definitions import Definition, Question
from server.study.definitions.definition_reader import DEFINITION_LIMIT, parse_definition

CHANCES = ("gamma", "epsilon", "truth", "yes", "prevalence", "if_yes", "if_no")
"""What a mechanism may need."""


class Margin(click.FloatRange):
    """A margin as people type it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As a fraction."""
        typed: Any = margin_text(value) if isinstance(value, str) else value
        refuse_others(self, "a number", float, typed, param, ctx)
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
@click.option("--options", type=WholeNumber(2, 50), help="Answers to choose from, or levels of a scale.")
@click.option(
    "--margin",
    type=Margin(0.001, 0.5),
    help="Half the width of the interval wanted: 5%, 5 (points) or 0.05.",
)
@click.option("--respondents", type=WholeNumber(1, 10_000_000), help="How many are planned.")
@click.option(
    "--share",
    "--mean",
    "shares",
    metavar="SHARE[,SHARE...]",
    help="True shares, or a true mean; the worst ones without it.",
)
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
    as_json: bool,
    **named: Any,
) -> None:
    """Say how many respondents a plan needs, what they give, and what answers reveal.

    SURVEY is a survey's slug or a definition file (JSON; - for standard input). Instead of it, one question may
    be described by its --mechanism. With --null or --against, what it takes to show that a share or a mean is
    another, that two groups differ, or that waves have a trend.
    """
    given = {name: named[name] for name in CHANCES if named[name] is not None}
    if (survey is None) == (mechanism is None):
        raise click.UsageError("either SURVEY or --mechanism must be given, and not both")
    asking = list_asking(click.get_current_context())
    if mechanism is None:
        assert survey is not None
        beside = {"options": options, "share": shares}
        for name in [*given, *(name for name, value in beside.items() if value is not None), *asking]:
            called = call_option({"wanted": "power", "ratios": "ratio"}.get(name, name))
            raise click.UsageError(f"{called} must not be given with a survey; it needs --mechanism")
        made = planning.plan(read_definition(survey), respondents, margin, confidence)
        document, planned = plan_of_survey(made), made.questions
    elif asking:
        if margin is not None or confidence != 0.95:
            raise click.UsageError("--margin and --confidence must not be given with --null or --against")
        question = describe_question(mechanism, given, options)
        _plan_power(question, {**named, "shares": shares, "respondents": respondents}, as_json)
        return
    else:
        question = describe_question(mechanism, given, options)
        wanted = planning.DEFAULT_MARGIN if margin is None else margin
        true_shares = read_shares(shares, question)
        planned = (planning.plan_question(question, 1, respondents, wanted, confidence, true_shares),)
        document = {"respondents": respondents, "margin": wanted, "confidence": confidence}
        document |= {"questions": [plan_of_question(planned[0])]}
    if as_json:
        print_document(document, as_json)
    else:
        print_plan(document, planned)


def _plan_power(question: Question, named: Mapping[str, Any], as_json: bool) -> None:
    """What it takes to show a difference; the power at each of some values, where these are given."""
    if named["each_share"] is not None or named["each_size"] is not None:
        print_grid(question, named, as_json)
        return
    request = read_request(question, named["shares"], named)
    made = plan_request(request, named["wanted"], named["respondents"])
    require_beside(click.get_current_context(), "over", "curve")
    if named["curve"] is not None:
        with open_new_file(named["curve"], "--curve") as file:
            file.write(draw_curve(made, named["over"]).encode())
    print_power(request, made, as_json)


def read_definition(survey: str) -> Definition:
    """The definition that an argument names: a file, or a survey's draft."""
    if survey == "-" or Path(survey).is_file():
        with click.open_file(survey, "rb") as file:
            return parse_definition(
                parse_json(file.read(DEFINITION_LIMIT + 1), DEFINITION_LIMIT, "definition")
            )
    if "/" in survey or survey.endswith(".json"):
        raise click.UsageError(f"SURVEY must be a slug or a file that can be read; {survey!r} is not there")
    with database_session() as session:
        return surveys.draft(require_survey(session, survey))
