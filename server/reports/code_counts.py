"""How many codes of a link were used, once the survey is closed: only what reports tell of its responses anyway."""

from collections import Counter

from sqlalchemy.orm import Session

from server.collect import invitation_batches
from server.reports.admission import INVITATION, LINK
from server.reports.report import Report
from server.reports.response_rates import InvitedCodes
from server.store.models import State, Survey
from server.study.strata import list_leaves


def used_codes(session: Session, survey: Survey, report: Report) -> dict[int | None, int]:
    """Of each link (a stratum's id; None for the survey's own) exactly how many of its codes were used.

    `report` is that of all versions. Only links of a closed survey whose responses are shown. Those with a code are
    then all of them, which tells no more than their number; or, where some came without one before or after and no
    response is left out of the report, they and the others are none or as many as a group that is shown, also
    among the versions to which some may have come with a code and some without.
    """
    if survey.state != State.CLOSED or report.withheld or not report.pooled:
        return {}
    whole = not (report.left_out or report.without_left_out)
    used = Counter[int | None]()
    for batch, number in invitation_batches.count_used_codes(session, survey):
        used[batch.stratum_id] += number
    found = {}
    for link, sizes in _count_shown(report).items():
        if link not in used:
            continue
        n, coded = sum(sizes.values()), used[link]
        groups = (coded, n - coded, *_count_undecided(report, link, sizes, coded))
        if n == coded or (whole and all(not group or group >= survey.minimum for group in groups)):
            found[link] = coded
    return found


def count_invited(session: Session, survey: Survey, report: Report) -> InvitedCodes | None:
    """The codes of all links together, for that report; None where none was issued, or it is of one version alone.

    How many were used is told by the same rule as for one link (`used_codes`), and by less: only where they are as
    many as the responses, of which none is left out.
    """
    counted = invitation_batches.count_used_codes(session, survey) if report.pooled else []
    if not counted:
        return None
    closed = survey.state == State.CLOSED
    whole = closed and not (
        report.withheld or report.left_out or report.without_left_out or report.incomplete
    )
    used = sum(number for _batch, number in counted)
    return InvitedCodes(
        issued=sum(batch.size for batch, _number in counted),
        withdrawn=sum(batch.size for batch, _number in counted if batch.withdrawn_on is not None),
        used=used if whole and used == report.n else None,
        closed=closed,
    )


def _count_shown(report: Report) -> dict[int | None, Counter[int]]:
    """The responses of each link that reports show by itself, by version."""
    own = {node.stratum.id for node in list_leaves(report.nodes)}
    found: dict[int | None, Counter[int]] = {}
    for wave in report.waves:
        for link, n in zip(wave.strata, wave.sizes.tolist(), strict=True):
            if (link is None or link in own) and report.shows(link):
                found.setdefault(link, Counter())[wave.number] += n
    return found


def _count_undecided(report: Report, link: int | None, sizes: Counter[int], used: int) -> tuple[int, int]:
    """With and without a code, of the responses to versions of which it is not known that all had one, or none."""
    paths = {node.stratum.id: node.path for node in list_leaves(report.nodes)}
    path = "" if link is None else paths[link]
    ways = {
        each.version: each.ways
        for each in report.admissions
        if each.known and (each.strata is None or path in each.strata)
    }
    all_coded = sum(n for version, n in sizes.items() if ways.get(version) == (INVITATION,))
    none_coded = sum(n for version, n in sizes.items() if ways.get(version) == (LINK,))
    undecided = used - all_coded, sizes.total() - none_coded - used
    # Where the log does not fit what was counted, nothing follows from it.
    return undecided if min(undecided) >= 0 else (0, 0)
