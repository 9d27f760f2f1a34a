"""Every example in the docstrings of the estimators runs, and every public function has one."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

from server.privacy import estimators

MODULES = [module.name for module in pkgutil.iter_modules(estimators.__path__, "server.privacy.estimators.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run_as_they_are(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_every_public_function_has_an_example() -> None:
    functions = [getattr(estimators, name) for name in estimators.__all__]
    missing = [
        function.__name__
        for function in functions
        if inspect.isfunction(function) and ">>>" not in (function.__doc__ or "")
    ]
    assert missing == []
