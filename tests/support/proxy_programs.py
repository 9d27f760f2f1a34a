"""nginx, Caddy and Tor for the tests, whatever the machine has.

`find_program(name)` is the one that is installed; else, where there is `apt-get`, Debian's package of that name,
unpacked in the environment of the tests. No test is skipped for want of a proxy: an error says how to get it.
`python -m tests.support.proxy_programs` gets them before the tests begin.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tests.support.debian_packages import UNPACKED, can_unpack, unpack

PROGRAMS = ("nginx", "caddy", "tor")
_ON_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"])


@cache
def find_program(name: str) -> Path:
    """A program that starts; RuntimeError, saying how to get it, where there is none."""
    installed = shutil.which(name, path=_ON_PATH)
    if installed:
        return Path(installed)
    found = list((UNPACKED / name).glob(f"usr/*bin/{name}"))
    if not found and can_unpack():
        # Of these only Tor needs a library that few machines have.
        found = list(unpack(name, (name,), with_needed=name == "tor").glob(f"usr/*bin/{name}"))
    if not found:
        raise RuntimeError(
            f"The tests of docs/deploy/ need {name}, and found none. Install it: on Debian or Ubuntu `apt-get install "
            f"{name}`, on a Mac `brew install {name}`. Only these tests need it; Moneda runs without"
        )
    return found[0]


def find_libraries(name: str) -> str:
    """Where a program that was unpacked has libraries of its own, as LD_LIBRARY_PATH."""
    return os.pathsep.join(map(str, (UNPACKED / name).glob("usr/lib/*")))


if __name__ == "__main__":
    try:
        for each in PROGRAMS:
            find_program(each)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
