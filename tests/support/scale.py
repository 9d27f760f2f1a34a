"""How far the tests look: as `make test` does, or with MONEDA_TEST_SCALE=long as `make test-long`."""

import os
from typing import Literal, get_args

Scale = Literal["short", "long"]


def scale() -> Scale:
    """What the environment asks for."""
    asked = os.environ.get("MONEDA_TEST_SCALE", "short")
    for known in get_args(Scale):
        if asked == known:
            return known
    raise ValueError(f"MONEDA_TEST_SCALE must be one of {', '.join(get_args(Scale))}; it is {asked!r}")


def choose_size(short: int, long: int) -> int:
    """How many examples, schedules or rows to try. A test that asks for this is marked `scaled`."""
    return long if scale() == "long" else short
