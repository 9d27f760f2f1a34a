"""What chance does in a release, drawn: from its mechanism alone, never from what was counted."""

import math
from dataclasses import dataclass

import numpy as np

from server.inputs import N_
from server.output import charts
from server.output.charts import Axis, PlottedCurve
from server.output.documents import Chart
from server.releases.noise_shapes import AddedNoise, NoiseShape
from server.releases.plans.items import ItemKind
from server.reports.report_words import ReportWords

_SHOWN = 0.998
"""Of the draws, how many lie within the drawing at least."""
_MOST_POINTS = 241
"""Of a line, 0 in the middle: noise may reach further than there is room for each number."""
_TIMES = (50, 10, 1)
"""Of 100: how often an option is chosen at most that is so far behind as is said."""
_HINTS: dict[str, str] = {
    ItemKind.QUANTILES: N_(
        "Which number is chosen depends on the rows, so its chances cannot be shown without telling of them. This can: "
        "for each 100 times that a number in the right place is chosen, one with so many rows too many below or above "
        "it is chosen at most so often, whatever the rows say."
    ),
    ItemKind.TOP: N_(
        "Which answers are chosen depends on what was answered, so their chances cannot be shown without telling of "
        "it. This can: for each 100 times that the most common answers are chosen, the same with another in place of "
        "one of them, whose number is lower by so much, are chosen at most so often, whatever was answered."
    ),
    ItemKind.MOST_COMMON: N_(
        "Which answer is chosen depends on what was answered, so its chances cannot be shown without telling of it. "
        "This can: for each 100 times that the most common answer is chosen, one whose number is lower by so much is "
        "chosen at most so often, whatever was answered."
    ),
}
_EACH_ALONE = N_("That holds of each by itself: where many are as far off, one of them is chosen more often.")
_ADDED = N_(
    "This much is added to each number of people or reports, by chance alone; it is the same whatever was answered."
)
_UNTOLD: dict[str, str] = {
    ItemKind.EXCEEDING: N_(
        "Noise is drawn once for the limit and anew for each comparison. How the comparisons come out depends on what "
        "was answered, and no curve can show it without telling of that."
    ),
    ItemKind.VARIANCE: N_(
        "Three sums get noise, and the variance follows from them. What their noise does to it depends on the sums "
        "themselves, and no curve can show it without telling of them."
    ),
    ItemKind.MEAN: N_(
        "A sum and a number of rows get noise, and the mean follows from them. What their noise does to it depends on "
        "both, and no curve can show it without telling of them."
    ),
}
"""Where there is no one noise that is added to what is told."""
_UNTOLD[ItemKind.SEARCH] = _UNTOLD[ItemKind.EXCEEDING]


@dataclass(frozen=True)
class ShownNoise:
    """What chance does: in words, and drawn where that can be done without telling what was answered."""

    text: str
    chart: Chart | None = None


def show_noise(
    words: ReportWords, kind: str, shape: NoiseShape | None, confidence: float
) -> ShownNoise | None:
    """Of an item; None of what gets no noise, or of which it was not noted."""
    _ = words.gettext
    if shape is None:
        return ShownNoise(_(_UNTOLD[kind])) if kind in _UNTOLD else None
    if isinstance(shape, AddedNoise):
        sentence = _("This much is added to the sum, by chance alone; it is the same whatever the rows say.")
        if kind != ItemKind.SUM:
            sentence = _(_ADDED)
        if shape.fitted:
            sentence += " " + _("Then the numbers are made to add up, which takes some of it away.")
        return ShownNoise(sentence, draw_noise(words, shape, confidence))
    return ShownNoise(f"{_(_HINTS[kind])} {_(_EACH_ALONE)}", _draw_odds(words, kind, shape.rate))


def draw_noise(words: ReportWords, shape: AddedNoise, confidence: float) -> Chart:
    """Chances of each amount of noise, and between which limits it lies how often."""
    _, noise = words.gettext, shape.noise
    half = noise.reach(confidence)
    reach = max(noise.reach(max(confidence, _SHOWN)), half + 1)
    amounts = np.unique(np.rint(np.linspace(-reach, reach, _MOST_POINTS)).astype(np.int64))
    chances = dict(zip(amounts.tolist(), noise.chances(amounts).tolist(), strict=True))

    def label(number: float) -> str:
        return (
            words.integer(int(number))
            if shape.unit == 1
            else words.number(float(f"{number * shape.unit:.12g}"))
        )

    spread = math.sqrt(noise.variance) * shape.unit
    said = [
        _(
            "In %(confidence)s of 100 such draws or more, the noise lies between %(low)s and %(high)s",
            confidence=words.level(confidence),
            low=label(-half),
            high=label(half),
        ),
        _("its typical size (standard deviation) is %(size)s", size=words.number(float(f"{spread:.3g}"))),
    ]
    share = words.percent(chances[0]).removesuffix("\N{NO-BREAK SPACE}%")
    said.append(_("in %(share)s of 100 draws it is 0", share=share))
    title = _("How likely each amount of noise is")
    made = charts.chance_bars(title, chances, half, label, said)
    return Chart(made.svg, title, "; ".join(said) + ".")


def _draw_odds(words: ReportWords, kind: str, rate: float) -> Chart:
    """How often an option is chosen that is lower, or off by rows, by so much, for each 100 times that the best is."""
    _ = words.gettext
    rows = kind == ItemKind.QUANTILES
    title = (
        _("Of 100 times, how often one given number is chosen that is so many rows off, at most")
        if rows
        else _("Of 100 times, how often one given answer is chosen whose number is lower by so much, at most")
    )
    far = [math.ceil(math.log(100 / times) / rate) for times in _TIMES]
    fewest = dict(zip(far, _TIMES, strict=True))  # where several are at one place, the last of them
    said = [
        _("by %(number)s: at most %(times)s of 100", number=words.integer(number), times=times)
        for number, times in fewest.items()
    ]
    end = far[-1]
    points = [(x, 100 * math.exp(-rate * x)) for x in np.linspace(0, end, 121).tolist()]
    marks = tuple(dict.fromkeys((0, far[0], far[1], end)))
    across = Axis(0, end, 0, end, marks, marks)
    up = Axis(0, 100, 0, 100, (0, 50, 100), (0, 50, 100))

    def label(number: float) -> str:
        return words.integer(round(number))

    made = charts.curves(title, said, [PlottedCurve("", points)], (across, label), (up, label))
    return Chart(made.svg, title, "; ".join(said) + ".")
