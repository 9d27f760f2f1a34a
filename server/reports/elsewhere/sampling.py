"""How the rows of a table from elsewhere were drawn, as its study file states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from server.inputs import N_, refuse, shorten_value
from server.reports.elsewhere.covariates import Covariate
from server.reports.elsewhere.study_columns import check_unique


@dataclass(frozen=True)
class StatedMargin:
    """A covariate whose shares in the population are known, by groups of its categories.

    `group_of` has the group of each category, `shares` what the groups are in proportion to.
    """

    covariate: str
    groups: tuple[tuple[str, ...], ...]
    group_of: tuple[int, ...]
    shares: tuple[float, ...]


@dataclass(frozen=True)
class Sampling:
    """Names of columns, None for what is not stated; the margins that weights are raked to."""

    weights: str | None
    margins: tuple[StatedMargin, ...]
    clusters: str | None
    population: int | None


def read_sampling(stated: Mapping[str, Any] | None, covariates: Sequence[Covariate]) -> Sampling | None:
    """Check what the schema cannot.

    Raises
    ------
    InputError
        Naming the field.
    """
    if stated is None:
        return None
    if not stated:
        template = N_("must have at least one of %(limit)s")
        raise refuse(422, "sampling", template, limit=", ".join(each.name for each in fields(Sampling)))
    for other in ("weights", "margins", "clusters") if "population" in stated else ():
        if other in stated:
            template = N_("must not be given together with %(limit)s")
            raise refuse(422, "sampling.population", template, limit=f"sampling.{other}")
    margins = tuple(
        _read_margin(margin, covariates, f"sampling.margins[{place}]")
        for place, margin in enumerate(stated.get("margins", ()))
    )
    check_unique([margin.covariate for margin in margins], "sampling.margins")
    population = None if "population" not in stated else int(stated["population"])
    return Sampling(_read_name(stated, "weights"), margins, _read_name(stated, "clusters"), population)


def _read_name(stated: Mapping[str, Any], member: str) -> str | None:
    if member not in stated:
        return None
    name: str = stated[member].strip()
    if not name:
        raise refuse(422, f"sampling.{member}", N_("must name a column; it is empty"))
    return name


def _read_margin(stated: Mapping[str, Any], covariates: Sequence[Covariate], field: str) -> StatedMargin:
    known = {each.name: each for each in covariates if each.categories}
    name = stated["covariate"].strip()
    if name not in known:
        template = N_("must be a covariate of categories, one of %(limit)s; it is %(value)s")
        raise refuse(
            422, f"{field}.covariate", template, limit=", ".join(known) or "-", value=shorten_value(name)
        )
    categories = known[name].categories
    groups = tuple(tuple(text.strip() for text in group["of"]) for group in stated["groups"])
    placed: dict[str, int] = {}
    for place, group in enumerate(groups):
        for text in group:
            if text not in categories:
                template = N_("must be one of %(limit)s; it is %(value)s")
                raise refuse(
                    422,
                    f"{field}.groups[{place}].of",
                    template,
                    limit=shorten_value(", ".join(categories)),
                    value=shorten_value(text),
                )
            if text in placed:
                template = N_("must be unique; %(value)s stands twice")
                raise refuse(422, f"{field}.groups[{place}].of", template, value=shorten_value(text))
            placed[text] = place
    left = [text for text in categories if text not in placed]
    if left:
        template = N_("must hold every category; %(value)s is in none")
        raise refuse(422, f"{field}.groups", template, value=shorten_value(left[0]))
    shares = tuple(float(group["share"]) for group in stated["groups"])
    return StatedMargin(name, groups, tuple(placed[text] for text in categories), shares)
