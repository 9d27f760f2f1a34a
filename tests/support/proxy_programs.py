"""nginx and Caddy for the tests, whatever the machine has.

`find_program(name)` is the one that is installed; else, where there is `apt-get`, Debian's package of that name,
unpacked in the environment of the tests: nothing is installed, and no root is needed. No test is skipped for want of
a proxy: an error says how to get it. `python -m tests.support.proxy_programs` gets them before the tests begin.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

PROGRAMS = ("nginx", "caddy")
UNPACKED = Path(sys.prefix) / "debian"
_ON_PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"])


@cache
def find_program(name: str) -> Path:
    """A program that starts; RuntimeError, saying how to get it, where there is none."""
    installed = shutil.which(name, path=_ON_PATH)
    if installed:
        return Path(installed)
    found = list((UNPACKED / name).glob(f"usr/*bin/{name}"))
    if not found and shutil.which("apt-get") and shutil.which("dpkg-deb"):
        _unpack(name)
        found = list((UNPACKED / name).glob(f"usr/*bin/{name}"))
    if not found:
        raise RuntimeError(
            f"The tests of the proxies need {name}, and found none. Install it: on Debian or Ubuntu `apt-get install "
            f"{name}`, on a Mac `brew install {name}`. Only these tests need it; Moneda runs without"
        )
    return found[0]


def _unpack(name: str) -> None:
    """Have apt fetch the package, with lists of its own; the folder is renamed into place whole."""
    print(f"Fetching Debian's {name}", flush=True)
    UNPACKED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=UNPACKED, prefix="fetching-") as folder:
        for part in ("state/lists/partial", "cache/archives/partial", "unpacked"):
            (Path(folder) / part).mkdir(parents=True)
        apart = {
            "Dir::State": f"{folder}/state",
            "Dir::State::status": "/var/lib/dpkg/status",
            "Dir::Cache": f"{folder}/cache",
            "APT::Sandbox::User": "",
            "Acquire::Retries": "3",
        }
        apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in apart.items())]
        subprocess.run([*apt, "update"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        subprocess.run([*apt, "download", name], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (package,) = Path(folder).glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", package, f"{folder}/unpacked"], check=True)
        (Path(folder) / "unpacked").rename(UNPACKED / name)


if __name__ == "__main__":
    try:
        for each in PROGRAMS:
            find_program(each)
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
