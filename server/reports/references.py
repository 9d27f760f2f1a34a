"""Which works the methods of a report come from: of its designs, estimates, intervals and releases, and no other."""

from collections.abc import Iterable, Iterator, Mapping

from server.releases.values import Ledger
from server.reports.achieved_precision import list_precision
from server.reports.codebook import mechanism_of
from server.reports.crossing import Crossed
from server.reports.public_source import Published
from server.reports.reference_table import REFERENCES, Reference
from server.reports.report import Report
from server.reports.three_together import ThreeTogether
from server.reports.version_designs import VersionDesigns

OF_DESIGNS: Mapping[str, tuple[str, ...]] = {
    "coin_flip": ("warner", "dwork_roth"),
    "warner": ("warner",),
    "crosswise": ("yu",),
    "forced_response": ("boruch",),
    "unrelated_question": ("greenberg",),
    "kuk": ("kuk",),
    "k_ary": ("kairouz",),
    "symmetric_unary": ("erlingsson",),
    "unary": ("wang",),
    "ordinal": ("mcsherry",),
    "stochastic_rounding": ("duchi",),
}
"""Of each mechanism that may randomise a question."""
OF_INTERVALS: Mapping[str, tuple[str, ...]] = {
    "wilson": ("wilson",),
    "score": ("tango",),
    "exact": ("blaker", "chernoff"),
    "added": ("zou_donner",),
    "fieller": ("fieller",),
}
"""Of each word in the name of an interval (`interval_names`)."""
OF_RELEASES: Mapping[str, tuple[str, ...]] = {
    "geometric": ("ghosh", "canonne"),
    "hierarchy": ("ghosh", "canonne", "hay"),
    "laplace": ("mironov", "canonne"),
    "gaussian": ("balle_wang", "canonne"),
    "noisy_maximum": ("mckenna",),
    "exponential": ("mcsherry",),
    "sparse_vector": ("lyu",),
    "shuffling": ("feldman",),
    "declared": (),
}
"""Of each mechanism that may draw the noise of a release."""


def list_report_references(report: Report, ledger: Ledger) -> tuple[Reference, ...]:
    """What the methods of an internal report come from, and nothing else."""
    return _choose((*_of_questions(report.designs), *_of_estimates(report), *_of_ledger(ledger)))


def list_public_references(published: Published) -> tuple[Reference, ...]:
    """What the methods of a public report come from, and nothing else."""
    return _choose((*_of_questions(published.designs), *_of_ledger(published.ledger)))


def _choose(names: Iterable[str]) -> tuple[Reference, ...]:
    wanted = {"dwork_roth", *names}  # what a loss is stands in every report
    return tuple(reference for name, reference in REFERENCES.items() if name in wanted)


def _of_questions(designs: VersionDesigns) -> Iterator[str]:
    for entry in designs.questions:
        yield from OF_DESIGNS[mechanism_of(entry.question)]


def _of_estimates(report: Report) -> Iterator[str]:
    if report.invited is not None and report.invited.rate is not None:
        yield "aapor"
    if not report.n:
        return
    yield from ("robbins", "waudby_smith")  # the intervals for any number of looks, in CSV and JSON
    for entry in (*report.questions, *report.unweighted):
        figures = [row.column for row in entry.shown]
        methods = [figure.method for figure in figures] + ([entry.mean.method] if entry.mean else [])
        for word in " ".join(methods).split():
            yield from OF_INTERVALS.get(word, ())
        if entry.mean is not None:
            yield "duchi"
        if entry.weighted:
            yield from ("cochran", "kish")
        if len(entry.versions) > 1:
            yield "cochran"
    for together in report.crossings:
        yield from _of_crossing(together)
    if any(one.power is not None for one in list_precision(report)):
        yield "fleiss"


def _of_crossing(together: Crossed | ThreeTogether) -> Iterator[str]:
    if together.too_large:
        return
    if together.strata is not None:
        yield from ("cochran", "kish")
    guaranteed = {cell.guaranteed for cell in together.list_cells()}
    if isinstance(together, Crossed):
        yield "fieller"
        guaranteed.add(together.comparison.gave.kind == "exact")
    yield from ("chernoff" if each else "tango" for each in guaranteed)


def _of_ledger(ledger: Ledger) -> Iterator[str]:
    if ledger.released and ledger.spent.best is not None:
        yield "kairouz_oh"
    for entry in ledger.released:
        yield from OF_RELEASES.get(entry.mechanism, ())
        fitted = {figure.statistic for figure in entry.figures} & {"fitted"}
        if fitted and entry.mechanism != "hierarchy":
            yield "deming_stephan"
        if any(figure.statistic.startswith("weighted") for figure in entry.figures):
            yield "cochran"
