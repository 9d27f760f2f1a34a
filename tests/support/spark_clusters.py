"""A standalone Spark cluster on this machine: a master and workers, small, on ports that the system chooses."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.factories import ROOT

_PATIENCE = 120.0
"""Seconds for a process to start, on a machine where much else goes on."""
_SMALL = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:-UsePerfData"
"""For processes of Java that live briefly: one thread tidies up, and none leaves a file in /tmp."""
_UNTIL_CLOSED = '"$@" <&- & cat >/dev/null; kill 0'
"""Run by a shell: the program ends when standard input does, and so with us, whatever becomes of us."""


@dataclass
class Cluster:
    """A master, and the workers that were added."""

    folder: Path
    url: str = ""
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str, *arguments: str) -> Path:
        """Start one of Spark's own programs; where it writes what it has to say."""
        from pyspark.find_spark_home import _find_spark_home

        log = self.folder / f"{len(self.running)}.log"
        command = [f"{_find_spark_home()}/bin/spark-class", f"org.apache.spark.deploy.{name}", *arguments]
        with log.open("wb") as said:
            self.running.append(
                subprocess.Popen(
                    ["sh", "-c", _UNTIL_CLOSED, "sh", *command],
                    cwd=self.folder,
                    env=spark_environment(self.folder),
                    stdin=subprocess.PIPE,
                    stdout=said,
                    stderr=said,
                    start_new_session=True,
                )
            )
        return log

    def add_worker(self) -> Path:
        """Add a worker of one core and 512 MB; its folder, where it keeps one for each program that it runs."""
        folder = self.folder / f"worker-{len(self.running)}"
        ports = ["--port", "0", "--webui-port", "0"]
        size = ["--cores", "1", "--memory", "512m"]
        log = self.start("worker.Worker", *ports, *size, "--work-dir", str(folder), self.url)
        _await_line(log, "Successfully registered with master")
        return folder

    def stop(self) -> None:
        """End every process, politely first; all are gone afterwards."""
        for process in reversed(self.running):
            assert process.stdin is not None
            process.stdin.close()
            until = time.monotonic() + 20
            while _is_alive(process) and time.monotonic() < until:
                time.sleep(0.05)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def spark_environment(folder: Path) -> dict[str, str]:
    """Small, on loopback, without a network or a name for this machine; what is written stands below a folder."""
    settings = folder / "conf"
    settings.mkdir(exist_ok=True)
    (settings / "spark-defaults.conf").write_text(
        "spark.executor.memory 512m\nspark.driver.memory 512m\n"
        f"spark.driver.extraJavaOptions {_SMALL}\nspark.executor.extraJavaOptions {_SMALL}\n"
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SPARK_", "PYSPARK_"))}
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join(each for each in sys.path if each),
        "SPARK_CONF_DIR": str(settings),
        "SPARK_DAEMON_JAVA_OPTS": _SMALL,
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_HOSTNAME": "127.0.0.1",
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TMPDIR": str(folder),
    }


@contextmanager
def running_master(folder: Path) -> Iterator[Cluster]:
    """A master without workers."""
    cluster = Cluster(folder)
    try:
        log = cluster.start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        cluster.url = _await_line(log, r"Starting Spark master at (spark://[0-9.:]+)")
        _await_line(log, "I have been elected leader")
        yield cluster
    finally:
        cluster.stop()


def run_moneda(folder: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m server` in a folder, with Spark's settings for small programs."""
    return subprocess.run(
        [sys.executable, "-m", "server", *arguments],
        cwd=folder,
        env={**spark_environment(folder), "PYTHONPATH": f"{ROOT}{os.pathsep}{_packages()}", **settings},
        capture_output=True,
        text=True,
        timeout=5 * _PATIENCE,
        check=False,
    )


def _packages() -> str:
    import pyspark

    return str(Path(pyspark.__file__).parent.parent)


def _is_alive(process: subprocess.Popen[bytes]) -> bool:
    """Whether anything of its group still runs."""
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except ProcessLookupError:
        return False
    return True


def _await_line(log: Path, pattern: str) -> str:
    """Wait for a line; its first group, if it has one."""
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        found = re.search(pattern, log.read_text("utf-8", "replace"))
        if found:
            return found[1] if found.re.groups else found[0]
        time.sleep(0.05)
    raise TimeoutError(f"no {pattern!r} in {log.read_text('utf-8', 'replace')}")
