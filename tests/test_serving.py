"""A process that serves, from within."""

import os
import subprocess
import sys

from tests.conftest import NewDatabase
from tests.support import factories

COUNT = """
import gc
from server.web.serving import create_worker
front = create_worker()
print(gc.get_freeze_count(), len(gc.get_objects()))
front.close()
"""


def test_what_is_there_at_the_start_is_not_searched_for_garbage(sqlite: NewDatabase) -> None:
    """Looking through all of it takes a tenth of a second, in which nobody is answered."""
    parent = {"MONEDA_SERVING_PROCESS": str(os.getpid()), "MONEDA_SERVING_PROCESSES": "1"}
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        cwd=factories.ROOT,
        env={**factories.environment(sqlite(True)), **parent},
        capture_output=True,
        text=True,
        check=True,
    )
    kept, searched = map(int, done.stdout.split())
    assert kept > 50_000
    assert searched < kept / 10
