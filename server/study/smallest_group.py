"""The smallest group that is shown, and what waits until there are enough: the one rule of withholding.

Fewer responses than a survey's minimum are withheld wherever results are shown, and while the survey is open
what is shown grows by the minimum or more (`server.collect.batches`).
"""

from dataclasses import dataclass

from server.store.models import State, Survey

DEFAULT_MINIMUM = 10
"""Of a new survey."""
LEAST_MINIMUM, LARGEST_MINIMUM = 3, 1_000
"""What researchers may choose."""


def least_kept(minimum: int) -> int:
    """How many responses of a cell stay behind when others of it are sealed, until the survey is closed.

    With them closing shows as many as the minimum, or more. With a minimum of 1 nobody is to be protected.
    """
    return minimum if minimum > 1 else 0


def waiting_limit(minimum: int) -> int:
    """Fewer than so many responses of a cell wait, always."""
    return least_kept(minimum) + minimum


def current_waiting_limit(survey: Survey) -> int:
    """Fewer than so many responses to each version by each link, in each way, are not shown; 0 once it is closed.

    It depends on the settings alone, not on whether any response waits.
    """
    return waiting_limit(survey.minimum) if survey.state == State.OPEN else 0


def hides_responses(survey: Survey) -> bool:
    """Whether responses may wait that are not shown; with a minimum of 1 nobody is to be protected."""
    return current_waiting_limit(survey) > 1


@dataclass(frozen=True)
class Unseen:
    """What is not shown of a survey while it is open, whether anybody has responded or not.

    Attributes
    ----------
    each : int
        Of each version by each link fewer responses than this.
    links : int
        The survey's own and those of strata.
    number : int
        Of everything fewer than this; 0 where all is shown.
    """

    each: int
    links: int
    number: int


def limit_unseen(minimum: int, strata: int, versions: int = 1, ways: int = 1) -> Unseen:
    """What waits at most, where so many strata have a link; `ways` are those in which responses were collected."""
    at_link, links = ways * (waiting_limit(minimum) - 1), strata + 1
    most = versions * links * at_link
    return Unseen(at_link + 1, links, most + 1 if most else 0)
