"""What a respondent's visit costs the server: `make bench-visit`.

A visit is what a browser loads for the first time (the page, the definition and every file that the page
names) and one submission; repeated visits load no files again. In turns with a bare Flask view that answers
204, in one run; a page that Flask renders each time, beside the same without the front. Nothing here passes or
fails: the targets are printed beside what was measured.
"""

import argparse
import re
import statistics
from contextlib import ExitStack

from tests.benchmarks.floor import serving_floor
from tests.benchmarks.intake import ANSWERS, CONNECTIONS, new_databases
from tests.benchmarks.load import Load, get, measure, post, processor_seconds
from tests.support import factories

MOST_PROCESSOR = 1.0
"""Milliseconds of the server's processor for a first visit with its submission."""
LEAST_RATIO = 0.8
"""Of the page and of the definition, to the bare view."""
RENDERED, LEAST_BRIDGED = "/manage/sign-in", 0.9
"""A page that is rendered each time, and its least ratio to the same page under the server alone."""


def main() -> None:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=640, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    with new_databases() as databases:
        for engine, make in databases.items():
            _measure_engine(engine, make(), asked.visits, asked.rounds)


def _measure_engine(engine: str, database_url: str, visits: int, rounds: int) -> None:
    survey = factories.publish(database_url, factories.definition([0.25] * ANSWERS))
    page, definition, screens = (f"/s/{survey.slug}{rest}" for rest in ("", "/survey.json", "/screens"))
    with ExitStack() as stack:
        served = stack.enter_context(factories.serving(database_url))
        floor_url = stack.enter_context(serving_floor())
        site_url = stack.enter_context(serving_floor(database_url))
        text = factories.ask(served.url + page)[2].decode()
        files = re.findall(r'(?:src|href)="(/client/[^"]+)"', text)

        def one_visit(paths: list[str]) -> list[bytes]:
            response = survey.response([1, 0] * (ANSWERS // 2))
            return [*(get(path) for path in paths), post(survey.url, response)]

        def all_visits(paths: list[str]) -> list[list[bytes]]:
            each = visits // CONNECTIONS
            return [
                [request for _ in range(each) for request in one_visit(paths)] for _ in range(CONNECTIONS)
            ]

        costs: dict[str, list[float]] = {}
        rates: dict[str, list[float]] = {}
        bridged: list[float] = []
        for _ in range(rounds):
            for name, paths in {
                "a first visit": [page, definition, screens, *files],
                "a repeated visit": [page, definition, screens],
            }.items():
                before = processor_seconds(served.process.pid)
                load = measure(served.url, all_visits(paths))
                assert set(load.statuses) == {200, 201}, load.statuses
                spent = processor_seconds(served.process.pid) - before
                costs.setdefault(name, []).append(1000 * spent / (visits // CONNECTIONS * CONNECTIONS))
            bare = _rate(floor_url, "/", 3 * visits)
            for name, path in {"page": page, "definition": definition, "a file": files[0]}.items():
                rates.setdefault(name, []).append(_rate(served.url, path, 3 * visits) / bare)
            alone = _rate(site_url, RENDERED, visits)
            bridged.append(_rate(served.url, RENDERED, visits) / alone)
    print(f"{engine}: {len(files)} files, {CONNECTIONS} connections, medians of {rounds}")
    for name, taken in costs.items():
        print(f"  {name:<18} {statistics.median(taken):6.2f} ms of processor (at most {MOST_PROCESSOR})")
    for name, ratios in rates.items():
        print(f"  {name:<18} {statistics.median(ratios):6.2f} of bare Flask 204 (at least {LEAST_RATIO})")
    ratio = statistics.median(bridged)
    print(f"  a rendered page    {ratio:6.2f} of the same without the front (at least {LEAST_BRIDGED})")


def _rate(url: str, path: str, count: int) -> float:
    load: Load = measure(url, [[get(path)] * (count // CONNECTIONS)] * CONNECTIONS)
    assert set(load.statuses) <= {200, 204}, load.statuses
    return load.rate


if __name__ == "__main__":
    main()
