"""What the fields of the teaching pages are called, and how they are read from an address."""

from fractions import Fraction

from flask import request

from server.inputs import N_, refuse, shorten_value

LESSON_FIELDS = {
    "cards": N_("Cards"),
    "draws": N_("Draws"),
    "kept": N_("Strength of the coin"),
    "loss": N_("Privacy loss ε of one count"),
    "whose": N_("Whom the attacker is after"),
    "noise": N_("Noise"),
    "red": N_("Red cards"),
    "times": N_("How often the question is asked"),
}

LOSSES = {"0.1": Fraction(1, 10), "0.5": Fraction(1, 2), "1": Fraction(1), "2": Fraction(2)}
"""What an address calls each privacy loss of one count, in nats."""


def read_whole(field: str, default: int, low: int, high: int) -> int:
    """A whole number that the address holds.

    Raises
    ------
    InputError
        422 if it is none, or not from `low` to `high`.
    """
    text = request.args.get(field, str(default)).strip()
    if not (text.isascii() and text.isdigit() and len(text) < 10 and low <= int(text) <= high):
        template = N_("must be a whole number from %(low)s to %(high)s; it is %(value)s")
        raise refuse(422, field, template, low=low, high=high, value=shorten_value(text))
    return int(text)
