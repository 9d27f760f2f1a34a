"""Central queries: all the noisy numbers that an answer is made of."""

from typing import Any

from server.privacy import queries
from server.privacy.auditing.cases import Case, by_dealing

DELTA = 1e-6
_TREE = [("north", "alba"), ("north", "bruma"), ("south", "cala")]
_FAR = 1e16
"""Where floats are two apart: the middle of a range of two is one of its ends."""


def cases() -> list[Case]:
    """Each query under both kinds of neighbours."""
    return [
        _case("count(1)", 1.0, _audit_counts(), [1] * 3, [1] * 4),
        _case("count(1), Laplace", 1.0, _audit_counts(noise="laplace"), [1] * 3, [1] * 4),
        _case("count(1), bounded", 1.0, _audit_counts("bounded"), [1, 1, 0], [1, 1, 1]),
        _case("proportion(1)", 1.0, lambda data: queries.proportion(1.0).run(data), [], [1]),
        _case(
            "proportion(1), bounded", 1.0, lambda data: queries.proportion(1.0, "bounded").run(data), [0], [1]
        ),
        _case("mean(1) in [10, 11]", 1.0, _mean(10.0, 11.0), [], [11.0]),
        _case("mean(1) in [-1, 1]", 1.0, _mean(-1.0, 1.0), [-1.0], [-1.0, 1.0]),
        _case("mean(1) in [-1, 1], bounded", 1.0, _mean(-1.0, 1.0, "bounded"), [-1.0], [1.0]),
        _case("mean(1) in [1e16, 1e16 + 2]", 1.0, _mean(_FAR, _FAR + 2), [], [_FAR + 2]),
        _case(f"mean(1, delta {DELTA:g})", 1.0, _mean(-1.0, 1.0, delta=DELTA), [-1.0], [-1.0, 1.0], DELTA),
        _case(
            f"mean(1, delta {DELTA:g}), bounded",
            1.0,
            _mean(-1.0, 1.0, "bounded", DELTA),
            [-1.0],
            [1.0],
            DELTA,
        ),
        _case("histogram(1)", 1.0, lambda data: queries.histogram("ab", 1.0).run(data), ["a"], ["a", "b"]),
        _case(
            "histogram(1), bounded",
            1.0,
            lambda data: queries.histogram("ab", 1.0, "bounded").run(data),
            ["a"],
            ["b"],
        ),
        _case("table(1)", 1.0, _table(), ("a", "x"), ("ab", "xy")),
        _case("table(1), bounded", 1.0, _table("bounded"), ("a", "x"), ("b", "y")),
        _case("table(1), Laplace, bounded", 1.0, _table("bounded", "laplace"), ("a", "x"), ("b", "y")),
        _case("contingency(1)", 1.0, _contingency(), ("a", "x"), ("ab", "xy")),
        _case("contingency(1), bounded", 1.0, _contingency("bounded"), ("a", "x"), ("b", "y")),
        _case(
            "contingency(1), bounded, total known",
            1.0,
            _contingency("bounded", total=1),
            ("a", "x"),
            ("b", "y"),
        ),
        _case(
            "contingency(1), margins of their own", 1.0, _contingency(margins=0.25), ("a", "x"), ("ab", "xy")
        ),
        _case(
            "contingency(1), margins of their own, bounded",
            1.0,
            _contingency("bounded", 0.25),
            ("a", "x"),
            ("b", "y"),
        ),
        _case("hierarchy(1)", 1.0, _tree(), [], [_TREE[0]]),
        _case("hierarchy(1), bounded", 1.0, _tree("bounded", None), [_TREE[0]], [_TREE[2]]),
        _case("hierarchy(1), bounded, total known", 1.0, _tree("bounded", 1), [_TREE[0]], [_TREE[2]]),
    ]


def _case(name: str, claim: float, run: Any, first: Any, second: Any, delta: float = 0.0) -> Case:
    return by_dealing(f"query {name}", claim, run, first, second, delta)


def _audit_counts(neighbours: str = "unbounded", noise: str = "geometric") -> Any:
    return lambda data: queries.count(1.0, neighbours, noise).run(data)


def _mean(low: float, high: float, neighbours: str = "unbounded", delta: float = 0.0) -> Any:
    return lambda data: queries.mean(low, high, 1.0, neighbours, delta).run(data)


def _table(neighbours: str = "unbounded", noise: str = "geometric") -> Any:
    return lambda data: queries.table(["ab", "xy"], 1.0, neighbours, noise).run(*data)


def _contingency(neighbours: str = "unbounded", margins: float = 0.0, total: int | None = None) -> Any:
    return lambda data: queries.contingency(["ab", "xy"], 1.0, neighbours, margins, total).run(*data)


def _tree(neighbours: str = "unbounded", total: int | None = None) -> Any:
    return lambda data: queries.hierarchy(_TREE, 1.0, neighbours, total=total).run(data)
