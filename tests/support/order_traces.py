"""What somebody who holds the stored files could read out of them: order, and what was written together.

Each statistic is normal with mean 0 and variance 1 where the files tell nothing: ids and hashes are
random, so that their order is independent of that of arrival. `LIMIT` is exceeded by chance with
probability 1.2e-7 in each of the few places where it is used.
"""

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from server.store.engines import make_engine

LIMIT = 5.3
PAGE = 4096


def standardise_order(groups: Iterable[Sequence[int]]) -> float:
    """Kendall's S between the order within each group and the numbers that stand there, over its deviation."""
    total, variance = 0.0, 0.0
    for group in groups:
        ranks, n = np.asarray(group), len(group)
        total += float(np.sign(ranks[None, :] - ranks[:, None])[np.triu_indices(n, 1)].sum())
        variance += n * (n - 1) * (2 * n + 5) / 18
    assert variance > 0
    return total / variance**0.5


def sqlite_files(database_url: str) -> list[Path]:
    """The main file and what stands beside it."""
    path = Path(database_url.removeprefix("sqlite:///"))
    return sorted(path.parent.glob(f"{path.name}*"))


def copy_files(database_url: str, folder: Path) -> str:
    """The files as they are at this moment, for whoever looks at them later; the address of the copy."""
    for file in sqlite_files(database_url):
        shutil.copy(file, folder / file.name)
    return f"sqlite:///{folder / Path(database_url).name}"


def order_in_pages(database_url: str, arrived: Mapping[bytes, int]) -> float:
    """The order of random keys within the pages of SQLite's main file, against that of their arrival.

    The larger of two statistics: of all keys, and of those that lie out of the order of keys, which in
    a file in use are many, and came late, the latest first.
    """
    content, (length,) = sqlite_files(database_url)[0].read_bytes(), set(map(len, arrived))
    pages: dict[int, list[bytes]] = {}
    seen: set[bytes] = set()
    for place in range(len(content)):
        key = content[place : place + length]
        if key in arrived and key not in seen:  # it stands in the table and in an index
            seen.add(key)
            pages.setdefault(place // PAGE, []).append(key)
    assert len(seen) > len(arrived) / 2  # of a database in use, the newest stand in its log only
    every = standardise_order([arrived[key] for key in keys] for keys in pages.values())
    late = [[key for pair in pairwise(keys) if pair[0] < pair[1] for key in pair] for keys in pages.values()]
    groups = [[arrived[key] for key in dict.fromkeys(keys)] for keys in late if keys]
    return max(abs(every), abs(standardise_order(groups)) if groups else 0.0)


def order_in_log(database_url: str, arrived: Mapping[bytes, int]) -> float:
    """The order in which keys first stand in SQLite's write-ahead log, against that of their arrival."""
    log = b"".join(content(file) for file in sqlite_files(database_url) if file.name.endswith("-wal"))
    places = {key: log.find(key) for key in arrived}
    keys = sorted((key for key in arrived if places[key] >= 0), key=places.__getitem__)
    return abs(standardise_order([[arrived[key] for key in keys]])) if len(keys) > 1 else 0.0


def postgresql_rows(database_url: str, table: str, key: str) -> list[Any]:
    """Every row's key, where it lies, and the transaction and statement that wrote it, in the order of places."""
    engine = make_engine(database_url)
    with engine.connect() as connection:
        rows = connection.execute(
            sa.text(f"SELECT {key}, ctid, xmin::text, cmin::text, xmax::text FROM {table} ORDER BY ctid")  # noqa: S608
        ).all()
    engine.dispose()
    return [(bytes(row[0]), *row[1:]) for row in rows]


def content(file: Path) -> bytes:
    """What is in a file of a running server; nothing where the server has removed it since it was listed."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def holding(files: Iterable[Path], codes: Iterable[str]) -> list[str]:
    """The codes that stand in one of the files, with or without hyphens, in either case."""
    known = {code.replace("-", "").encode() for code in codes}
    written = re.compile(rb"(?=([0-9A-HJKMNP-TV-Z]{4}(?:-?[0-9A-HJKMNP-TV-Z]{4}){3}))", re.IGNORECASE)
    found: set[bytes] = set()
    for file in files:
        for match in written.finditer(content(file)):
            found.add(match[1].replace(b"-", b"").upper())
    return sorted(code.decode() for code in found & known)
