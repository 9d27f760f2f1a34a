"""Whole numbers that people type into a form or an address -> `int`, within a range that the refusal names."""

from server.inputs.problems import N_, refuse, shorten_value

_MOST_DIGITS = 9


def parse_whole_number(text: str, field: str, low: int, high: int) -> int:
    """A whole number from `low` to `high`, of at most nine digits.

    Raises
    ------
    InputError
        422, naming the field, the range and what was typed.
    """
    text = text.strip()
    digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
    if not digits or not low <= int(text) <= high:
        template = N_("must be a whole number from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, field, template, low=low, high=high, value=shorten_value(text) or "-")
    return int(text)
