"""What a report costs in all five formats, beside a floor of the same run: `make bench-reports`.

20 questions of every kind, 12 strata in a three-level tree, 20,000 responses: the study of the live
page. In a process of its own, so that its memory is that of the report alone; the PDF is made by
one more, whose memory counts too. The floor is Python writing the same numbers, already computed,
as JSON. Nothing here passes or fails: the targets are printed beside what was measured.
"""

import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

from server import releases, reports
from server.output.documents import to_html, to_pdf, to_xlsx
from server.people import survey_access
from tests.benchmarks.live import TREE, document, study
from tests.support import factories

RESPONSES = 20_000
SECONDS = 5
MEGABYTES = 300
FLOOR = "json.dumps of the same numbers"

T = TypeVar("T")


@dataclass(frozen=True)
class Step:
    """Seconds on the clock and of the processor (a busy machine has more of the former), and bytes."""

    name: str
    seconds: float
    busy: float
    size: int


@dataclass(frozen=True)
class Measured:
    """Each step, in order; megabytes at the highest, here and where the PDF is made."""

    steps: tuple[Step, ...]
    own: float
    child: float


def measure(database_url: str, slug: str, by_stratum: bool) -> Measured:
    """Make the report in every format, once."""
    steps: list[Step] = []

    def time_step(name: str, make: Callable[[], T]) -> T:
        begin, busy = time.perf_counter(), sum(os.times()[:4])
        made = make()
        size = len(made) if isinstance(made, str | bytes) else 0
        steps.append(Step(name, time.perf_counter() - begin, sum(os.times()[:4]) - busy, size))
        return made

    with factories.writing(database_url) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        report, ledger = time_step(
            "read", lambda: (reports.read(session, survey), releases.read_ledger(session, survey))
        )
        report = report if by_stratum else replace(report, nodes=())
        document = time_step("contents", lambda: reports.build_internal_document(report, ledger, "en"))
    time_step("HTML", lambda: to_html(document))
    time_step("PDF", lambda: to_pdf(document))
    time_step("XLSX", lambda: to_xlsx(document))
    time_step("CSV", lambda: reports.to_csv(report))
    text = time_step("JSON", lambda: reports.to_json(report, ledger))
    known = json.loads(text)
    time_step(FLOOR, lambda: json.dumps(known))
    own, child = (
        resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return Measured(tuple(steps), own, child)


def main() -> None:
    """Measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        database_url, slug = study(Path(folder), document(), TREE, RESPONSES)
        print(
            f"20 questions, {RESPONSES:,} responses: an internal report in five formats; target {SECONDS} s"
        )
        for by_stratum, title in ((False, "without strata"), (True, "12 strata in a tree of three levels")):
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                say(title, pool.submit(measure, database_url, slug, by_stratum).result())


def say(title: str, measured: Measured) -> None:
    """Print what was measured."""
    *steps, floor = measured.steps
    total = Step("in all", sum(step.seconds for step in steps), sum(step.busy for step in steps), 0)
    print(title)
    for step in (*steps, total):
        size = f"{step.size:>12,} bytes" if step.size else ""
        print(f"  {step.name:<10}{step.seconds:8.2f} s, {step.busy:6.2f} s of the processor{size}")
    print(f"  {total.seconds / floor.seconds:,.0f} times {FLOOR}")
    print(
        f"  {measured.own:.0f} MB, and {measured.child:.0f} MB where the PDF is made; target {MEGABYTES} MB"
    )


if __name__ == "__main__":
    main()
