"""How `plan` prints what a survey, or one question, needs and reveals."""

from typing import Any

import click

from server.cli.common import print_table
from server.output.formatting import chance
from server.privacy.designs import round_up
from server.study import planning

WHAT = {
    "share": "share of yes",
    "shares": "share of each answer",
    "boxes": "share of each box",
    "mean": "mean, in parts of its range",
}


def plan_of_survey(made: planning.SurveyPlan) -> dict[str, Any]:
    """Every number of a survey's plan."""
    return {
        "respondents": made.respondents,
        "margin": made.margin,
        "confidence": made.confidence,
        "epsilon": made.epsilon,
        "belief": made.belief,
        "budget": made.budget,
        "left": made.left,
        "binding": made.binding.question.name,
        "questions": [plan_of_question(question) for question in made.questions],
    }


def plan_of_question(made: planning.QuestionPlan) -> dict[str, Any]:
    """Every number of a question's plan."""
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


def print_plan(document: dict[str, Any], planned: tuple[planning.QuestionPlan, ...]) -> None:
    """What is planned, as tables."""
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
