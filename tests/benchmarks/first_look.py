"""What the first look at results costs, beside a bare Flask view that renders as many characters: `make bench-results`.

Two surveys of a hundred thousand responses: ten yes/no questions; and 20 questions of every kind with 12 strata in a
three-level tree. Bytes are those on the wire, of the page and of every file that it names, by somebody who has none of
them yet and takes gzip. Milliseconds are the server's processor time, of all its processes: of the first page of a
researcher after a start, by somebody who had signed in before, and the median of later ones. That server is a Python
of its own, into which nothing was imported or compiled beforehand. Nothing here passes or fails: what is asked for is
printed beside it.
MONEDA_BENCH_MOST is another number of responses.
"""

import os
import re
import statistics
import tempfile
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

from server.output.languages import DEFAULT_LANGUAGE, LANGUAGES
from tests.benchmarks.floor import serving_floor
from tests.benchmarks.live import TREE, cookie_of, document, study
from tests.support import factories

RESPONSES = int(os.environ.get("MONEDA_BENCH_MOST", "100000"))
ROUNDS = 15
MOST_BYTES, MOST_PROCESSOR = 100_000, 300
"""Of the page with its files; milliseconds of one look."""


def load(url: str, path: str, cookie: str = "", language: str = DEFAULT_LANGUAGE) -> bytes:
    """What arrives of a page or a file."""
    with closing(HTTPConnection(urlsplit(url).netloc, timeout=300)) as connection:
        connection.request(
            "GET", path, headers={"Accept-Encoding": "gzip", "Accept-Language": language, "Cookie": cookie}
        )
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status)
        return body


def processor_milliseconds(pid: int) -> float:
    """Processor time of a process and those it started, of all their threads, to the nanosecond that Linux counts."""
    folder, spent = Path(f"/proc/{pid}"), 0.0
    children = (folder / "task" / str(pid) / "children").read_text(encoding="ascii").split()
    for task in (folder / "task").iterdir():
        spent += int((task / "schedstat").read_text(encoding="ascii").split()[0]) / 1_000_000
    return spent + sum(processor_milliseconds(int(child)) for child in children)


def find_pid(url: str) -> int:
    """Of the process that listens at an address of this machine."""
    port = f"{urlsplit(url).port:04X}"
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]]
    (socket,) = (f"socket:[{line[9]}]" for line in lines if line[1].endswith(f":{port}") and line[3] == "0A")
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) == socket:
                return int(link.parts[2])
        except OSError:
            continue  # it has ended
    raise AssertionError(f"nobody listens at {url}")


def time_looks(pid: int, look: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of the first look, and the median of those after it."""
    spent = []
    for _ in range(ROUNDS):
        before = processor_milliseconds(pid)
        look()
        spent.append(processor_milliseconds(pid) - before)
    return spent[0], statistics.median(spent[1:])


def weigh(url: str, path: str, cookie: str, language: str) -> tuple[int, int, int]:
    """Bytes of the page in a language, how many files it names, and their bytes."""
    page = load(url, path, cookie, language)
    files = sorted(set(re.findall(r'(?:src|href)="(/client/[^"]+)"', page.decode())))
    return len(page), len(files), sum(len(load(url, file)) for file in files)


def measure(database_url: str, slug: str) -> None:
    """One survey's results."""
    path = f"/manage/surveys/{slug}/results"
    with factories.serving(database_url) as served:
        cookie = cookie_of(served)
    anew = {"PYTHONPATH": str(factories.ROOT)}
    with factories.serving(database_url, **anew) as served, serving_floor() as floor_url:
        first, later = time_looks(served.process.pid, lambda: load(served.url, path, cookie))
        page = load(served.url, path, cookie)
        floor = time_looks(find_pid(floor_url), lambda: load(floor_url, f"/page/{len(page.decode())}"))
        weights = {
            (language, interval): weigh(served.url, f"{path}?interval={interval}", cookie, language)
            for language in LANGUAGES
            for interval in ("once", "anytime")
        }
    for (language, interval), (own, files, size) in weights.items():
        print(
            f"    {language}, {interval:<7} the page {own:,} bytes, {files} files {size:,}: "
            f"{own + size:,} (at most {MOST_BYTES:,})"
        )
    for name, spent, bare in (("first", first, floor[0]), ("later", later, floor[1])):
        ratio = f"{spent / bare:,.0f} times the bare page"
        print(
            f"    {name} look {spent:7.1f} ms of processor (at most {MOST_PROCESSOR}), {ratio} ({bare:.2f} ms)"
        )


def main() -> None:
    """Both surveys."""
    for title, definition, tree in (
        ("10 yes/no questions", factories.definition([0.25] * 10), ""),
        ("20 questions, 12 strata", document(), TREE),
    ):
        with tempfile.TemporaryDirectory() as folder:
            print(f"{title}, {RESPONSES:,} responses")
            measure(*study(Path(folder), definition, tree, RESPONSES))


if __name__ == "__main__":
    main()
