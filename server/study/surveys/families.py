"""Surveys of one family, a survey and its duplicates, as a respondent's browser tells them apart."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from server.privacy.planning import count_spent
from server.store.models import Survey
from server.study.surveys.publication import definition_of


def family_of(survey: Survey, document: Mapping[str, Any]) -> str:
    """The random id that a survey shares with its duplicates; before there are any, one made of its own link."""
    return str(document.get("family") or _hash_survey("family", survey))


def note_of(survey: Survey) -> dict[str, object]:
    """What a browser notes once it has answered: the family, the survey in it, and what one respondent spends.

    Raises
    ------
    ValueError
        If the survey was never published.
    """
    if survey.current is None:
        raise ValueError("survey must be published")
    document = json.loads(survey.current.published)
    return {
        "family": family_of(survey, document),
        "round": _hash_survey("round", survey),
        "spends": count_spent(definition_of(survey.current).loss),
    }


def _hash_survey(kind: str, survey: Survey) -> str:
    # Of 57 random bits: nobody finds the survey's own link by it who has a stratum's.
    return hashlib.sha256(f"moneda {kind} {survey.slug}".encode()).hexdigest()[:32]
