"""Counting shares and pairs of answers, beside DuckDB's scan of the same responses: a part of `make bench-live`.

Ten yes/no questions: ten shares and the 45 pairs of them, from the books of a survey, and from a Parquet file of
boolean columns. Both are asked in turns, in one process; nothing here passes or fails.
"""

import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
from pyarrow import parquet

from server.collect import response_counts
from server.collect.tallies import count_cells
from server.collect.waves import Wave
from server.people import survey_access
from server.store.engines import make_engine, migrate, open_session
from tests.benchmarks.filling import fill
from tests.support import factories

SIZES = ((1_000_000, 0.4), (10_000_000, 0.8))
"""Responses, and the ratio to DuckDB that is asked for."""
MORE = 1_000
AGAIN = 20
"""Milliseconds that are asked for after so many more responses."""
QUESTIONS = 10
ROUNDS = 7


def count(database_url: str, slug: str) -> list[int]:
    """How often each "yes" and each pair of them arrived."""
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        wave = Wave.of(survey.current, [None], response_counts.read_shown(session, survey))
        asked = [wave.questions[f"q{k + 1}"].bytes(by_option=False)[0] for k in range(QUESTIONS)]
        ones = [int(byte.counts[0, 1]) for byte in asked]
        pairs = dict.fromkeys(combinations(range(QUESTIONS), 2), 0)
        for block in wave.blocks():
            codes = [byte.codes(block.tally).astype(np.int64) for byte in asked]
            for one, other in pairs:
                table = count_cells(2 * codes[one] + codes[other], block.tally.counts, 4)
                pairs[one, other] += int(table[3])
    engine.dispose()
    return [*ones, *pairs.values()]


def write_parquet(database_url: str, slug: str, path: Path) -> None:
    """The shown responses, a boolean column for each question."""
    engine = make_engine(database_url)
    with open_session(engine, writes=False) as session:
        survey = survey_access.find(session, slug)
        assert survey is not None
        assert survey.current is not None
        schema = pa.schema([(f"q{k + 1}", pa.bool_()) for k in range(QUESTIONS)])
        with parquet.ParquetWriter(path, schema) as writer:
            for _key, tally in response_counts.read_shown(session, survey).pieces(survey.current.id):
                rows = np.repeat(tally.patterns, tally.counts, axis=0)
                np.random.default_rng(1).shuffle(rows)  # as they come: sorted, they would be next to nothing
                writer.write_table(pa.table([pa.array(column == 1) for column in rows.T], schema=schema))
    engine.dispose()


def scan(path: Path) -> list[int]:
    """The same by DuckDB."""
    names = [f"q{k + 1}" for k in range(QUESTIONS)]
    wanted = [f"count(*) FILTER ({name})" for name in names]
    wanted += [f"count(*) FILTER ({one} AND {other})" for one, other in combinations(names, 2)]
    with duckdb.connect() as connection:
        (row,) = connection.execute(f"SELECT {', '.join(wanted)} FROM '{path}'").fetchall()  # noqa: S608
    return list(row)


def time_work(work: Callable[[], list[int]]) -> tuple[float, list[int]]:
    """Milliseconds, and what was found."""
    begin = time.perf_counter()
    found = work()
    return 1000 * (time.perf_counter() - begin), found


def measure(folder: Path, responses: int, ratio: float) -> None:
    """One size, both in turns."""
    database_url, path = f"sqlite:///{folder / 'bench.sqlite3'}", folder / "responses.parquet"
    engine = make_engine(database_url)
    migrate(engine)
    engine.dispose()
    slug = factories.publish(database_url, factories.definition([0.25] * QUESTIONS), minimum=10).slug
    fill(database_url, slug, responses)
    write_parquet(database_url, slug, path)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        took, found = time_work(lambda: count(database_url, slug))
        ours.append(took)
        took, same = time_work(lambda: scan(path))
        theirs.append(took)
        assert found == same
    one, other = statistics.median(ours), statistics.median(theirs)
    print(
        f"  {responses:>10,}: {one:7.1f} ms, DuckDB {other:7.1f} ms, ratio {one / other:.2f}, asked {ratio}"
    )
    fill(database_url, slug, MORE)
    took, _found = time_work(lambda: count(database_url, slug))
    print(f"  {MORE:,} more: {took:.1f} ms, asked {AGAIN}")


def main() -> None:
    """Measure each size."""
    print(f"{QUESTIONS} shares and {QUESTIONS * (QUESTIONS - 1) // 2} pairs, medians of {ROUNDS}")
    for responses, ratio in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            measure(Path(folder), responses, ratio)


if __name__ == "__main__":
    main()
