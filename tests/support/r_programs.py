"""R, with httr2 for the test of the example in R, whatever the machine has.

`find_r()` is the one that is installed, if it has the packages; else, where there is `apt-get`, Debian's, unpacked in
the environment of the tests. No test is skipped for want of R: an error says how to get it.
`python -m tests.support.r_programs` gets it before the tests begin.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tests.support.debian_packages import UNPACKED, can_unpack, unpack

PACKAGES = ("r-base-core", "r-cran-httr2", "r-cran-jsonlite")
_HAS_ALL = 'for (each in c("httr2", "jsonlite")) loadNamespace(each)'


@dataclass(frozen=True)
class R:
    """How a script is run: what stands before its name, and what the environment says."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)

    def start(self, script: Path, environment: Mapping[str, str]) -> subprocess.Popen[str]:
        """Run a script whose input and output are read and written."""
        return subprocess.Popen(
            [*self.command, f"--file={script}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.environment, **environment},
        )

    def run_alone(self, script: str, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a script in its folder to its end, with no package but those that R itself consists of."""
        nowhere = {name: str(folder / "nothing") for name in ("R_LIBS", "R_LIBS_SITE", "R_LIBS_USER")}
        return subprocess.run(
            [*self.command, f"--file={script}", *(["--args", *words] if words else [])],
            cwd=folder,
            env={**os.environ, **self.environment, **nowhere, "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )


@cache
def find_r() -> R:
    """An R that has what the example loads; RuntimeError, saying how to get it, where there is none."""
    installed = R(("R", "--no-echo", "--no-restore", "--no-save"))
    if shutil.which("R") and _has_all(installed):
        return installed
    folder = UNPACKED / "r"
    if not folder.exists() and can_unpack():
        unpack(folder.name, PACKAGES, with_needed=True)
        _mend(folder)
    if not folder.exists() or not _has_all(_find_unpacked(folder)):
        raise RuntimeError(
            "The tests of scripts in R need R with its packages httr2 and jsonlite, and found none. Install them: "
            f"on Debian or Ubuntu `apt-get install {' '.join(PACKAGES)}`; elsewhere R, and in it "
            '`install.packages("httr2")`. Only they need it; Moneda runs without'
        )
    return _find_unpacked(folder)


def _has_all(r: R) -> bool:
    command = [*r.command, "-e", _HAS_ALL]
    done = subprocess.run(command, env={**os.environ, **r.environment}, capture_output=True, check=False)
    return done.returncode == 0


def _mend(folder: Path) -> None:
    """Settings are links to where an installed R has its own; those of its environment, the package makes last."""
    settings = folder / "usr/lib/R/etc"
    for link in settings.iterdir():
        if link.is_symlink():
            target = folder / "etc/R" / link.name
            link.unlink()
            shutil.copy(target if target.exists() else settings / "Renviron.ucf", settings / link.name)


def _find_unpacked(folder: Path) -> R:
    """The program behind Debian's script, which knows one place only."""
    home = folder / "usr/lib/R"
    libraries = [home / "lib", *folder.glob("usr/lib/*-linux-gnu*"), *folder.glob("usr/lib/*-linux-gnu*/*/")]
    places = [home / "site-library", home / "library", Path("/usr/lib/R/site-library")]
    return R(
        (str(home / "bin/exec/R"), "--no-echo", "--no-restore", "--no-save"),
        {
            "R_HOME": str(home),
            **{
                f"R_{part.upper()}_DIR": str(folder / "usr/share/R" / part)
                for part in ("share", "include", "doc")
            },
            "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
            "R_LIBS": os.pathsep.join(map(str, places)),
        },
    )


if __name__ == "__main__":
    try:
        find_r()
    except (RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
