"""How strata count by their populations in what several questions say at once, in sentences."""

from collections.abc import Callable, Iterator

from server.inputs import N_
from server.reports.population_weights import Weighed

Translate = Callable[..., str]

BY_POPULATION = N_(
    "Weighted by population: every stratum counts as much as its population, however many responded "
    "(post-stratification). Responses without stratum are not in it."
)
TAKEN_TOGETHER = N_("Taken together, as some of them alone have too few responses: %(strata)s.")
NOT_USED = N_(
    "No responses are used from: %(strata)s. Their population counts as that of the strata beside them."
)
WITHIN_STRATA = N_(
    "Intervals are by how responses vary inside each stratum; how large its population is counts as known."
)
NOT_WEIGHTED = N_("Not weighted: every response counts the same.")
QUOTE_WEIGHTED = N_(
    "To speak of the whole population, quote the result in which each group counts as much as its population; in this "
    "one, groups with more responses count more."
)
UNWEIGHTED = N_("Unweighted: every response counts the same")


def say_in_english(template: str, **values: object) -> str:
    """A template with its values, as commands and files for programs write it."""
    return template % values


def list_weighting(weighed: Weighed | None, translate: Translate) -> Iterator[str]:
    """Of strata that are weighted how, and which do not stand alone; of others that every response counts the same."""
    if weighed is None:
        yield translate(NOT_WEIGHTED)
        return
    yield translate(BY_POPULATION)
    for group in weighed.together:
        yield translate(TAKEN_TOGETHER, strata="; ".join(group))
    if weighed.unused:
        yield translate(NOT_USED, strata="; ".join(weighed.unused))
