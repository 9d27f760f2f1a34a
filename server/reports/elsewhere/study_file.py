"""A study file: what the columns of a table from elsewhere hold. Untrusted bytes -> a `StudyFile`."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from server.inputs import N_, InputError, parse_json, refuse, shorten_value
from server.inputs.schema import violations
from server.reports.elsewhere.covariates import Covariate, read_covariate
from server.reports.elsewhere.foreign_designs import read_survey, read_title
from server.reports.elsewhere.models import read_models
from server.reports.elsewhere.models.model_parts import ModelSpecification
from server.reports.elsewhere.sampling import Sampling, read_sampling
from server.reports.elsewhere.study_columns import ReportCells, check_unique, name_cells
from server.study.definitions import Definition
from server.study.strata import Node
from server.study.strata.stated_tree import build_tree

STUDY_LIMIT = 8 << 20
"""Largest study file, in bytes."""
WHOLE = "study"
"""What refusals call all of it."""


@dataclass(frozen=True, eq=False)
class StudyFile:
    """What the columns hold. `definitions` are those of the versions by number, the newest first.

    One without questions has `models` alone. A row with one of the texts `missing` is left out.
    """

    sha256: str
    definitions: Mapping[int, Definition]
    cells: Mapping[str, ReportCells]
    nodes: tuple[Node, ...]
    populations_since: date | None
    covariates: tuple[Covariate, ...]
    weights: str | None
    sampling: Sampling | None
    models: tuple[ModelSpecification, ...]
    missing: tuple[str, ...]

    @property
    def definition(self) -> Definition:
        """What the newest version asks."""
        return next(iter(self.definitions.values()))

    @property
    def headers(self) -> tuple[str, ...]:
        """Every name that the first row of the table must have."""
        names = [cells.header for cells in self.cells.values()]
        names += ["version"] * (len(self.definitions) > 1) + ["stratum"] * bool(self.nodes)
        names += [covariate.name for covariate in self.covariates]
        names += [self.weights] if self.weights is not None else []
        if self.sampling is not None:
            names += [self.sampling.weights] if self.sampling.weights is not None else []
            names += self.sampling.replicates.columns if self.sampling.replicates is not None else ()
            # Rows that were drawn together, or from one group, may share what is read of them anyway, as a stratum.
            for column in (self.sampling.clusters, self.sampling.strata):
                names += [column] if column is not None and column not in names else []
        # A model may read what a question reads, too, or another model.
        for stated in self.models:
            names += [own.header for own in stated.model.columns.values() if own.header not in names]
        return tuple(names)


def parse_study(body: bytes) -> StudyFile:
    """Check a study file.

    Raises
    ------
    InputError
        Naming the field, what it may say, and what it says.
    """
    document = parse_json(body, STUDY_LIMIT, WHOLE)
    problems = violations(document, "elsewhere")
    if problems:
        raise InputError(
            422, [replace(each, field=WHOLE) if each.field == "definition" else each for each in problems]
        )
    definitions = _read_definitions(document)
    covariates = tuple(
        read_covariate(stated, f"covariates[{place}]")
        for place, stated in enumerate(document.get("covariates", ()))
    )
    nodes = _read_strata(document.get("strata", ()))
    weights = document.get("weights")
    ways = {
        "strata.population": any(node.population is not None for node in nodes),
        "weights": weights is not None,
        "sampling": "sampling" in document,
    }
    given = [name for name, stated in ways.items() if stated]
    if len(given) > 1:
        raise refuse(422, given[1], N_("must not be given together with %(limit)s"), limit=given[0])
    study = StudyFile(
        sha256=hashlib.sha256(body).hexdigest(),
        definitions=definitions,
        cells=name_cells(definitions, document.get("columns", ())),
        nodes=nodes,
        populations_since=_read_day(document.get("populations_since")),
        covariates=covariates,
        weights=weights,
        sampling=read_sampling(document.get("sampling"), covariates, nodes),
        models=read_models(document.get("models", ())),
        missing=tuple(text.strip() for text in document.get("missing", ())),
    )
    check_unique(study.headers, "columns")
    return study


def _read_definitions(document: Mapping[str, Any]) -> dict[int, Definition]:
    given = [name for name in ("survey", "versions") if name in document]
    if (
        "models" in document
        and "versions" not in document
        and not document.get("survey", {}).get("questions")
    ):
        return {1: read_title(document.get("survey", {}), "survey")}
    if len(given) != 1:
        template = N_("must have exactly one of %(limit)s; it has %(value)s")
        raise refuse(422, "study", template, limit="survey, versions", value=", ".join(given) or "-")
    if "survey" in document:
        return {1: read_survey(document["survey"], "survey")}
    found: dict[int, Definition] = {}
    for place, stated in enumerate(document["versions"]):
        number = int(stated["number"])
        if number in found:
            template = N_("must be unique; %(value)s stands twice")
            raise refuse(422, f"versions[{place}].number", template, value=number)
        found[number] = read_survey(stated["survey"], f"versions[{place}].survey")
    return found


def _read_strata(documents: Sequence[Mapping[str, Any]]) -> tuple[Node, ...]:
    try:
        return build_tree([(tuple(one["path"]), one.get("population")) for one in documents])
    except ValueError as error:
        template = N_("must be strata in the order of their tree: %(value)s")
        raise refuse(422, "strata", template, value=str(error)) from None


def _read_day(text: str | None) -> date | None:
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        template = N_("must be a day like %(limit)s; it is %(value)s")
        raise refuse(
            422, "populations_since", template, limit="2026-05-01", value=shorten_value(text)
        ) from None
