"""All tallies exactly as they arrived: nobody knows who sent which of so many randomised responses."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from server.inputs import N_, Problem, refuse
from server.inputs.problems import InputError
from server.privacy.accounting import shuffle_amplification
from server.releases.kinds.base import Error, ItemDraw, is_bounded
from server.releases.kinds.joint_tables import JointTable
from server.releases.kinds.mean_items import MeanItem
from server.releases.noisy_cells import NOTHING_ADDED
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source
from server.releases.values import Figure

LEAST = 100
"""Responses that a survey needs: fewer hide nobody."""
_ANY = 1.0
"""Where nothing is added the loss plays no part."""
_EPSILON, _DELTA = Decimal("0.000000001"), Decimal("0.00000000000000000001")


@dataclass(frozen=True)
class Shuffling:
    """What it costs to publish all tallies exactly as they arrived.

    Attributes
    ----------
    epsilon, delta : Decimal
        The price, rounded up; delta is 1 / responses**2.
    responses : int
        Among how many a response hides.
    local_epsilon : float
        What one response lost when it was sent.
    """

    epsilon: Decimal
    delta: Decimal
    responses: int
    local_epsilon: float


def shuffling_of(shape: Shape) -> Shuffling | Problem:
    """The price of publishing all tallies exactly, or why it cannot be done.

    Responses to different versions were drawn from different designs, and their tallies are
    published side by side. A person answers one version, whichever it is, and hides among
    its responses only. So the price is that of the version with the fewest responses, and of the
    largest loss of any: where more hide, or each response loses less, the price is lower.
    Neighbours differ in what one person answered; the version and the link that they followed are
    the same, and the number of responses to each version becomes public.
    """
    if not is_bounded(shape):
        return Problem(
            "budget",
            N_("must be one that hides what people answered, not that they took part; it hides both"),
            {},
        )
    crowd = shape.crowd
    if crowd is None:
        return Problem("survey", N_("must show some responses first"), {})
    if crowd.responses < LEAST:
        template = N_("must have at least %(limit)s responses to each version; the fewest are %(value)s")
        return Problem("survey", template, {"limit": LEAST, "value": crowd.responses})
    found = shuffle_amplification(crowd.responses, crowd.epsilon, 1 / crowd.responses**2)
    epsilon = max(Decimal(repr(found.epsilon)).quantize(_EPSILON, rounding=ROUND_UP), _EPSILON)
    delta = (Decimal(1) / crowd.responses**2).quantize(_DELTA, rounding=ROUND_UP)
    return Shuffling(epsilon, delta, crowd.responses, crowd.epsilon)


@dataclass(frozen=True, eq=False)
class Shuffled:
    """The numbers of reports of all questions, exactly, and what they say."""

    shape: Shape
    price: Shuffling
    mechanism: str = "shuffling"

    @classmethod
    def of(cls, item: Item, shape: Shape, field: str) -> "Shuffled":
        """Check an item against a shape."""
        price = shuffling_of(shape)
        if isinstance(price, Problem):
            raise InputError(409, [price])
        if not shape.variables:
            raise refuse(422, f"{field}.kind", N_("must be something else; there are no questions"))
        return cls(shape, price)

    @property
    def leaves(self) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(len(self.shape.leaves)))

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """No noise is added."""
        return Error("share", 0.0)

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Count and estimate."""
        return ItemDraw(
            tuple(self._figures(source, confidence)),
            {"responses": self.price.responses, "local_epsilon": self.price.local_epsilon},
        )

    def _figures(self, source: Source, confidence: float) -> Iterator[Figure]:
        queries: list[JointTable | MeanItem] = []
        for variable in self.shape.variables:
            if variable.answers and not variable.first:
                queries.append(JointTable(self.shape, (variable,), self.leaves, mechanism=NOTHING_ADDED))
            if variable.values is not None:
                queries.append(MeanItem(self.shape, variable, self.leaves, NOTHING_ADDED))
        for query in queries:
            yield from query.draw(source, _ANY, 0.0, confidence).figures
