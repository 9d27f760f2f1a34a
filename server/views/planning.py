"""What a plan costs, as a piece of a page: the consequences of the slider."""

import math

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from server import planning
from server.inputs import N_, InputError, refuse, schema_limit, shown
from server.security import signed_in

blueprint = Blueprint("planning", __name__, url_prefix="/manage")

DEFAULT_GAMMA = 0.25
GAMMAS, MARGINS = (0.001, 0.499), (0.001, 0.5)


@blueprint.get("/consequences")
@signed_in
def consequences() -> ResponseReturnValue:
    """What a setting of the slider means."""
    gamma = _number("gamma", DEFAULT_GAMMA, GAMMAS)
    margin = _number("margin", planning.DEFAULT_MARGIN, MARGINS)
    questions = _questions(request.args.get("questions", "1"))
    return render_template("manage/_consequences.html", shown=planning.consequences(gamma, questions, margin))


def _questions(asked: str) -> int:
    most = schema_limit("properties", "questions", "maxItems")
    # int() takes other digits, signs and underscores too, and minutes for thousands of digits.
    if not (asked.isascii() and asked.isdigit() and len(asked) < 10 and 1 <= int(asked) <= most):
        raise _outside("questions", 1, most, asked)
    return int(asked)


def _number(field: str, default: float, limits: tuple[float, float]) -> float:
    asked = request.args.get(field, str(default))
    try:
        number = float(asked)
    except ValueError:
        number = math.nan
    if not limits[0] <= number <= limits[1]:
        raise _outside(field, *limits, asked)
    return number


def _outside(field: str, low: float, high: float, value: str) -> InputError:
    return refuse(
        422,
        field,
        N_("must be from %(low)s to %(high)s; it is %(value)s"),
        low=low,
        high=high,
        value=shown(value),
    )
