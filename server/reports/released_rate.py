"""The response rate as a public report may tell it: from a released number of responses, never from a stored one."""

from dataclasses import dataclass
from typing import Any

from server.releases import Released
from server.reports.admission import INVITATION
from server.reports.public_source import Published
from server.reports.response_rates import name_rate


@dataclass(frozen=True)
class ReleasedRate:
    """Responses to codes issued, as fractions, with the limits of the noise; `exact` where none was added.

    Complete responses to all codes (`InvitedCodes.rate`), at the `confidence` of the release. What noise leads beyond
    all or nobody is cut there.
    """

    issued: int
    value: float
    low: float
    high: float
    confidence: float
    exact: bool


def find_released_rate(published: Published) -> ReleasedRate | None:
    """By the newest release of how many answered, made when the survey was closed; None where none says it.

    Nor where somebody may have answered without a code, where it is not public how many codes were issued, where noise
    leaves no possible number, or where an exact number may leave small groups out.
    """
    invited = all(each.known and each.ways == (INVITATION,) for each in published.admissions)
    if not (published.issued and published.admissions and invited) or published.incomplete:
        return None
    for entry in reversed(published.ledger.released):
        figure = _find_total(published, entry)
        if figure is None:
            continue
        if figure.low > published.issued or figure.high < 0:
            return None
        low, value, high = (
            min(max(number, 0), published.issued) / published.issued
            for number in (figure.low, figure.value, figure.high)
        )
        return ReleasedRate(published.issued, value, low, high, entry.confidence, figure.exact)
    return None


def rate_json(published: Published) -> dict[str, Any] | None:
    """As in the public report's JSON."""
    rate = find_released_rate(published)
    if rate is None:
        return None
    return {
        "issued": rate.issued,
        "rate": rate.value,
        "interval": [rate.low, rate.high],
        "confidence": rate.confidence,
        "rate_name": name_rate(published.study),
    }


@dataclass(frozen=True)
class _Total:
    value: float
    low: float
    high: float
    exact: bool


def _find_total(published: Published, entry: Released) -> _Total | None:
    """The number of all responses to all versions, if a release of the closed survey says it.

    One that is public without noise is of what reports count, which leaves small groups out.
    """
    covers = entry.covers
    if covers.state != "closed" or set(covers.versions) != {version.number for version in published.versions}:
        return None
    if covers.respondents is not None:
        n = float(covers.respondents)
        return None if published.divided else _Total(n, n, n, True)
    figure = None if entry.item.stratum else entry.total
    if figure is None or figure.value is None or figure.low is None or figure.high is None:
        return None
    return _Total(figure.value, figure.low, figure.high, False)
