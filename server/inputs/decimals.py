"""Decimals, kept exactly: numbers and texts -> `Decimal`."""

from decimal import Decimal, InvalidOperation

from server.inputs.problems import N_, refuse, shorten_value

MOST_DECIMALS = 20
"""Digits after the point: sums of ten thousand losses are then exact, and fit into a column of 40."""

_WITHIN = N_("must be from %(low)s to %(high)s; it is %(value)s")
_BETWEEN = N_("must be more than %(low)s and at most %(high)s; it is %(value)s")


def format_decimal(number: Decimal) -> str:
    """A decimal as people write it: no exponent, no zeros at its end.

    Examples
    --------
    >>> format_decimal(Decimal("1E+1")), format_decimal(Decimal("0.500"))
    ('10', '0.5')
    """
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def read_decimal(text: str) -> Decimal | None:
    """What a text says as a number; None if it is none.

    Python leaves out underscores between digits. Here 0_5 is no number: who meant 0.5 would get 5.
    """
    try:
        return None if "_" in text else Decimal(text.strip())
    except (InvalidOperation, ValueError):
        return None


def parse_decimal(value: object, field: str, low: Decimal, high: Decimal, *, above: bool = False) -> Decimal:
    """A number, or a text that is one, kept exactly.

    Parameters
    ----------
    above : bool
        Whether `low` itself is refused.

    Raises
    ------
    InputError
        Naming the field, the range and the value.
    """
    read = read_decimal(value if isinstance(value, str) else repr(value))
    number = Decimal("NaN") if read is None else read
    limits = {"low": format_decimal(low), "high": format_decimal(high), "value": shorten_value(value)}
    fits = number.is_finite() and (low < number if above else low <= number) and number <= high
    if not fits:
        raise refuse(422, field, _BETWEEN if above else _WITHIN, **limits)
    if -int(number.as_tuple().exponent) > MOST_DECIMALS:
        template = N_("must have at most %(limit)s digits after the point; it is %(value)s")
        # As it was written: 1e-999999999 would be a gigabyte of zeros.
        raise refuse(422, field, template, limit=MOST_DECIMALS, value=limits["value"])
    return number
