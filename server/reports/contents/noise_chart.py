"""The distribution of the noise of a release, drawn: from its mechanism alone, never from what was counted."""

import math

import numpy as np

from server.output import charts
from server.output.documents import Chart
from server.releases.noisy_cells import Noise
from server.reports.report_words import ReportWords

_SHOWN = 0.998
"""Of the draws, how many lie within the drawing at least."""
_MOST_POINTS = 241
"""Of a line, 0 in the middle: noise may reach further than there is room for each number."""


def draw_noise(words: ReportWords, noise: Noise, confidence: float) -> Chart:
    """Chances of each amount of noise, and between which limits it lies how often."""
    _ = words.gettext
    half = noise.reach(confidence)
    reach = max(noise.reach(max(confidence, _SHOWN)), half + 1)
    amounts = np.unique(np.rint(np.linspace(-reach, reach, _MOST_POINTS)).astype(np.int64))
    chances = dict(zip(amounts.tolist(), noise.chances(amounts).tolist(), strict=True))
    spread = math.sqrt(noise.variance)
    said = [
        _(
            "In %(confidence)s of 100 such draws or more, the noise lies between %(low)s and %(high)s",
            confidence=words.level(confidence),
            low=words.integer(-half),
            high=words.integer(half),
        ),
        _("its typical size (standard deviation) is %(size)s", size=words.number(float(f"{spread:.3g}"))),
        _(
            "in %(share)s of 100 draws it is 0",
            share=words.percent(chances[0]).removesuffix("\N{NO-BREAK SPACE}%"),
        ),
    ]
    title = _("How likely each amount of noise is")
    made = charts.chance_bars(title, chances, half, lambda number: words.integer(int(number)), said)
    return Chart(made.svg, title, "; ".join(said) + ".")
