"""What a search is to find and what it may cost: untrusted values -> terms, and what these come to."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from server.inputs import N_, refuse, shorten_value
from server.inputs.decimals import format_decimal, parse_decimal
from server.privacy.selection import OngoingSearch, SearchNoise, begin_search, plan_search
from server.releases.basis import Basis
from server.releases.kinds.answer_shares import Share
from server.releases.kinds.base import is_countable
from server.releases.plans.items import Item, ItemKind
from server.releases.plans.plan_reader import LEAST_EPSILON, MOST_DELTA, MOST_EPSILON
from server.releases.spending import round_loss_down
from server.releases.survey_shapes import Shape, Variable

CHANGE = 1 << 20
"""The most by which one person changes what is compared, in the steps of `Share.weigh_excess`."""
MISSING = 0.05
"""How often an answer of a search may be wrong that is further away than what is told."""
MOST_POSITIVES = 100
MOST_QUESTIONS = 10_000
MOST_PEOPLE = 1_000_000_000


@dataclass(frozen=True)
class SearchTerms:
    """What a search compares with, when it ends, and what it costs at most.

    Attributes
    ----------
    share : Decimal or None
        The share to exceed, in (0, 1); or
    limit : int or None
        the number of people to exceed.
    positives : int
        After how many answers above nothing more is said.
    epsilon, delta : Decimal
    most : int or None
        How many questions there will be at most, if that is known: nothing but what is told of errors depends on it.
    """

    share: Decimal | None
    limit: int | None
    positives: int
    epsilon: Decimal
    delta: Decimal
    most: int | None

    @property
    def noise(self) -> SearchNoise:
        """How noisy its comparisons are."""
        return plan_search(self.positives, round_loss_down(self.epsilon), round_loss_down(self.delta))

    @property
    def item(self) -> Item:
        """As it stands in the ledger."""
        return Item(
            ItemKind.SEARCH,
            share=self.share,
            limit=self.limit,
            positives=self.positives,
            most=self.most,
            epsilon=self.epsilon,
            delta=Decimal(0) if self.noise.delta == 0 else self.delta,
        )


@dataclass(frozen=True)
class SearchPrice:
    """What a search costs, and how far off its answers may be.

    Attributes
    ----------
    epsilon, delta : Decimal
        What it takes from the budget whatever is asked; delta is 0 where granting one makes nothing more exact.
    noise : float
        Typical size of the noise of a comparison, in people.
    error : float
        In people: answers are right, all but in 5 of 100 searches, where the true number is further than this above or
        below the limit; of `most` questions, or of each by itself.
    """

    epsilon: Decimal
    delta: Decimal
    noise: float
    error: float

    strata = None
    """Everybody's loss, whatever stratum is asked about."""


def parse_terms(document: Mapping[str, object]) -> SearchTerms:
    """Numbers or texts by the names of `SearchTerms` -> terms.

    Raises
    ------
    InputError
        422 on the field.
    """
    share, limit = document.get("share"), document.get("limit")
    if (share is None) == (limit is None):
        field, missing = ("share", True) if share is None else ("limit", False)
        template = (
            N_("is required, or a number of people")
            if missing
            else N_("must be missing where there is a share to exceed")
        )
        raise refuse(422, field, template)
    most = document.get("most")
    return SearchTerms(
        share=None if share is None else parse_decimal(share, "share", Decimal("0.0001"), Decimal("0.9999")),
        limit=None if limit is None else _parse_whole(limit, "limit", MOST_PEOPLE),
        positives=_parse_whole(document.get("positives", 1), "positives", MOST_POSITIVES),
        epsilon=parse_decimal(document.get("epsilon"), "epsilon", LEAST_EPSILON, MOST_EPSILON),
        delta=parse_decimal(document.get("delta", "0"), "delta", Decimal(0), MOST_DELTA),
        most=None if most is None else _parse_whole(most, "most", MOST_QUESTIONS),
    )


def draw_search(terms: SearchTerms) -> OngoingSearch:
    """A search with the noise of its limit: from here on it is paid for."""
    return begin_search(terms.noise, CHANGE)


def price_search(basis: Basis, terms: SearchTerms) -> SearchPrice:
    """What a search would cost. No response is looked at."""
    units = [
        single.weigh_excess(None if terms.share is None else float(terms.share)).unit
        for single in list_answers(basis.shape)
    ]
    if not units:
        raise refuse(409, "survey", N_("must have a question whose answers can be counted"))
    noise, item = terms.noise, terms.item
    return SearchPrice(
        terms.epsilon,
        item.delta,
        max(units) * noise.variance(CHANGE) ** 0.5,
        max(units) * noise.error(terms.most or 1, MISSING, CHANGE),
    )


def list_answers(shape: Shape) -> list[Share]:
    """All answers that a search can be asked about; of yes and no the first is what is left of the other."""
    everybody = shape.within(())
    return [
        Share(shape, variable, answer, everybody)
        for variable in shape.variables
        for answer in answers_of(variable)
    ]


def answers_of(variable: Variable) -> tuple[str, ...]:
    """Those of a question that a search can be asked about."""
    if not is_countable(variable):
        return ()
    return variable.answers[1:] if variable.yes_no else variable.answers


def _parse_whole(value: object, field: str, most: int) -> int:
    number = parse_decimal(value, field, Decimal(1), Decimal(most))
    if number != int(number):
        template = N_("must be a whole number; it is %(value)s")
        raise refuse(422, field, template, value=shorten_value(format_decimal(number)))
    return int(number)
