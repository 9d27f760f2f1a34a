"""The floor that benchmarks compare with: bare Flask views, under the same server.

`python -m tests.benchmarks.floor PORT` serves it with granian's WSGI and 32 threads; `... PORT site` so serves the
pages of Moneda, without what stands in front of them.
"""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection

from flask import Flask, render_template_string
from granian import Granian
from granian.constants import Interfaces
from granian.log import LogLevels

from tests.support import factories

PAGE = "<!doctype html><title>Bare</title><p>{{ text }}</p>"

app = Flask(__name__, static_folder=None)


@app.post("/")
@app.get("/")
def answer() -> tuple[str, int]:
    """Nothing."""
    return "", 204


@app.get("/page/<int:length>")
def render(length: int) -> str:
    """A page of so many characters, of which none is computed."""
    return render_template_string(PAGE, text="x" * (length - len(PAGE)))


@contextmanager
def serving_floor(database_url: str = "") -> Iterator[str]:
    """Serve it, or the pages of the site on a database, in a process of its own; its address."""
    port = factories.free_port()
    command = [sys.executable, "-m", "tests.benchmarks.floor", str(port), *(["site"] if database_url else [])]
    environment = factories.environment(database_url) if database_url else dict(os.environ)
    with subprocess.Popen(command, cwd=factories.ROOT, env=environment) as process:
        try:
            while True:
                connection = HTTPConnection("127.0.0.1", port)
                try:
                    connection.request("GET", "/")
                    connection.getresponse().read()
                except ConnectionError:
                    time.sleep(0.05)
                else:
                    break
                finally:
                    connection.close()
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


if __name__ == "__main__":
    site = sys.argv[2:] == ["site"]
    Granian(
        "server.web.app:create_app" if site else "tests.benchmarks.floor:app",
        factory=site,
        interface=Interfaces.WSGI,
        port=int(sys.argv[1]),
        blocking_threads=32,
        websockets=False,
        log_level=LogLevels.error,
    ).serve()
