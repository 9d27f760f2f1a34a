"""What the fields of the teaching pages are called, and how they are read from an address."""

from fractions import Fraction

from flask import request

from server.inputs import N_, parse_whole_number

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
    return parse_whole_number(request.args.get(field, str(default)), field, low, high)
