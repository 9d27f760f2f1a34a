"""A design that the options of `estimate` describe: a coin, a mechanism of a strength, or a matrix."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from server.inputs import shorten_value
from server.privacy.designs import TOTAL, Design, coin_flip, custom, for_epsilon, k_ary, ordinal, unary

MECHANISMS: dict[str, Callable[[int, float], Design]] = {
    "coin_flip": lambda _, epsilon: for_epsilon(epsilon),
    "k_ary": k_ary,
    "ordinal": ordinal,
    "unary": lambda _, epsilon: unary(epsilon),
    "symmetric_unary": lambda _, epsilon: unary(epsilon, optimised=False),
}


def describe_design(
    gamma: float | None, mechanism: str | None, options: int, epsilon: float | None, matrix: str | None
) -> Design:
    """The design that one of three ways describes."""
    ways = {"--gamma": gamma, "--mechanism": mechanism, "--design": matrix}
    chosen = [name for name, value in ways.items() if value is not None]
    if len(chosen) != 1:
        text = " and ".join(chosen) or "none"
        raise click.UsageError(f"one of --gamma, --mechanism and --design must be given; given: {text}")
    if gamma is not None:
        return coin_flip(gamma)
    if matrix is not None:
        return _from_matrix(matrix)
    if epsilon is None:
        raise click.UsageError("--mechanism needs --epsilon; it is missing")
    return MECHANISMS[str(mechanism)](options, epsilon)


def _from_matrix(text: str) -> Design:
    try:
        source = text if text.lstrip().startswith(("[", "{")) else Path(text).read_text("utf-8")
        rows: Any = json.loads(source)
    except OSError as error:
        raise click.UsageError(
            f"--design must be a file or JSON; {text!r} is neither: {error.strerror}"
        ) from error
    except RecursionError:
        raise click.UsageError("--design must not be nested this deeply") from None
    except ValueError as error:  # no JSON, or no UTF-8
        raise click.UsageError(f"--design must be JSON; it is not: {error}") from error
    if not isinstance(rows, list) or not rows or not all(map(_is_row, rows)):
        raise click.UsageError(
            f"--design must be a list of rows, each a list of numbers; it is {shorten_value(rows)}"
        )
    weights = all(sum(row) == TOTAL for row in rows)
    return Design(rows) if weights else custom(rows)


def _is_row(row: object) -> bool:
    return isinstance(row, list) and all(
        isinstance(each, int | float) and not isinstance(each, bool) for each in row
    )
