"""A Spark session that starts, or says in one sentence why not, and leaves nothing behind."""

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
"""The oldest version of Java that Spark 4 runs on."""

_LOCAL = re.compile(r"local(\[([1-9][0-9]{0,3}|\*)\])?")
_PLACE = r"([A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\]):([0-9]{1,5})"
_STANDALONE = re.compile(rf"spark://{_PLACE}(,{_PLACE})*")
_ANSWER = 5.0
"""Seconds for a master to take a connection."""
_LAST = 4096


class SparkEngineError(ValueError):
    """Spark that does not start, or does not reach what it needs; says so in one sentence."""


@contextmanager
def open_session(master: str, patience: float) -> Iterator["SparkSession"]:
    """A session, until the caller is done with it (`open_spark`).

    What Spark writes down while it works stands in a folder that goes with it; what it says, no one reads.
    """
    local = _LOCAL.fullmatch(master) is not None
    if not local and not _STANDALONE.fullmatch(master):
        raise SparkEngineError(
            f"--master must be local, local[N], local[*] or spark://HOST:PORT; it is {master!r}"
        )
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    _require_java()
    if not local:
        _require_answer(master)
    with tempfile.TemporaryDirectory(prefix="moneda-spark-", ignore_cleanup_errors=True) as folder:
        conf = SparkConf().setMaster(master).setAppName("Moneda").setAll(_settings(folder, local=local))
        if local:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")  # else a machine without a name starts none
        with open(Path(folder, "said"), "w+b") as said:
            gateway: Any = None
            context: Any = None
            try:
                gateway = launch_gateway(conf, {"stdout": said, "stderr": said})
                context = SparkContext(conf=conf, gateway=gateway)
                if not local:
                    _await_worker(context, master, patience)
            except Exception as error:
                _end(context, gateway)
                if isinstance(error, SparkEngineError):
                    raise
                raise SparkEngineError(_explain_start(master, local, said)) from error
            try:
                yield SparkSession(context)
            finally:
                _end(context, gateway)


def _settings(folder: str, *, local: bool) -> list[tuple[str, str]]:
    """What differs from Spark's own settings; `spark-defaults.conf` may say the rest."""
    return [
        ("spark.local.dir", folder),
        ("spark.sql.warehouse.dir", f"{folder}/warehouse"),
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.shuffle.partitions", "8"),  # what is left after counting is small
        ("spark.sql.codegen.maxFields", "1000"),  # else surveys of more than 100 columns are read far slower
        *([("spark.driver.host", "127.0.0.1"), ("spark.driver.bindAddress", "127.0.0.1")] if local else []),
    ]


def _require_java() -> None:
    """Refuse where the Java that Spark would run on is missing or too old."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else shutil.which("java")
    needed = f"Spark needs Java {JAVA} or newer, a runtime without windows suffices"
    if program is None:
        raise SparkEngineError(f"{needed}; there is none: no JAVA_HOME is set, and no java is on the PATH")
    try:
        done = subprocess.run(  # noqa: S603 - whoever starts this process chose JAVA_HOME and PATH
            [program, "-version"], capture_output=True, text=True, check=False, timeout=60
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SparkEngineError(f"{needed}; {program} cannot be run: {error}") from error
    found = re.search(r'version "(?:1\.)?([0-9]+)', done.stderr + done.stdout)
    if done.returncode or found is None:
        raise SparkEngineError(f"{needed}; {program} does not say which it is")
    if int(found[1]) < JAVA:
        raise SparkEngineError(f"{needed}; {program} is Java {found[1]}")


def _require_answer(master: str) -> None:
    """Refuse masters of which none takes a connection: Spark itself would try for a minute."""
    failures = []
    for host, port in re.findall(_PLACE, master.removeprefix("spark://")):
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
        except (OSError, OverflowError) as error:
            failures.append(f"{host}:{port}: {error}")
        else:
            return
    raise SparkEngineError(f"the Spark master {master} does not answer ({'; '.join(failures)})")


def _await_worker(context: Any, master: str, patience: float) -> None:
    """Wait until a worker runs something for us; the driver itself counts as one."""
    until = time.monotonic() + patience
    while context._jsc.sc().getExecutorMemoryStatus().size() < 2:
        if time.monotonic() > until:
            raise SparkEngineError(
                f"{master} gave no worker within {patience:g} seconds: all are busy, have less memory than "
                f"spark.executor.memory, or cannot reach this machine as {context._conf.get('spark.driver.host')}"
            )
        time.sleep(0.1)


def _explain_start(master: str, local: bool, output: IO[bytes]) -> str:
    """Why Spark did not start, by the last exception that it wrote down."""
    from pyspark.version import __version__

    output.flush()
    output.seek(max(0, output.seek(0, os.SEEK_END) - _LAST))
    lines = output.read().decode("utf-8", "replace").splitlines()
    reasons = [line.strip() for line in lines if re.search(r"(Exception|Error)\b.*: ", line)]
    reason = f": {reasons[-1]}" if reasons else ""
    if local:
        return f"Spark {__version__} did not start{reason}"
    return (
        f"Spark {__version__} could not be started with {master}, which may run another version of Spark, or be "
        f"no Spark master{reason}"
    )


def _end(context: Any, gateway: Any) -> None:
    """Stop the session, and wait until its process is gone."""
    from pyspark import SparkContext

    if context is not None:
        with suppress(Exception):  # it may be the reason why we are here
            context.stop()
    if gateway is None:
        return
    with suppress(Exception):
        gateway.shutdown()
    gateway.proc.stdin.close()  # which is what it ends by
    try:
        gateway.proc.wait(30)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
    SparkContext._gateway = SparkContext._jvm = None
