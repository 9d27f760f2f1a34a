"""A second look at what failed in `make python-tests`: alone, three times, and all three must pass.

    python -m tests.support.rerun_failures STATUS

Thousands of tests drive browsers, servers and databases on busy cores, and now and then one of them
gives up waiting. That says something of the machine and is told apart here from what is broken. It
is no second chance for chance itself: a failed test of the mathematics, or one that counts what a
browser drew or sent, has failed. So has the run when more than a few tests did. STATUS is how pytest
ended; whatever was looked at again is named at the end, also when it passed.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FAILED = ROOT / ".pytest_cache/v/cache/lastfailed"
TESTS_FAILED = 1  # pytest's status for this; any other says that the run itself went wrong
TIMES = 3
AT_MOST = 3
# Statistics and promises of privacy: there a single failure is the evidence.
NEVER = (
    "tests/privacy/",
    "tests/browser/test_distribution.py",
    "tests/browser/test_traffic",
    "tests/test_kinds_estimates.py",
    "tests/test_planning_promise.py",
    "tests/test_storage.py",
    "tests/test_untranslated.py",
)


def refusal(status: int, failed: list[str]) -> str | None:
    """Why this run gets no second look; None where it gets one."""
    if status != TESTS_FAILED:
        return f"pytest ended with status {status}"
    if not 1 <= len(failed) <= AT_MOST:
        return f"{len(failed)} tests failed, and more than {AT_MOST} are no accident"
    if final := [name for name in failed if name.startswith(NEVER)]:
        return f"{final[0]} is about probabilities or what leaves a browser, where one failure counts"
    return None


def main(status: int) -> int:
    """The status to end with: 0 where everything that failed passed alone, every time."""
    failed = sorted(json.loads(FAILED.read_text())) if FAILED.exists() else []
    if why := refusal(status, failed):
        print(f"No second look: {why}.")
        return status
    print(f"== A second look at {len(failed)} of them, alone, {TIMES} times", flush=True)
    for _ in range(TIMES):
        again = subprocess.run([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *failed], cwd=ROOT)
        if again.returncode:
            print("Failed alone as well.")
            return again.returncode
    print(f"UNSTEADY: failed beside the others and passed {TIMES} times alone; to be mended:")
    print(*(f"  {name}" for name in failed), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
