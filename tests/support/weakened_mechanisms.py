"""Mechanisms with too little noise, each changed in one place.

Places are found in the source: calls that are told a loss, a scale or a sensitivity, functions that take a loss
or return a sensitivity, rates, noise, designs, and clamps of inputs.
"""

import ast
import functools
import importlib
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import CodeType, FunctionType, ModuleType
from typing import Any, get_type_hints

from server.privacy.auditing.cases import Case
from server.privacy.designs import BestChoice, Design
from server.releases.claims import registered_functions

DOUBLED = {"epsilon", "threshold_loss", "answers_loss", "exponent", "values_epsilon", "loss"}
"""Names of losses: twice as much is half of the noise."""
HALVED = {"scale", "sensitivity", "l2_sensitivity", "changes", "steps", "factor"}
"""Names of what noise grows with."""
RATES = {"rate"}
NOISES = {"geometric", "laplace", "gaussian"}
DECIDES = {
    "make_laplace",
    "make_gaussian",
    "WholeWeights",
    "scale_of",
    "allocate",
    "best_split",
    "_exponents",
    "rate_of",
    "round_loss_down",
}
"""What draws by other people's code, or draws nothing itself and decides how much is drawn."""


@dataclass(frozen=True)
class Mutant:
    """A function with one place changed."""

    name: str
    function: FunctionType
    code: CodeType


@contextmanager
def apply_mutant(mutant: Mutant) -> Iterator[None]:
    """Let the function run as changed; what was remembered of it is forgotten, before and after."""
    own = mutant.function.__code__
    mutant.function.__code__ = mutant.code
    forget()
    try:
        yield
    finally:
        mutant.function.__code__ = own
        forget()


def forget() -> None:
    """Empty every cache of a function of the privacy library."""
    for name, module in list(sys.modules.items()):
        for value in list(vars(module).values()) if name.startswith("server.privacy.") else ():
            if isinstance(value, functools._lru_cache_wrapper):
                value.cache_clear()


def mutants(module: ModuleType) -> Iterator[Mutant]:
    """All of a module."""
    source = inspect.getsource(module)
    for path, node in _functions(ast.parse(source)):
        function = _find_function(module, path)
        if function is None:
            continue
        for number, (what, _) in enumerate(_places(node, function)):
            tree = ast.parse(source)
            changed = dict(_functions(tree))[path]
            list(_places(changed, function))[number][1]()
            compiled = compile(ast.fix_missing_locations(tree), module.__file__ or "", "exec")
            name = f"{module.__name__}.{'.'.join(path)}: {what}"
            yield Mutant(name, function, _code(compiled, path))


Path = tuple[str, ...]
Node = ast.FunctionDef


def _functions(tree: ast.AST, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, (*path, child.name))
        elif isinstance(child, ast.FunctionDef):
            yield (*path, child.name), child


def _find_function(module: ModuleType, path: Path) -> FunctionType | None:
    value: Any = module
    for name in path:
        value = vars(value)[name]
    value = getattr(value, "__wrapped__", value)
    for inner in ("fget", "func", "__func__"):
        value = getattr(value, inner, value)
    return value if isinstance(value, FunctionType) else None


def _code(compiled: CodeType, path: Path) -> CodeType:
    for name in path:
        compiled = next(
            each for each in compiled.co_consts if isinstance(each, CodeType) and each.co_name == name
        )
    return compiled


Place = tuple[str, Callable[[], None]]


def _places(node: Node, function: FunctionType) -> Iterator[Place]:
    """What can be changed in a function, in words, and how."""
    decides = registered_functions.reaches_randomness(function) or get_type_hints(function).get("return") in (
        Design,
        BestChoice,
    )
    if decides and "epsilon" in inspect.signature(function).parameters:
        yield "takes twice the loss", functools.partial(_double_on_entry, node)
    if "sensitivit" in node.name or node.name in ("_steps", "_euclidean"):
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and inner.value is not None:
                yield "returns half", functools.partial(_halve_returned, inner)
    if node.name == "_gaussian":
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Tuple):
                yield "returns half a sensitivity", functools.partial(_scale_entry, inner.value.elts)
    for inner in ast.walk(node):
        if isinstance(inner, ast.Assign) and isinstance(inner.targets[0], ast.Name):
            if inner.targets[0].id in RATES:
                yield "twice the rate", functools.partial(_scale, inner, "value", 2.0)
        elif isinstance(inner, ast.Call):
            yield from _of_call(inner, function)


def _of_call(call: ast.Call, function: FunctionType) -> Iterator[Place]:
    written = ast.unparse(call.func)
    if written == "np.clip":
        yield f"without {ast.unparse(call)}", functools.partial(_bare, call)
        return
    if written in NOISES:
        yield f"without {written}", functools.partial(_bare, call)
    if written == "reports_of":
        yield "designs with rows further apart", functools.partial(_sharpen, call)
        return
    callee = function.__globals__.get(written) or _find_imported(written, function)
    callee = getattr(callee, "__wrapped__", callee)
    if callee is None or not _draws(callee):
        return
    names = list(inspect.signature(callee).parameters)
    for place, name in enumerate(names[: len(call.args)]):
        if isinstance(call.args[place], ast.Starred):
            return
        if name in DOUBLED | HALVED:
            nothing = ", no noise" if "NOTHING_ADDED" in ast.unparse(call) else ""
            change = functools.partial(_scale_argument, call, place, _factor(name))
            yield f"{written}({_tell_factor(name)}){nothing}", change
    for keyword in call.keywords:
        if keyword.arg in DOUBLED | HALVED:
            change = functools.partial(_scale, keyword, "value", _factor(keyword.arg))
            yield f"{written}({_tell_factor(keyword.arg)})", change


def _find_imported(name: str, function: FunctionType) -> Any:
    """What a function imports for itself under a name; of all names in its code, only modules' have dots."""
    modules = (importlib.import_module(each) for each in function.__code__.co_names if "." in each)
    return next((vars(module)[name] for module in modules if name in vars(module)), None)


def _draws(callee: Any) -> bool:
    """Whether a function or a class draws, or decides how much is drawn."""
    functions = list(registered_functions.functions_of(callee))
    named = getattr(callee, "__name__", "") in DECIDES
    return named or any(
        registered_functions.reaches_randomness(each)
        for each in functions
        if each.__module__.startswith("server.")
    )


def _factor(name: str) -> float:
    return 2.0 if name in DOUBLED else 0.5


def _tell_factor(name: str) -> str:
    return f"{'2' if name in DOUBLED else '1/2'} {name}"


def _double_on_entry(node: Node) -> None:
    after = 1 if isinstance(node.body[0], ast.Expr) else 0
    node.body[after:after] = ast.parse("epsilon = epsilon * 2").body


def _times(value: ast.expr, factor: float) -> ast.expr:
    """The value times a factor, entry by entry where it is a list; whole numbers stay exact."""
    other = "v * 2" if factor == 2.0 else "v / 2"
    made = ast.parse(
        f"(lambda w: [{other} for v in w] if isinstance(w, list) else [{other} for v in [w]][0])(0)"
    )
    (statement,) = made.body
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    statement.value.args = [value]
    return statement.value


def _scale(node: Any, field: str, factor: float) -> None:
    setattr(node, field, _times(getattr(node, field), factor))


def _scale_argument(call: ast.Call, place: int, factor: float) -> None:
    call.args[place] = _times(call.args[place], factor)


def _scale_entry(entries: list[ast.expr]) -> None:
    entries[0] = _times(entries[0], 0.5)


def _sharpen(call: ast.Call) -> None:
    """Each row moves away from one of equal weights, by half as much as it was apart; what is possible stays so."""
    centre = "w.sum(axis=1, keepdims=True) / w.shape[1]"
    further = f"(lambda w: (w + (w - {centre}) / 2).clip(1, 2**32 - 1).astype('int64'))(0)"
    (made,) = ast.parse(further).body
    assert isinstance(made, ast.Expr)
    assert isinstance(made.value, ast.Call)
    made.value.args = [call.args[0]]
    call.args[0] = made.value


def _halve_returned(node: ast.Return) -> None:
    assert node.value is not None
    node.value = _times(node.value, 0.5)


def _bare(call: ast.Call) -> None:
    """What was given, as it was."""
    value = call.args[0]
    call.func, call.args, call.keywords = (
        ast.Attribute(ast.Name("np", ast.Load()), "asarray", ast.Load()),
        [value],
        [],
    )


def own_cases(mutant: Mutant, cases: Iterable[Case], entered: Mapping[str, set[CodeType]]) -> list[Case]:
    """The cases that call a function: first those whose loss is computed, first those that call the fewest others.

    What dealing takes the place of is tried by what is drawn alone.
    """
    function = mutant.function
    own = [case for case in cases if function.__code__ in entered[case.mechanism]]
    if function.__module__ == "server.privacy.noise._opendp" and function.__name__.startswith("_"):
        own = [case for case in own if is_drawn(case)]
    return sorted(own, key=lambda case: (is_drawn(case), len(entered[case.mechanism])))


def is_drawn(case: Case) -> bool:
    """Whether a case is tried by running."""
    return "drawn" in case.mechanism
