"""How many were invited, and how many of them answered: as far as a report may tell it."""

from dataclasses import dataclass

from server.study.study_sheets import StudySheet

RESPONSE_RATE, PARTICIPATION_RATE = "AAPOR RR1", "AAPOR participation rate"
"""What AAPOR's Standard Definitions call the rate: of everybody or a probability sample, or of other people."""


@dataclass(frozen=True)
class InvitedCodes:
    """The codes of a survey, all versions and links together.

    Attributes
    ----------
    issued : int
    withdrawn : int
        Of them, those in batches that were withdrawn since; used or not.
    used : int or None
        Exactly how many let a response in: only of a closed survey in whose report every response counts and came
        with a code, as it then tells no more than the number of responses. None elsewhere.
    closed : bool
        Whether the survey is closed.
    """

    issued: int
    withdrawn: int
    used: int | None
    closed: bool

    @property
    def rate(self) -> float | None:
        """Complete responses to all codes issued, as a fraction.

        AAPOR's RR1, the lowest of its response rates: whether a code reached somebody of the population is unknown, so
        that every one stands below the line. No response is partial.
        """
        return None if self.used is None else self.used / self.issued


def name_rate(study: StudySheet) -> str:
    """What the rate is called of the sample that a study sheet states."""
    return PARTICIPATION_RATE if study.sampling == "nonprobability" else RESPONSE_RATE
