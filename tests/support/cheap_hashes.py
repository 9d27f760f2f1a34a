"""Argon2 with as little work as it allows, for this process and the servers that it forks.

What the work is for, that guessing takes long, no test can wait for. That the site asks for the library's usual
work is tested in a Python of its own (`tests/views/test_passwords.py`).
"""

from argon2 import PasswordHasher

PARAMETERS = {"time_cost": 1, "memory_cost": 8, "parallelism": 1}
"""Rounds, KiB and threads; usually 3, 65,536 and 4."""


def use() -> None:
    """Let hashes whose work nobody states take the least."""
    usual = PasswordHasher.__init__.__defaults__
    assert usual is not None
    PasswordHasher.__init__.__defaults__ = (*PARAMETERS.values(), *usual[len(PARAMETERS) :])
