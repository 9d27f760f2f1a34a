"""What an archive folder takes, and what tallying it costs beside a bare scan of its Parquet: `make bench-archive`.

20 questions of every kind, ten and a hundred million made-up responses. Each step is a process of its own, whose time,
processor time and memory are printed; scans and engines take turns, in rounds. Nothing here passes or fails.
MONEDA_BENCH_MOST is the largest size, and MONEDA_BENCH_FOLDER where they are written (40 bytes a response at most).
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from server.archives.folders import ENGINES, open_engine
from server.archives.folders.duckdb_tallies import SETTINGS
from server.archives.folders.folder_reader import read_archives
from tests.benchmarks.live import document
from tests.support.factories import ROOT

SIZES = tuple(
    size
    for size in (10_000_000, 100_000_000)
    if size <= int(os.environ.get("MONEDA_BENCH_MOST", "100000000"))
)
ROUNDS = 3


def scan(folder: Path) -> None:
    """Read every column once and add it up: no less can be done by whoever counts."""
    with duckdb.connect(config=SETTINGS) as database:
        rows = database.read_parquet(
            f"{folder}/survey=*/version=*/stratum=*/*.parquet", hive_partitioning=False
        )
        rows.aggregate(", ".join(f'sum("{name}")' for name in rows.columns)).fetchall()


def check(folder: Path) -> None:
    """Hold every file against its manifest."""
    read_archives([folder])


def tally(folder: Path, engine: str) -> float:
    """Count every column by an engine; the seconds of counting alone, without what starts the engine."""
    data_sets = [each for survey in read_archives([folder])[0] for each in survey.data_sets()]
    with open_engine(engine, "local[2]" if engine == "spark" else None) as opened:
        begin = time.perf_counter()
        for _ in opened.tally(data_sets):
            pass
        return time.perf_counter() - begin


def work(step: str, folder: Path) -> None:
    """Do one step; print what it took."""
    begin = time.perf_counter()
    seconds = None
    if step == "scan":
        scan(folder)
    elif step == "check":
        check(folder)
    else:
        seconds = tally(folder, step)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        json.dumps(
            {
                "seconds": time.perf_counter() - begin if seconds is None else seconds,
                "processor": sum(each.ru_utime + each.ru_stime for each in used),
                "memory": sum(each.ru_maxrss for each in used) / 1024,
            }
        )
    )


def run(*arguments: str) -> Any:
    """What a process of its own printed."""
    command = [sys.executable, "-m", *arguments]
    return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def measure(responses: int, folder: Path) -> None:
    """Write an archive and count it."""
    file = folder / "definition.json"
    file.write_text(json.dumps(document()))
    archive = folder / "archive"
    begin = time.perf_counter()
    run("server", "simulate", str(file), "--respondents", str(responses), "--to", str(archive), "--json")
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    size = sum(path.stat().st_size for path in archive.rglob("*.parquet"))
    print(f"{responses:,} responses to 20 questions of every kind")
    print(f"  writing      {seconds:9.1f} s, {responses / seconds:,.0f} a second, {peak:,.0f} MB at most")
    print(f"  on the disk  {size / responses:9.2f} bytes a response, {size / 1e6:,.0f} MB")
    taken: dict[str, list[Any]] = {step: [] for step in ("scan", "check", *ENGINES)}
    for _ in range(ROUNDS):
        for step, found in taken.items():
            found.append(run("tests.benchmarks.archive", step, str(archive)))
    floor = statistics.median(each["seconds"] for each in taken["scan"])
    for step, found in taken.items():
        median = statistics.median(each["seconds"] for each in found)
        processor = statistics.median(each["processor"] for each in found)
        most = max(each["memory"] for each in found)
        print(
            f"  {step:<12} {median:9.2f} s, {median / floor:6.2f} times a bare scan; "
            f"{processor:.2f} s of a processor with all that starts it, {most:,.0f} MB at most"
        )


def main() -> None:
    """Every size, one after the other."""
    for responses in SIZES:
        with tempfile.TemporaryDirectory(dir=os.environ.get("MONEDA_BENCH_FOLDER")) as folder:
            measure(responses, Path(folder))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        work(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
