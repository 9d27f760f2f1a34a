"""What is known of each person in a table from elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from server.inputs import N_, refuse
from server.reports.elsewhere.study_columns import check_unique


@dataclass(frozen=True)
class Covariate:
    """A column of what is known of each person: texts, the first of which others are compared with, or a number.

    With `dates` it holds days: a number that grows by one each day or week, or texts, one for each week that there is.
    """

    name: str
    categories: tuple[str, ...] = ()
    low: float = 0.0
    high: float = 0.0
    dates: Literal["", "by_day", "by_week", "weeks"] = ""


def read_covariate(document: Mapping[str, Any], field: str) -> Covariate:
    """Check what the schema cannot.

    Raises
    ------
    InputError
        Naming the field.
    """
    name = document["name"].strip()
    ways = [way for way in ("categories", "dates") if way in document]
    for other in (*ways[1:], *(("low", "high") if ways else ())):
        if other in document:
            template = N_("must not be given together with %(limit)s")
            raise refuse(422, f"{field}.{other}", template, limit=ways[0])
    if "dates" in document:
        return Covariate(name, dates=document["dates"])
    if "categories" in document:
        texts = tuple(text.strip() for text in document["categories"])
        check_unique(texts, f"{field}.categories")
        return Covariate(name, texts)
    for needed in ("low", "high"):
        if needed not in document:
            raise refuse(422, f"{field}.{needed}", N_("is required"))
    low, high = float(document["low"]), float(document["high"])
    if not low < high:
        template = N_("must be more than %(limit)s; it is %(value)s")
        raise refuse(422, f"{field}.high", template, limit=document["low"], value=document["high"])
    return Covariate(name, (), low, high)
