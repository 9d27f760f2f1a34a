"""Modules of tests become code once, not once in each process that runs tests."""

import importlib
from contextlib import suppress
from pathlib import Path

import pytest


def import_share(config: pytest.Config) -> None:
    """Import what falls to this process before it collects, so that each leaves to the others what these need next.

    pytest rewrites the assertions of a module that is new, which takes as long as all else that collecting does, and
    keeps the outcome beside it. Processes that go through the modules side by side would each do all of it.
    """
    worker = getattr(config, "workerinput", None)
    if worker is None:
        return
    own = int(worker["workerid"].removeprefix("gw"))
    for path in sorted(_list_modules(config))[own :: worker["workercount"]]:
        # What cannot be imported is said where it is collected.
        with suppress(Exception):
            importlib.import_module(".".join(path.relative_to(config.rootpath).with_suffix("").parts))


def _list_modules(config: pytest.Config) -> set[Path]:
    return {
        path for asked in config.args for path in (config.invocation_params.dir / asked).rglob("test_*.py")
    }
