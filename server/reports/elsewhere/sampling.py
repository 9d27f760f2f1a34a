"""How the rows of a table from elsewhere were drawn, as its study file states it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from server.inputs import N_, refuse, shorten_value
from server.privacy.estimators.replicate_weights import REPLICATE_KINDS
from server.reports.elsewhere.covariates import Covariate
from server.reports.elsewhere.sample_margins import PopulationMargin, read_margins
from server.reports.elsewhere.study_columns import check_unique
from server.study.strata import Node

USUAL_COUNT, USUAL_SEED = 500, 1
"""Of a bootstrap."""
_MEMBERS = ("weights", "margins", "clusters", "strata", "population", "replicates", "tables", "together")


@dataclass(frozen=True)
class StatedReplicates:
    """Replicate weights: of `kind` in `columns`, or of a maker, which makes `count` of them from `seed`."""

    kind: str
    columns: tuple[str, ...] = ()
    scale: float | None = None
    rscales: tuple[float, ...] | None = None
    rho: float | None = None
    centred: bool = True
    count: int = 0
    seed: int = 0


@dataclass(frozen=True)
class StatedTable:
    """A question, and what its answers are compared by: a covariate, the strata, or another question."""

    question: str
    by: str


@dataclass(frozen=True)
class Sampling:
    """Names of columns, None for what is not stated; the margins that weights are raked to.

    `population` is how many clusters, or people where there are none, rows were drawn from: of all, or by stratum.
    `together` names questions as `--together` of a report does.
    """

    weights: str | None
    margins: tuple[PopulationMargin, ...]
    clusters: str | None
    strata: str | None
    population: int | Mapping[str, int] | None
    replicates: StatedReplicates | None
    tables: tuple[StatedTable, ...]
    together: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column that is named, beside those of margins and tables."""
        own = self.replicates.columns if self.replicates is not None else ()
        return (*(name for name in (self.weights, self.clusters, self.strata) if name is not None), *own)


def read_sampling(
    document: Mapping[str, Any] | None, covariates: Sequence[Covariate], nodes: Sequence[Node]
) -> Sampling | None:
    """Check what the schema cannot.

    Raises
    ------
    InputError
        Naming the field.
    """
    if document is None:
        return None
    if not document:
        template = N_("must have at least one of %(limit)s")
        raise refuse(422, "sampling", template, limit=", ".join(_MEMBERS))
    margins = read_margins(document.get("margins", ()), covariates, nodes)
    check_unique([margin.name for margin in margins], "sampling.margins")
    strata, clusters = _read_name(document, "strata"), _read_name(document, "clusters")
    replicates = _read_replicates(document.get("replicates"))
    if replicates is not None and replicates.columns:
        for other in ("margins", "clusters", "strata", "population"):
            if other in document:
                template = N_("must not be given together with %(limit)s")
                raise refuse(422, f"sampling.{other}", template, limit="sampling.replicates.columns")
    tables = tuple(
        StatedTable(each["question"].strip(), each["by"].strip()) for each in document.get("tables", ())
    )
    check_unique([f"{each.question} / {each.by}" for each in tables], "sampling.tables")
    return Sampling(
        _read_name(document, "weights"),
        margins,
        clusters,
        strata,
        _read_population(document),
        replicates,
        tables,
        tuple(document.get("together", ())),
    )


def _read_name(document: Mapping[str, Any], member: str) -> str | None:
    if member not in document:
        return None
    name: str = document[member].strip()
    if not name:
        raise refuse(422, f"sampling.{member}", N_("must name a column; it is empty"))
    return name


def _read_population(document: Mapping[str, Any]) -> int | Mapping[str, int] | None:
    given = document.get("population")
    if not isinstance(given, Mapping):
        if given is not None and "strata" in document:
            template = N_("must say a number for each stratum, as an object; it is %(value)s")
            raise refuse(422, "sampling.population", template, value=shorten_value(given))
        return None if given is None else int(given)
    if "strata" not in document:
        raise refuse(422, "sampling.strata", N_("is required"))
    check_unique(map(str.strip, given), "sampling.population")
    return {name.strip(): int(size) for name, size in given.items()}


def _read_replicates(document: Mapping[str, Any] | None) -> StatedReplicates | None:
    if document is None:
        return None
    field = "sampling.replicates"
    given = [name for name in ("columns", "make") if name in document]
    if len(given) != 1:
        template = N_("must have exactly one of %(limit)s; it has %(value)s")
        raise refuse(422, field, template, limit="columns, make", value=", ".join(given) or "-")
    fitting: tuple[str, ...] = ("columns", "kind", "scale", "rscales", "rho", "centred")
    if given == ["make"]:
        fitting = ("make", "count", "seed") if document["make"] == "bootstrap" else ("make",)
    for member in document:
        if member not in fitting:
            template = N_("must not be given together with %(limit)s")
            raise refuse(422, f"{field}.{member}", template, limit=f"{field}.{given[0]}")
    if given == ["make"]:
        made = document["make"]
        count, seed = int(document.get("count", USUAL_COUNT)), int(document.get("seed", USUAL_SEED))
        return (
            StatedReplicates(made, count=count, seed=seed) if made == "bootstrap" else StatedReplicates(made)
        )
    columns = tuple(text.strip() for text in document["columns"])
    check_unique(columns, f"{field}.columns")
    kind = document.get("kind")
    if kind is None:
        template = N_("must be one of %(limit)s; it is %(value)s")
        raise refuse(422, f"{field}.kind", template, limit=", ".join(REPLICATE_KINDS), value="-")
    for member, of in (("rscales", "jkn"), ("rho", "fay"), ("scale", "other")):
        if kind == of and member not in document:
            raise refuse(422, f"{field}.{member}", N_("is required"))
    if "rho" in document and kind != "fay":
        template = N_("must not be given together with %(limit)s")
        raise refuse(422, f"{field}.rho", template, limit=f"{field}.kind {kind}")
    rscales = document.get("rscales")
    if rscales is not None and len(rscales) != len(columns):
        template = N_("must have as many numbers as there are columns, %(limit)d; it has %(length)d")
        raise refuse(422, f"{field}.rscales", template, limit=len(columns), length=len(rscales))
    return StatedReplicates(
        kind,
        columns,
        document.get("scale"),
        None if rscales is None else tuple(map(float, rscales)),
        document.get("rho"),
        document.get("centred", True),
    )
