"""Pages for a lesson: what tutorials show with code, tried by pressing a button. Nothing is remembered."""

import math
import secrets

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue
from flask_babel import get_locale

from server.web.handbook import find_place
from server.web.lessons import lesson_charts
from server.web.lessons.differencing import NAMES, TABLE, attack
from server.web.lessons.drawn_noise import COUNT, DRAWS, KINDS, DrawnNoise
from server.web.lessons.failing_mechanisms import list_failures
from server.web.lessons.larger_classes import play_class
from server.web.lessons.lesson_fields import LOSSES, read_whole
from server.web.lessons.repeated_questions import (
    COINS,
    MOST_TIMES,
    ask_repeatedly,
    count_knowledge,
    find_coin,
)
from server.web.result_choices import choose_name

blueprint = Blueprint("teaching", __name__, url_prefix="/teach")

MOST_CARDS = 60
_KNOWN_AFTER = (1, 2, 3, 5, 10)


@blueprint.get("")
def contents() -> ResponseReturnValue:
    """What there is to try, in the order of a lesson."""
    return render_template("teaching/contents.html", lesson_plan=find_place("teaching", str(get_locale())))


@blueprint.get("/again")
def again() -> ResponseReturnValue:
    """The same question ten times, with new coins each time."""
    kept = choose_name("kept", tuple(COINS), "75")
    times = read_whole("times", 10, 1, MOST_TIMES)
    coin, card = find_coin(kept), secrets.randbelow(2)
    asked = ask_repeatedly(coin, card, times)
    return render_template(
        "teaching/again.html",
        kept=kept,
        coins=COINS,
        times=times,
        most=MOST_TIMES,
        card=card,
        asked=asked,
        known=[count_knowledge(coin, number) for number in sorted({*_KNOWN_AFTER, times})],
        figure=lesson_charts.draw_beliefs(asked),
    )


@blueprint.get("/difference")
def difference() -> ResponseReturnValue:
    """A table of ten rows, and two counts that give one of them away."""
    name = choose_name("whose", NAMES, "Bruno")
    loss = choose_name("loss", tuple(LOSSES), "1")
    return render_template(
        "teaching/difference.html",
        table=TABLE,
        names=NAMES,
        name=name,
        loss=loss,
        losses=LOSSES,
        attack=attack(name, loss),
    )


@blueprint.get("/noise")
def noise() -> ResponseReturnValue:
    """Geometric and Laplace noise, as curves and as draws."""
    chosen = choose_name("noise", KINDS)
    loss = choose_name("loss", tuple(LOSSES), "1")
    draws = choose_name("draws", DRAWS, "100")
    drawn = DrawnNoise(chosen, LOSSES[loss])
    values = drawn.draw(int(draws))
    places = [float(COUNT + away) for away in range(-3, 4)]
    reach = drawn.reach()
    return render_template(
        "teaching/noise.html",
        drawn=drawn,
        loss=loss,
        losses=LOSSES,
        draws=draws,
        draws_offered=DRAWS,
        count=COUNT,
        odds=math.ceil(1000 * math.exp(drawn.loss)) / 1000,  # at most so many
        reach=reach,
        rows=list(zip(places, drawn.chances(places, COUNT), drawn.chances(places, COUNT - 1), strict=True)),
        within=sum(abs(value - COUNT) <= reach for value in values),
        first=values[:10],
        worlds=lesson_charts.draw_two_worlds(drawn),
        figure=lesson_charts.draw_draws(drawn, values),
    )


@blueprint.get("/audit")
def audit() -> ResponseReturnValue:
    """Published mechanisms that do not keep what they promise."""
    failures = list_failures()
    return render_template(
        "teaching/audit.html", failures=failures, figure=lesson_charts.draw_failures(failures)
    )


@blueprint.get("/class")
def classroom() -> ResponseReturnValue:
    """How a class plays it with cards, and what a larger class would see."""
    red = read_whole("red", 30, 0, 100)
    looks = play_class(red)
    return render_template(
        "teaching/class.html", red=red, looks=looks, figure=lesson_charts.draw_looks(looks, red)
    )


@blueprint.get("/cards")
def cards() -> ResponseReturnValue:
    """Cards to print, cut out and hand out: so many, of which so many are red."""
    number = read_whole("cards", 30, 2, MOST_CARDS)
    red = read_whole("red", min(9, number), 0, number)
    return render_template("teaching/cards.html", number=number, red=red, most=MOST_CARDS)
