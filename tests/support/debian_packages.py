"""Debian's packages for the tests, unpacked in their environment: nothing is installed, and no root is needed."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNPACKED = Path(sys.prefix) / "debian"


def can_unpack() -> bool:
    """Whether this machine has what it takes."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def unpack(name: str, packages: tuple[str, ...], *, with_needed: bool = False) -> Path:
    """Have apt fetch packages, with lists of its own; the folder of that name is renamed into place whole.

    `with_needed` are also those which they need and the machine does not have.
    """
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
            "APT::Install-Recommends": "false",
            "Acquire::Retries": "3",
        }
        apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in apart.items())]
        subprocess.run([*apt, "update"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        wanted = set(packages)
        if with_needed:
            done = subprocess.run(
                [*apt, "install", "--simulate", *packages],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
            )
            wanted |= {line.split()[1] for line in done.stdout.splitlines() if line.startswith("Inst ")}
        subprocess.run([*apt, "download", *sorted(wanted)], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        for package in Path(folder).glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, f"{folder}/unpacked"], check=True)
        (Path(folder) / "unpacked").rename(UNPACKED / name)
    return UNPACKED / name
