"""The response rate as a public report may tell it: from a released number of responses, never from a stored one."""

from dataclasses import dataclass
from typing import Any

from server.releases import Figure, Released
from server.reports.admission import INVITATION
from server.reports.public_source import Published
from server.reports.response_rates import name_rate


@dataclass(frozen=True)
class ReleasedRate:
    """Responses to codes issued, as fractions, with the limits of the noise; alike where no noise was added.

    Complete responses to all codes (`InvitedCodes.rate`), at the `confidence` of the release.
    """

    issued: int
    value: float
    low: float
    high: float
    confidence: float

    @property
    def exact(self) -> bool:
        """Whether the number of responses is public as it is."""
        return self.low == self.high


def find_released_rate(published: Published) -> ReleasedRate | None:
    """By the newest release of how many answered, made when the survey was closed; None where none says it.

    Nor where somebody may have answered without a code, or where it is not public how many codes were issued.
    """
    invited = all(each.known and each.ways == (INVITATION,) for each in published.admissions)
    if not (published.issued and published.admissions and invited) or published.incomplete:
        return None
    for entry in reversed(published.ledger.released):
        figure = _find_total(published, entry)
        if figure is not None:
            low, value, high = (
                min(max(number, 0), published.issued) / published.issued
                for number in (figure.low, figure.value, figure.high)
                if number is not None
            )
            return ReleasedRate(published.issued, value, low, high, entry.confidence)
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


def _find_total(published: Published, entry: Released) -> Figure | None:
    """The number of all responses to all versions, if a release of the closed survey says it."""
    covers = entry.covers
    if covers.state != "closed" or set(covers.versions) != {version.number for version in published.versions}:
        return None
    if covers.respondents is not None:
        return Figure("respondents", (), covers.respondents, 0.0, covers.respondents, covers.respondents)
    figure = None if entry.item.stratum else entry.total
    return None if figure is None or None in (figure.value, figure.low, figure.high) else figure
