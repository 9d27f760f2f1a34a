"""Weighted shares and means from noisy cells that were paid for stratum by stratum: nothing else decides."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from server.privacy.estimators.limits import added_limits
from server.releases.kinds.base import SEPARATOR
from server.releases.noisy_cells import Counts, Noise
from server.releases.ratio_estimates import Place, Row, estimate
from server.releases.survey_shapes import Leaf
from server.releases.values import Figure
from server.study.strata import Collapsed, collapse

FEWEST = 10
"""Respondents, by their noisy number, with which a stratum stands alone."""
ERRORS = 5
"""And so many standard errors of that number's noise."""


@dataclass(frozen=True, eq=False)
class StrataWeights:
    """How the strata of a table count by their populations; `places` are where they stand in it.

    `since` is when a population last changed, where that is known.
    """

    collapsed: Collapsed
    places: tuple[int, ...]
    leaves: tuple[Leaf, ...]
    since: date | None

    def figure(
        self,
        statistic: str,
        place: Place,
        tables: Sequence[Counts],
        rows: Sequence[Row],
        people: Sequence[Row],
        noise: Noise,
        confidence: float,
        *,
        sampled: bool,
        reach: tuple[float, float] = (0.0, 1.0),
    ) -> Figure | None:
        """The weighted sum of the shares, or means, of the strata; None where one of them has none.

        `tables` are those of each part, strata first; `rows` and `people` what each report adds to the
        share and to the people. The strata are independent: their errors add up, squared.
        """
        found = []
        for cell in self.collapsed.cells:
            at = [self.places[each] for each in cell.places]
            own = [table[at] for table in tables]
            figure = estimate(
                statistic,
                place,
                np.concatenate([table.ravel() for table in own]),
                np.concatenate([np.tile(row, len(at)) for row in rows]),
                np.concatenate([np.tile(row, len(at)) for row in people]),
                noise,
                confidence,
                total=None,
                sampled=sampled,
                reach=reach,
            )
            found.append((cell.weight, figure))
        weights = [weight for weight, _ in found]
        values = [figure.value for _, figure in found if figure.value is not None]
        limits = [
            (figure.low, figure.high)
            for _, figure in found
            if figure.low is not None and figure.high is not None
        ]
        errors = [figure.standard_error for _, figure in found if figure.standard_error is not None]
        if min(len(values), len(limits), len(errors)) < len(found):
            return None
        low, high = added_limits(np.array(weights), np.array(values), np.array(limits))
        return Figure(
            statistic,
            place,
            float(np.dot(weights, values)),
            float(np.linalg.norm(np.multiply(weights, errors))),
            low,
            high,
        )

    @property
    def notes(self) -> dict[str, float | int | str]:
        """Which strata do not stand alone, how many people all of them are, and since when that was so."""
        paths = [SEPARATOR.join(leaf.path) for leaf in self.leaves]
        together = "; ".join(" + ".join(paths[each] for each in group) for group in self.collapsed.together)
        unused = "; ".join(paths[each] for each in self.collapsed.unused)
        found: dict[str, float | int | str] = {
            "weighted_population": sum(leaf.population or 0 for leaf in self.leaves)
        }
        found |= {"populations_since": self.since.isoformat()} if self.since else {}
        found |= {"strata_together": together} if together else {}
        return found | ({"strata_not_used": unused} if unused else {})


def strata_weights(
    leaves: Sequence[Leaf],
    tables: Sequence[Counts],
    people: Sequence[Row],
    noise: Noise,
    top: tuple[str, ...],
    since: date | None = None,
) -> StrataWeights | None:
    """How strata inside `top` are weighted, by public populations and noisy cells alone; None where they cannot be.

    Responses without stratum are not in it. A stratum whose noisy number of respondents is small is taken
    together with others that are, by the rule of `server.study.strata.collapsing`.
    """
    places = [place for place, leaf in enumerate(leaves) if leaf.path]
    populations = [leaves[place].population for place in places]
    known = [size for size in populations if size is not None]
    if not places or len(known) < len(places):
        return None
    numbers, variances = np.zeros(len(places)), 0.0
    for table, row in zip(tables, people, strict=True):
        numbers += table[places].reshape(len(places), -1) @ row
        variances += noise.variance * float(row @ row)

    def enough(sizes: Sequence[int]) -> bool:
        error = float(np.sqrt(variances * len(sizes)))
        return bool(numbers[list(sizes)].sum() >= max(FEWEST, ERRORS * error))

    collapsed = collapse(
        [leaves[place].path for place in places],
        known,
        [each for each in range(len(places)) if enough([each])],
        lambda _path, own: own if enough(own) else [],
        top,
    )
    if collapsed is None:
        return None
    return StrataWeights(collapsed, tuple(places), tuple(leaves[place] for place in places), since)
