"""What is written into the log of a survey by pages and by programs alike."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from server.inputs.decimals import format_decimal
from server.people.change_log import Action
from server.releases.values import Ledger, Released
from server.store.models import Survey
from server.study import strata
from server.web.context import session
from server.web.security import record


def record_strata(survey: Survey, added: int, lines: int) -> None:
    """Strata that were added by so many lines, or given a population."""
    record(Action.STRATA_ADDED if added else Action.STRATA_CHANGED, survey, count=added or lines)


def record_populations(survey: Survey, before: Mapping[int, int | None]) -> None:
    """Each population that is another one than before (`strata.populations_of`)."""
    for change in strata.population_changes(before, strata.tree(session(), survey)):
        old, new = ("–" if number is None else number for number in (change.old, change.new))
        record(Action.POPULATION_CHANGED, survey, stratum=change.path, old=old, new=new)


def record_release(survey: Survey, before: Ledger, made: Sequence[Released]) -> bool:
    """Whether some of what was made is new, and not in the ledger from before; that is written down as one release."""
    new = [entry for entry in made if entry.entry > len(before.released)]
    if new:
        spent = sum((entry.epsilon for entry in new), Decimal(0))
        record(Action.RELEASED, survey, number=new[0].release, epsilon=format_decimal(spent))
    return bool(new)
