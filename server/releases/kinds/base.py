"""What every kind of item can do before and when it is paid for."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from server.inputs import N_, refuse, shorten_value
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item
from server.releases.survey_shapes import Shape, Source, Variable
from server.releases.values import Figure

OWN_LINK = ">"
"""The path of the survey's own link in a `Figure`; no stratum's name begins so."""
SEPARATOR = " > "


@dataclass(frozen=True)
class Error:
    """What to expect of an item.

    Attributes
    ----------
    unit : str
        Of the errors: "people", "share", "value", the number's own, or "value squared".
    noise : float or None
        Error of the noise alone, root mean squared; None where it depends on a number of people
        that is not known.
    whole : float or None
        Standard error of an estimate with coins, sampling and noise together; None as above, and
        for what is no estimate.
    """

    unit: str
    noise: float | None
    whole: float | None = None


@dataclass(frozen=True)
class ItemDraw:
    """What was drawn for an item."""

    figures: tuple[Figure, ...]
    notes: Mapping[str, float | int | str]


class Query(Protocol):
    """An item that the shape has everything for."""

    @property
    def mechanism(self) -> str:
        """What perturbs it, by name."""

    @property
    def leaves(self) -> tuple[int, ...]:
        """The places of the leaves that it covers."""

    def error(self, epsilon: float, delta: float, people: int | None) -> Error:
        """What to expect; looks at no data."""

    def draw(self, source: Source, epsilon: float, delta: float, confidence: float) -> ItemDraw:
        """Count, perturb, estimate."""


@runtime_checkable
class AddsNoise(Protocol):
    """An item that adds noise of one kind to numbers of people."""

    def noise(self, epsilon: float, delta: float) -> Noise:
        """What is added to each of them."""


@runtime_checkable
class ChoosesByPeople(Protocol):
    """An item that chooses among answers by how many people gave them, and says no number."""

    def log_odds(self, epsilon: float) -> float:
        """By how much an answer's log odds against the most common one fall, with each person behind it, at least."""


@dataclass(frozen=True)
class KindOffer:
    """What a page offers of each question by itself: which items, and how they are called beside it."""

    label: str
    items: Callable[[Variable, Shape], Iterable[Item]]


@dataclass(frozen=True)
class ReleaseKind:
    """A kind of item: how plans ask for it, what it is called, and what checks it.

    Attributes
    ----------
    kind : str
    title : str
        What pages and reports call it; with `%(share)s` for the share to exceed, `%(answers)s` for how many answers.
    query : callable or None
        An item, the shape, and the item's field in messages -> the item, checked. Of what is only
        booked, and never drawn, None.
    noises : tuple of str
        What can perturb it, its default first.
    questions : tuple of int
        The fewest and the most questions that it names.
    fields : tuple of str
        Those of a plan that only some kinds have.
    required : tuple of str
        Those of them without which there is no such item.
    unit : str
        Of its errors, without strata: "people", "share", "value", the number's own, or "value squared".
    of_a_stratum : bool
        Whether it can be asked of one stratum alone.
    by_leaf : bool
        Whether it tells of every stratum by itself, so that another stratum makes another item of it.
    own_price : bool
        Whether its price is its own: it stands alone in a plan, and nothing is divided.
    title_by_stratum : str
        What it is called by stratum; empty where there is no such thing.
    title_of_people : str
        What it is called where it compares with a number of people; with `%(limit)s` for that.
    offers : tuple of KindOffer
    example : mapping or None
        The rest of an item of this kind, asked of the table that the audit invents (`COLUMNS` in
        `claims/invented_people.py`): the audit has a row of it with each noise, under both neighbours.
        None of what is on trial in a way of its own.
    """

    kind: str
    title: str
    query: Callable[[Item, Shape, str], Query] | None
    noises: tuple[str, ...] = ("geometric",)
    questions: tuple[int, int] = (0, 0)
    fields: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    unit: str = "people"
    of_a_stratum: bool = True
    by_leaf: bool = False
    own_price: bool = False
    title_by_stratum: str = ""
    title_of_people: str = ""
    offers: tuple[KindOffer, ...] = ()
    example: Mapping[str, Any] | None = None


def is_countable(variable: Variable) -> bool:
    """Whether it has answers to count; a number has a mean instead."""
    return bool(variable.answers) and not variable.first


def leaves_of(item: Item, shape: Shape, field: str) -> tuple[int, ...]:
    """The places of the leaves that an item asks about.

    Raises
    ------
    InputError
        On its stratum, if there is none of that name.
    """
    found = shape.within(item.stratum)
    if not found:
        path = shorten_value(SEPARATOR.join(item.stratum))
        raise refuse(
            422, f"{field}.stratum", N_("must be a stratum of the survey; it is %(value)s"), value=path
        )
    return found


def variables_of(item: Item, shape: Shape, field: str) -> tuple[Variable, ...]:
    """The variables that an item names.

    Raises
    ------
    InputError
        On its questions, if there is none of a name.
    """
    found = []
    for name in item.questions:
        variable = shape.variable(name)
        if variable is None:
            template = N_("must be one of %(limit)s; it is %(value)s")
            limit = shorten_value(", ".join(each.name for each in shape.variables))
            raise refuse(422, f"{field}.questions", template, limit=limit, value=shorten_value(name))
        found.append(variable)
    return tuple(found)


def path_of(path: Sequence[str]) -> str:
    """A leaf's path in a `Figure`."""
    return SEPARATOR.join(path) or OWN_LINK


def count_known(shape: Shape, versions: Sequence[int], leaves: Sequence[int]) -> int | None:
    """The exact number of respondents to some versions from some leaves, where it is public."""
    everybody = len(leaves) == len(shape.leaves) and set(versions) == set(shape.versions)
    return shape.respondents if everybody else None


def is_bounded(shape: Shape) -> bool:
    """Whether neighbours differ in what one person said, not in whether they are there."""
    return shape.neighbours == "bounded"
