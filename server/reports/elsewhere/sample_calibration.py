"""(how rows were drawn, a table from elsewhere) -> the design of the sample, with calibrated weights and replicates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from server.inputs import N_, refuse, shorten_value
from server.privacy.consistency.raking import rake_weights
from server.privacy.estimators.replicate_weights import (
    MOST_UNITS,
    make_bootstrap,
    make_jackknife,
    use_replicates,
)
from server.privacy.estimators.sample_designs import Replicates, SampleDesign
from server.reports.elsewhere.foreign_table import ForeignTable
from server.reports.elsewhere.sample_margins import STRATUM, FittedMargin, fit_margin
from server.reports.elsewhere.sampling import Sampling, StatedReplicates

Floats = NDArray[np.float64]
_OUT_OF_REACH = N_(
    "must be within reach of the rows: no weights were found by which all groups have their shares"
)


@dataclass(frozen=True, eq=False)
class DrawnSample:
    """The design of a sample; its margins as they were fitted, in so many rounds."""

    design: SampleDesign
    margins: tuple[FittedMargin, ...]
    rounds: int


def calibrate_sample(sampling: Sampling, table: ForeignTable) -> DrawnSample:
    """Rake weights to margins, and make replicates, each raked again.

    Raises
    ------
    InputError
        Naming the field, if no weights have the margins, or the sample cannot have been drawn so.
    """
    given = np.ones(table.rows) if table.sampling_weights is None else table.sampling_weights
    margins = _fit_margins(sampling, table)
    try:
        raked = rake_weights(given, [(margin.groups, margin.shares) for margin in margins])
    except ValueError:  # numbers and groups were checked when they were read
        raise refuse(422, "sampling.margins", _OUT_OF_REACH) from None
    _check_clusters(table)
    if sampling.replicates is not None and sampling.replicates.columns:
        _check_columns(sampling.replicates.columns, table.replicate_weights, given)
    design = SampleDesign(
        raked.weights,
        [margin.groups for margin in margins],
        table.clusters,
        table.drawn_from,
        _find_populations(sampling, table),
    )
    if sampling.replicates is not None:
        made = _make_replicates(sampling.replicates, replace(design, weights=given), table, margins)
        design = replace(design, replicates=made)
    return DrawnSample(design, margins, raked.rounds)


def _check_clusters(table: ForeignTable) -> None:
    if table.clusters is None:
        return
    units = SampleDesign(np.ones(table.rows), (), table.clusters, table.drawn_from).units
    if units.sizes.sum() < 2:
        template = N_("must name a column of at least %(limit)d clusters; it has %(value)d")
        raise refuse(422, "sampling.clusters", template, limit=2, value=1)


def _check_columns(columns: Sequence[str], replicates: Sequence[Floats], weights: Floats) -> None:
    """Refuse what are no weights: factors to multiply them by make a standard error of something else."""
    field = "sampling.replicates.columns"
    for column, own in zip(columns, replicates, strict=True):
        if not own.any():
            template = N_("must have a number above 0 in some row; %(value)s has none")
            raise refuse(422, field, template, value=shorten_value(column))
    total, theirs = float(weights.sum()), float(np.sum(replicates, axis=1).mean())
    if not total / 2 <= theirs <= total * 2:
        template = N_(
            "must hold whole weights, which add up to about as much as those of the rows, %(limit)s; they add up to "
            "%(value)s. Factors have to be multiplied by the weights first, and the weights to be named"
        )
        raise refuse(422, field, template, limit=f"{total:.6g}", value=f"{theirs:.6g}")


def _fit_margins(sampling: Sampling, table: ForeignTable) -> tuple[FittedMargin, ...]:
    fitted = []
    for place, margin in enumerate(sampling.margins):
        codes = [
            table.covariates[name].astype(np.int64) if name in table.covariates else table.place - 1
            for name in margin.covariates
        ]
        field = f"sampling.margins[{place}]"
        if any((own < 0).any() for own in codes):
            raise refuse(422, field, N_("must be known of every row; some have no %(value)s"), value=STRATUM)
        fitted.append(fit_margin(margin, codes, field))
    return tuple(fitted)


def _find_populations(sampling: Sampling, table: ForeignTable) -> Floats | None:
    """Of each stratum of the sample, how many units it was drawn from."""
    stated, field = sampling.population, "sampling.population"
    if stated is None:
        return None
    units = SampleDesign(np.ones(table.rows), (), table.clusters, table.drawn_from).units
    if isinstance(stated, Mapping):
        for name in table.names_drawn_from:
            if name not in stated:
                raise refuse(422, f"{field}.{shorten_value(name)}", N_("is required"))
        for name in stated:
            if name not in table.names_drawn_from:
                template = N_("must be a stratum of the table; none of its rows is of it")
                raise refuse(422, f"{field}.{shorten_value(name)}", template)
        sizes = {f"{field}.{shorten_value(name)}": stated[name] for name in table.names_drawn_from}
    else:
        sizes = {field: stated}
    for (named, size), drawn in zip(sizes.items(), units.sizes.tolist(), strict=True):
        if size < drawn:
            template = (
                N_("must be at least %(limit)d, the rows of the table; it is %(value)d")
                if table.clusters is None
                else N_("must be at least %(limit)d, the clusters of the table; it is %(value)d")
            )
            raise refuse(422, named, template, limit=drawn, value=size)
    return np.array(list(sizes.values()), np.float64)


def _make_replicates(
    replicates: StatedReplicates, sample: SampleDesign, table: ForeignTable, margins: Sequence[FittedMargin]
) -> Replicates:
    if replicates.columns:
        return use_replicates(
            table.replicate_weights,
            replicates.kind,
            replicates.scale,
            replicates.rscales,
            replicates.rho,
            centred=replicates.centred,
        )
    sizes = sample.units.sizes
    if (sizes < 2).any():
        template = N_("must hold %(limit)d clusters or rows of each stratum; of some there is one alone")
        raise refuse(422, "sampling.replicates", template, limit=2)
    if replicates.kind == "jackknife" and sizes.sum() > MOST_UNITS:
        template = N_(
            "must be a bootstrap where there are more than %(limit)d clusters or rows; there are %(value)d"
        )
        raise refuse(422, "sampling.replicates.make", template, limit=MOST_UNITS, value=int(sizes.sum()))

    def calibrate(weights: Floats) -> Floats:
        if not margins:
            return weights
        kept = weights > 0
        raked = np.zeros(len(weights))
        try:
            raked[kept] = rake_weights(
                weights[kept], [(margin.groups[kept], margin.shares) for margin in margins]
            ).weights
        except ValueError:  # a group has no row any more, or margins contradict each other without some
            template = N_(
                "must leave rows of every group of every margin; without some clusters or rows one is out of reach"
            )
            raise refuse(422, "sampling.replicates", template) from None
        return raked

    if replicates.kind == "jackknife":
        return make_jackknife(sample, calibrate)
    return make_bootstrap(sample, replicates.count, replicates.seed, calibrate)
