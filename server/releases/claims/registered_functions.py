"""What can be run, found by walking what is registered, and what of it no case runs.

A mechanism is what a source of randomness can be reached from: a public function or class of a package of
`server.privacy`, what makes a design or promises a loss, and whatever else in `server` calls one of these.
Besides there are the kinds of releases, and of questions. Nobody has to remember to name a new one here.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, get_type_hints

import server
import server.privacy
from server.privacy.accounting import Amplification, Composition, Loss
from server.privacy.auditing.cases import Case
from server.privacy.designs import BestChoice, Design
from server.releases import kinds
from server.releases.budgets import NEIGHBOURS
from server.releases.claims import question_cases
from server.releases.claims.invented_people import name_case
from server.releases.kinds import KINDS
from server.releases.plans.items import ItemKind

_SOURCES = ("opendp", "secrets", "random", "numpy.random")
"""Modules that numbers are drawn from."""
_DRAWS = "urandom"
"""A function that draws."""
_REPORTS = "reports_of"
"""What makes reports of coins that were drawn; whoever calls it is a mechanism, whoever looks at a design is not."""
_MADE = (Design, BestChoice, Loss, Composition, Amplification)
"""Whoever returns one of these makes a claim."""
_NOT_ON_TRIAL = (
    "server.privacy.auditing",
    "server.releases.claims",
    "server.store.migrations",
    "server.__main__",
)
_INVENTED = ("server.simulation", "server.web.lessons")
"""People there are invented: they meet the same coins and noise, and have nothing to hide."""
_ELSEWHERE = ("noise", "selection", "queries", "designs")
"""Packages whose mechanisms need a case wherever else in `server` they are called."""
_REFUSED = {(ItemKind.SHUFFLED, "unbounded")}
"""What cannot be released."""


def find_missing(cases: Iterable[Case]) -> list[str]:
    """What can be run and no case runs, by name.

    Each case is run once to see what it calls.
    """
    shipped = [case for case in cases if case.once is not None]
    entered: set[CodeType] = set()
    for case in shipped:
        entered |= codes_entered(case)
    return find_lacking(entered, {case.covers for case in shipped})


def find_lacking(entered: Set[CodeType], named: Set[str]) -> list[str]:
    """What can be run, but for what was entered and, of what is registered by name, is named."""
    items = {**_of_privacy(), **_elsewhere()}
    registered = list_registered_kinds() | {
        question_cases.name_case(*each) for each in question_cases.list_mechanisms()
    }
    return sorted(name for name, codes in items.items() if not codes <= entered) + sorted(registered - named)


def codes_entered(case: Case) -> set[CodeType]:
    """The code of each function that a case calls when it runs its mechanism once."""
    assert case.once is not None
    found: set[CodeType] = set()

    def see(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        case.once()
    finally:
        sys.setprofile(before)
    return found


def list_registered_kinds() -> set[str]:
    """Each kind of release with each noise, under both kinds of neighbours."""
    return {
        name_case(kind, noise, neighbours)
        for kind in kinds.list_kinds()
        for noise in KINDS[kind].noises
        for neighbours in NEIGHBOURS
        if (kind, neighbours) not in _REFUSED
    }


def functions_of(item: Any) -> Iterator[FunctionType]:
    """A function itself, or those of a class."""
    if isinstance(item, FunctionType):
        yield item
    elif isinstance(item, type):
        for value in vars(item).values():
            if isinstance(value, FunctionType):
                yield value
            elif isinstance(value, property) and isinstance(value.fget, FunctionType):
                yield value.fget
            elif isinstance(value, cached_property):
                yield value.func  # type: ignore[misc]  # it is a function
            elif isinstance(value, classmethod | staticmethod):
                yield value.__func__  # type: ignore[misc]  # it is one here too


def _of_privacy() -> dict[str, set[CodeType]]:
    """Every mechanism and every promise of a package, by name, with the functions that a case must call."""
    found = {}
    for package in _packages():
        for name in package.__all__:
            item = getattr(package, name)
            codes = _drawing(item)
            if isinstance(item, FunctionType) and (codes or _promises(item)):
                codes = {item.__code__}
            if codes:
                found[f"{package.__name__}.{name}"] = codes
    return found


def _packages() -> Iterator[ModuleType]:
    for module in pkgutil.iter_modules(server.privacy.__path__, "server.privacy."):
        if module.ispkg and module.name not in _NOT_ON_TRIAL:
            yield importlib.import_module(module.name)


def _promises(function: FunctionType) -> bool:
    return get_type_hints(function).get("return") in _MADE


def _elsewhere() -> dict[str, set[CodeType]]:
    """What else in `server` calls a mechanism."""
    mechanisms = {
        id(getattr(package, name))
        for package in _packages()
        if package.__name__.rpartition(".")[2] in _ELSEWHERE
        for name in package.__all__
        if isinstance(getattr(package, name), FunctionType) and _drawing(getattr(package, name))
    }
    found = {}
    for module in _modules():
        for name, item in vars(module).items():
            if getattr(item, "__module__", None) != module.__name__:
                continue
            codes = {
                function.__code__
                for function in functions_of(item)
                if any(id(value) in mechanisms for value in _resolve_names(function))
            }
            if codes:
                found[f"{module.__name__}.{name}"] = codes
    return found


def _modules() -> Iterator[ModuleType]:
    for module in pkgutil.walk_packages(server.__path__, "server."):
        if not module.name.startswith(("server.privacy", *_NOT_ON_TRIAL, *_INVENTED)):
            yield importlib.import_module(module.name)


def reaches_randomness(function: FunctionType) -> bool:
    """Whether a source of randomness can be reached from a function."""
    return _reaches(function, {})


def _drawing(item: Any) -> set[CodeType]:
    """Those functions of an item from which a source of randomness is reached at once or through others."""
    seen: dict[CodeType, bool] = {}
    return {
        function.__code__
        for function in functions_of(item)
        if _reaches(function, seen) or _REPORTS in function.__code__.co_names
    }


def _reaches(function: FunctionType, seen: dict[CodeType, bool]) -> bool:
    if function.__code__ not in seen:
        seen[function.__code__] = False
        seen[function.__code__] = _imports_source(function) or any(
            _is_source(value)
            or any(_reaches(inner, seen) for inner in functions_of(value) if _is_ours(inner))
            for value in _resolve_names(function)
        )
    return seen[function.__code__]


def _is_ours(function: FunctionType) -> bool:
    return function.__module__.startswith("server.") and function.__module__ != "server.privacy._checks"


def _imports_source(function: FunctionType) -> bool:
    """Whether a source is imported where it is called; of all names in a code, only imported modules' have dots."""
    return any("." in name and name.startswith(_SOURCES) for name in _names(function.__code__))


def _is_source(value: Any) -> bool:
    if isinstance(value, ModuleType):
        return value.__name__.startswith(_SOURCES)
    module = getattr(value, "__module__", None) or ""
    return module.startswith(_SOURCES) or getattr(value, "__name__", None) == _DRAWS


def _resolve_names(function: FunctionType) -> Iterator[Any]:
    """What the names in a function's code stand for, as far as can be told without running it."""
    names = set(_names(function.__code__))
    space: Mapping[str, Any] = function.__globals__
    for name in names:
        value = getattr(space.get(name), "__wrapped__", space.get(name))
        if value is None:
            continue
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value)[other] for other in names if other in vars(value))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
