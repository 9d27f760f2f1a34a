"""Work against robots, as a program that posts responses does it: written after docs/definition.md alone."""

import hashlib
import time


def solve(slug: str, receipt: str, hour: int | None = None) -> str:
    """The field `work` of a response with this receipt, by this link; for the hour that it is now."""
    at = int(time.time()) // 3600 if hour is None else hour
    stored = hashlib.sha256(bytes.fromhex(receipt)).hexdigest()[:32]
    seed = hashlib.sha256(f"{slug}:{at:06d}:{stored}".encode()).digest()
    found: list[int] = []
    number = 0
    while len(found) < 8:
        digest = hashlib.sha256(seed + number.to_bytes(4, "big")).digest()
        if digest[0] == 0 and digest[1] < 2:  # 15 bits
            found.append(number)
        number += 1
    return f"{at:06d}" + "".join(f"{each:06x}" for each in found)
