"""What a batch holds: report strings in their order, or distinct ones with counts, whichever is shorter.

The first byte says which: 0, and then all strings one after the other; 1, and then the distinct
strings one after the other and the count of each, in four bytes, the lowest first.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from server.collect.tallies import Tally

STRINGS, PATTERNS = 0, 1
COUNT = np.dtype("<u4")


def encode_strings(strings: Iterable[bytes]) -> bytes:
    """Of a few report strings, all of one length."""
    return bytes([STRINGS]) + b"".join(sorted(strings))


def decode(content: bytes, length: int) -> Tally:
    """The tally that a content holds, its patterns in their order.

    Parameters
    ----------
    length : int
        Of each report string, in bytes.
    """
    body = memoryview(content)[1:]
    if content[0] == STRINGS:
        return Tally.of(body, length)
    patterns = len(body) // (length + COUNT.itemsize)
    return Tally(
        np.frombuffer(body[: patterns * length], dtype=np.uint8).reshape(patterns, length),
        np.frombuffer(body[patterns * length :], dtype=COUNT).astype(np.int64),
    )


def encode(tally: Tally) -> bytes:
    """Of a tally whose patterns are distinct and in their order."""
    patterns, length = tally.patterns.shape
    if patterns * (length + COUNT.itemsize) < tally.n * length:
        return bytes([PATTERNS]) + tally.patterns.tobytes() + tally.counts.astype(COUNT).tobytes()
    return bytes([STRINGS]) + np.repeat(tally.patterns, tally.counts, axis=0).tobytes()


def add_up(tallies: Sequence[Tally]) -> Tally:
    """Their sum, each pattern once and in order; at least one, all of strings of one length."""
    patterns = np.concatenate([tally.patterns for tally in tallies])
    counts = np.concatenate([tally.counts for tally in tallies])
    keys = as_keys(patterns)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    first = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return Tally(patterns[order[first]], np.add.reduceat(counts[order], first))


def as_keys(patterns: NDArray[np.uint8]) -> NDArray[np.bytes_]:
    """Patterns as values that are compared byte by byte.

    NumPy leaves zeros at the end out of account; among strings of one length that changes nothing.
    """
    return np.ascontiguousarray(patterns).view(f"S{patterns.shape[1]}").ravel()
