"""The program minisign, of whoever made the format: the one that is installed, else Debian's, unpacked."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tests.support.debian_packages import UNPACKED, can_unpack, unpack


def run_minisign(folder: Path, *arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    """Run it in a folder; `typed` is its passphrase."""
    program = _find_program()
    # Libraries that came with it, where the machine has none.
    libraries = os.pathsep.join(str(path.parent) for path in (UNPACKED / "minisign").rglob("*.so*"))
    return subprocess.run(
        [program, *arguments],
        cwd=folder,
        env={**os.environ, **({"LD_LIBRARY_PATH": libraries} if libraries else {})},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


@cache
def _find_program() -> Path:
    installed = shutil.which("minisign")
    if installed:
        return Path(installed)
    found = list((UNPACKED / "minisign").glob("usr/bin/minisign"))
    if not found and can_unpack():
        found = list(unpack("minisign", ("minisign",), with_needed=True).glob("usr/bin/minisign"))
    if not found:
        raise RuntimeError(
            "The tests of signatures need minisign, and found none. Install it: on Debian or Ubuntu `apt-get install "
            "minisign`, on a Mac `brew install minisign`. Only these tests need it; Moneda runs without"
        )
    return found[0]
