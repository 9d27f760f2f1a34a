"""A published survey -> the study file of its exported responses."""

import json
from typing import Any

from sqlalchemy.orm import Session

from server.store.models import Survey
from server.study import strata, surveys


def write_study_file(session: Session, survey: Survey) -> str:
    """What the columns of `responses.csv`, as it comes with the microdata, hold: every version with its designs.

    Raises
    ------
    InputError
        If the survey was never published.
    """
    surveys.published_version(survey, None)
    versions = [
        {"number": version.number, "survey": json.loads(version.published)}
        for version in reversed(survey.versions)
    ]
    document: dict[str, Any] = {"format": 1, "versions": versions}
    nodes = list(strata.walk(strata.tree(session, survey)))
    if nodes:
        document["strata"] = [
            {"path": list(node.names), **_population(node.stratum.population)} for node in nodes
        ]
        if survey.populations_since is not None:
            document["populations_since"] = survey.populations_since.isoformat()
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _population(size: int | None) -> dict[str, int]:
    return {} if size is None else {"population": size}
