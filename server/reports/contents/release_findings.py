"""The findings of a public report, from releases alone."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from server.releases import Figure
from server.releases.plans.items import ItemKind
from server.reports.contents.figures import QuestionsByVersion
from server.reports.contents.finding_reader import read_entry
from server.reports.contents.finding_values import ReleaseFinding
from server.reports.public_source import Published
from server.reports.report_words import ReportWords
from server.reports.weighting_notes import NOT_WEIGHTED, QUOTE_WEIGHTED

_BY_THEMSELVES = (ItemKind.SHARE, ItemKind.HISTOGRAM, ItemKind.MEAN)


@dataclass(frozen=True)
class AnsweredCount:
    """How many answered until a day, as it was released: `figure` has limits where noise was added."""

    figure: Figure
    until: date


def list_findings(words: ReportWords, published: Published) -> tuple[ReleaseFinding, ...]:
    """What is read first: of each thing that was released the last, in the order of the questions."""
    return tuple(finding for finding in list_all_findings(words, published) if not finding.replaced)


def counts_each_alike(finding: ReleaseFinding, others: Iterable[ReleaseFinding]) -> bool:
    """Whether each response counts the same in it, and groups by their populations in another one of the same thing.

    What it says of the groups themselves is another thing.
    """

    def same(other: ReleaseFinding) -> bool:
        found, its = ({each.label.text for each in one.ranges} for one in (other, finding))
        alike = other.questions, other.among, other.ends is None
        return bool(found & its) and alike == (finding.questions, finding.among, finding.ends is None)

    return not finding.weighted and any(other.weighted and same(other) for other in others)


def tell_counting(
    words: ReportWords, finding: ReleaseFinding, others: Sequence[ReleaseFinding]
) -> Iterator[str]:
    """What tells two numbers of one thing apart, and which to quote: else one would seem to gainsay the other."""
    if counts_each_alike(finding, others):
        yield words.gettext(NOT_WEIGHTED)
        yield words.gettext(QUOTE_WEIGHTED)
    elif finding.weighted and any(counts_each_alike(other, (finding,)) for other in others):
        yield words.gettext("Each group counts as much as its population.")


def explain_finding(words: ReportWords, finding: ReleaseFinding, others: Sequence[ReleaseFinding]) -> str:
    """What a finding means, beside others; where groups count by their populations, its meaning says so by itself."""
    counting = () if finding.weighted else tell_counting(words, finding, others)
    return " ".join([finding.meaning, *counting])


def list_all_findings(words: ReportWords, published: Published) -> tuple[ReleaseFinding, ...]:
    """The same, and what a later entry has replaced."""
    by_version = QuestionsByVersion({version.number: version.definition for version in published.versions})
    names = [question.name for question in published.newest.definition.questions]
    found = [
        finding for entry in published.ledger.released for finding in read_entry(words, entry, by_version)
    ]

    def order(finding: ReleaseFinding) -> tuple[bool, int, bool, int, int]:
        last = max((names.index(name) for name in finding.questions if name in names), default=len(names))
        inside = finding.among is not None
        return not finding.questions, last, inside, len(finding.questions), finding.entry.entry

    return tuple(
        sorted((replace(finding, replaced=_is_replaced(finding, found)) for finding in found), key=order)
    )


def find_answered(published: Published) -> AnsweredCount | None:
    """How many answered; None where no release says it."""
    for entry in reversed(published.ledger.released):
        covers = entry.covers
        if covers.respondents is not None:
            return AnsweredCount(Figure("respondents", (), covers.respondents), covers.until)
        top = None if entry.item.stratum else entry.total
        if top is not None:
            return AnsweredCount(top, covers.until)
    return None


def _is_replaced(finding: ReleaseFinding, others: Sequence[ReleaseFinding]) -> bool:
    """Whether a later release says the same of these responses, and perhaps of more.

    Of one release, what was asked for itself comes before what a table says beside other things, whose noise is more.
    """

    def rank(finding: ReleaseFinding) -> tuple[int, bool, int]:
        return finding.entry.release, finding.entry.item.kind in _BY_THEMSELVES, finding.entry.entry

    return any(
        rank(other) > rank(finding)
        and other.subject == finding.subject
        and other.versions >= finding.versions
        for other in others
    )
