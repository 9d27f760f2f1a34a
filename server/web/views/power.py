"""What it takes to show a difference: respondents, chances and coins. Nothing is stored."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server.output.documents import Words
from server.study.planning.power_figures import draw_coins, draw_power
from server.web.power_form import read_power_form
from server.web.problem_texts import describe
from server.web.security import signed_in

blueprint = Blueprint("power", __name__, url_prefix="/manage/power")


@blueprint.get("")
@signed_in
def page() -> ResponseReturnValue:
    """The plan that the address asks for."""
    form = read_power_form(request.args)
    words = Words(str(get_locale()))
    drawn = form.plan and (draw_power(words, form.plan), draw_coins(words, form.plan))
    problems = [describe(problem) for problem in form.problems]
    page = render_template("manage/power.html", form=form, problems=problems, drawn=drawn)
    return page, 422 if problems else 200
