"""How many codes of a link were used, once the survey is closed: only what reports tell of its responses anyway."""

from collections import Counter

from sqlalchemy.orm import Session

from server.collect import response_codes
from server.reports.report import Report
from server.reports.report_reader import read
from server.store.models import State, Survey
from server.study.strata import list_leaves


def used_codes(session: Session, survey: Survey) -> dict[int | None, int]:
    """Of each link (a stratum's id; None for the survey's own) exactly how many of its codes were used.

    Only links of a closed survey whose responses are shown. Those with a code are then all of them, which tells no
    more than their number; or, where some came without one before or after and no response is left out of the
    report, they and the others are none or as many as a group that is shown.
    """
    if survey.state != State.CLOSED:
        return {}
    report = read(session, survey)
    if report.withheld:
        return {}
    whole = not (report.left_out or report.without_left_out)
    used = Counter[int | None]()
    for batch, number in response_codes.count_used_codes(session, survey):
        used[batch.stratum_id] += number
    return {
        link: used[link]
        for link, n in _shown(report).items()
        if link in used
        and (
            n == used[link]
            or (whole and all(not group or group >= survey.minimum for group in (used[link], n - used[link])))
        )
    }


def _shown(report: Report) -> dict[int | None, int]:
    """The responses of each link that reports show by itself."""
    own = {node.stratum.id for node in list_leaves(report.nodes)}
    sizes = Counter[int | None]()
    for wave in report.waves:
        sizes.update(dict(zip(wave.strata, wave.sizes.tolist(), strict=True)))
    return {link: n for link, n in sizes.items() if (link is None or link in own) and report.shows(link)}
