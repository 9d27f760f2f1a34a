"""How an answer becomes the truths that are randomised, one for each byte of a report."""

from enum import StrEnum


class Encoding(StrEnum):
    """The ways there are; files for programs say them by these names."""

    WHOLE = "whole"
    """One design, whose rows are the answers."""
    ONE_HOT = "one_hot"
    """A design of two rows for each answer, exactly one of which is given."""
    BOXES = "boxes"
    """A design of two rows for each answer, any number of which are given."""
    LINE = "line"
    """One design; an answer is a point between its first two rows."""

    @property
    def by_answer(self) -> bool:
        """Whether each answer has a design of its own: not given, and given."""
        return self in (Encoding.ONE_HOT, Encoding.BOXES)

    @property
    def several(self) -> bool:
        """Whether any number of answers may be given at once."""
        return self is Encoding.BOXES

    @property
    def between_ends(self) -> bool:
        """Whether the first two rows are the ends of a range, which are no answers of anybody."""
        return self is Encoding.LINE
