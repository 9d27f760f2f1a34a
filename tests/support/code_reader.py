"""What a QR code says, read from its modules: where they lie from segno, the rest by ISO/IEC 18004, as phones do."""

from collections.abc import Iterator, Sequence
from functools import cache, reduce
from itertools import chain, zip_longest

import segno
from segno import consts

DATA = (consts.TYPE_DATA_DARK, consts.TYPE_DATA_LIGHT)


def read_code(rows: Sequence[str]) -> str:
    """The text of a code of level M under mask 0, as rows of 0 and 1 without what is around it.

    Raises
    ------
    ValueError
        Where a module outside the data is not as it must be, or a block contradicts its parity.
    """
    version = (len(rows) - 17) // 4
    fixed, free = _lay_out(version)
    if any(rows[y][x] != module for (x, y), module in fixed.items()):
        raise ValueError("a module outside the data is not as it must be")
    bits = "".join(str(int(rows[y][x]) ^ ((x + y) % 2 == 0)) for x, y in free)
    stream = "".join(f"{byte:08b}" for byte in _join_blocks(bits, version))
    if stream[:4] != "0100":
        raise ValueError("this is no code of bytes")
    start = 12 if version < 10 else 20
    length = int(stream[4:start], 2)
    return bytes(int(stream[start + 8 * place :][:8], 2) for place in range(length)).decode()


@cache
def _lay_out(version: int) -> tuple[dict[tuple[int, int], str], tuple[tuple[int, int], ...]]:
    """The modules that are the same in all codes of a version, and the others in the order of what they say."""
    like = segno.make("a", version=version, mode="byte", error="m", boost_error=False, mask=0)
    kinds = {
        (x, y): kind
        for y, line in enumerate(like.matrix_iter(border=0, verbose=True))
        for x, kind in enumerate(line)
    }
    size = 4 * version + 17
    kinds[size - 9, 8] = DATA[0]  # which segno 1.6 takes for a part of what says the mask
    fixed = {place: "01"[kind >> 8 > 0] for place, kind in kinds.items() if kind not in DATA}
    return fixed, tuple(place for place in _walk(size) if place not in fixed)


def _walk(size: int) -> Iterator[tuple[int, int]]:
    """Two columns at a time from the right, up and down in turns, leaving out the dotted one."""
    columns = [right for right in range(size - 1, 0, -1) if (right > 6) == (right % 2 == 0) and right != 6]
    for turn, right in enumerate(columns):
        for y in range(size)[:: -1 if turn % 2 == 0 else 1]:
            yield right, y
            yield right - 1, y


def _join_blocks(bits: str, version: int) -> list[int]:
    stream = [int(bits[start : start + 8], 2) for start in range(0, len(bits) - 7, 8)]
    sizes = [
        (part.num_data, part.num_total - part.num_data)
        for part in consts.ECC[version][consts.ERROR_LEVEL_M]
        for _ in range(part.num_blocks)
    ]
    blocks: list[list[int]] = [[] for _ in sizes]
    for length in zip(*sizes, strict=True):  # data first, then parity, byte by byte in turns
        turns = zip_longest(*([place] * size for place, size in enumerate(length)))
        for place in (place for place in chain.from_iterable(turns) if place is not None):
            blocks[place].append(stream.pop(0))
    for block, (_, parity) in zip(blocks, sizes, strict=True):
        for zero in range(parity):
            if reduce(lambda total, byte, zero=zero: _TIMES[zero][total] ^ byte, block, 0):  # type: ignore[misc]
                raise ValueError("a block contradicts its parity")
    return [byte for block, (data, _) in zip(blocks, sizes, strict=True) for byte in block[:data]]


def _multiply(a: int, b: int) -> int:
    product = 0
    while b:
        product ^= a * (b & 1)
        a, b = (a << 1) ^ (0x11D * (a >> 7)), b >> 1
    return product


_TIMES = [[_multiply(reduce(_multiply, [2] * power, 1), byte) for byte in range(256)] for power in range(30)]
"""Products with the first powers of 2, which the polynomial of every parity has as its zeros."""
