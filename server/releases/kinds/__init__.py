"""Each kind of item: what it asks of the responses, how it is perturbed, what is estimated from that.

`KINDS` is the one place that lists them. What reads plans, offers and words them, draws them and puts
them on trial goes by it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from server.inputs.problems import N_
from server.releases.kinds.answer_shares import Share
from server.releases.kinds.base import OWN_LINK, Error, ItemDraw, KindOffer, Query, ReleaseKind, is_countable
from server.releases.kinds.counts import Count, TreeCounts
from server.releases.kinds.joint_tables import JointTable
from server.releases.kinds.mean_items import mean_of
from server.releases.kinds.narrowed_sources import narrow_shape, narrow_source
from server.releases.kinds.quantiles import Quantiles
from server.releases.kinds.selections import Exceeding, MostCommon, TopAnswers
from server.releases.kinds.shuffled_tallies import Shuffled, Shuffling, shuffling_of
from server.releases.kinds.spreads import SpreadItem
from server.releases.kinds.sums import ColumnSum
from server.releases.plans.items import Item, ItemKind
from server.releases.spending import round_loss_down
from server.releases.survey_shapes import Shape, Source, Variable

__all__ = [
    "KINDS",
    "OWN_LINK",
    "Error",
    "ItemDraw",
    "Query",
    "ReleaseKind",
    "Shuffled",
    "Shuffling",
    "draw_item",
    "is_countable",
    "list_kinds",
    "offer_label",
    "query_of",
    "shuffling_of",
    "title_of",
]

_COUNTED = ("geometric", "laplace")
_USUAL_TOP = 3
"""How many of the most common answers a page offers by itself."""


def _yes(variable: Variable, _: Shape) -> Iterator[Item]:
    if variable.yes_no:
        yield Item(ItemKind.SHARE, (variable.name,), option="yes")


def _mean(variable: Variable, _: Shape) -> Iterator[Item]:
    if variable.values is not None:
        yield Item(ItemKind.MEAN, (variable.name,))


def _means(variable: Variable, shape: Shape) -> Iterator[Item]:
    if variable.values is not None and shape.strata:
        yield Item(ItemKind.MEAN, (variable.name,), by_stratum=True)


def _has_several(variable: Variable) -> bool:
    return is_countable(variable) and len(variable.answers) > 1 and not variable.yes_no


def _histogram(variable: Variable, _: Shape) -> Iterator[Item]:
    if _has_several(variable):
        yield Item(ItemKind.HISTOGRAM, (variable.name,))


def _most_common(variable: Variable, _: Shape) -> Iterator[Item]:
    if _has_several(variable):
        yield Item(ItemKind.MOST_COMMON, (variable.name,), noise="noisy_maximum")


def _top(variable: Variable, _: Shape) -> Iterator[Item]:
    if _has_several(variable) and len(variable.answers) > _USUAL_TOP:
        yield Item(ItemKind.TOP, (variable.name,), noise="exponential", how_many=_USUAL_TOP)


KINDS: Mapping[str, ReleaseKind] = {
    entry.kind: entry
    for entry in (
        ReleaseKind(
            ItemKind.COUNT,
            N_("Number of respondents"),
            Count.of,
            noises=_COUNTED,
            example={"stratum": ["south"]},
        ),
        ReleaseKind(
            ItemKind.SHARE,
            N_("Share of one answer"),
            Share.of,
            noises=_COUNTED,
            questions=(1, 1),
            fields=("option",),
            required=("option",),
            unit="share",
            offers=(KindOffer(N_("Share of “%(answer)s”"), _yes),),
            example={"question": "smokes", "option": "yes"},
        ),
        ReleaseKind(
            ItemKind.MEAN,
            N_("Mean"),
            mean_of,
            noises=(*_COUNTED, "gaussian"),
            questions=(1, 1),
            fields=("by_stratum",),
            unit="value",
            title_by_stratum=N_("Mean by stratum"),
            offers=(
                KindOffer(N_("Mean"), _mean),
                KindOffer(N_("Mean in each stratum, and weighted by population where all are known"), _means),
            ),
            example={"question": "hours"},
        ),
        ReleaseKind(
            ItemKind.SUM,
            N_("Sum"),
            ColumnSum.of,
            noises=_COUNTED,
            questions=(1, 1),
            unit="value",
            example={"question": "hours"},
        ),
        ReleaseKind(
            ItemKind.VARIANCE,
            N_("Variance and standard deviation"),
            SpreadItem.of,
            noises=_COUNTED,
            questions=(1, 1),
            unit="value squared",
            example={"question": "hours"},
        ),
        ReleaseKind(
            ItemKind.QUANTILES,
            N_("Median or other quantiles"),
            Quantiles.of,
            noises=("exponential",),
            questions=(1, 1),
            fields=("levels",),
        ),
        ReleaseKind(
            ItemKind.HISTOGRAM,
            N_("Shares of all answers"),
            JointTable.of,
            noises=_COUNTED,
            questions=(1, 1),
            fields=("breaks",),
            unit="share",
            offers=(KindOffer(N_("Shares of all answers"), _histogram),),
            example={"question": "drink"},
        ),
        ReleaseKind(
            ItemKind.TABLE,
            N_("Joint table"),
            JointTable.of,
            noises=_COUNTED,
            questions=(1, 3),
            fields=("by_stratum",),
            unit="share",
            title_by_stratum=N_("Table by stratum"),
            example={"questions": ["smokes", "drink"]},
        ),
        ReleaseKind(
            ItemKind.HIERARCHY,
            N_("Respondents in every stratum"),
            TreeCounts.of,
            of_a_stratum=False,
            by_leaf=True,
            example={},
        ),
        ReleaseKind(
            ItemKind.MOST_COMMON,
            N_("Most common answer"),
            MostCommon.of,
            noises=("noisy_maximum", "exponential"),
            questions=(1, 1),
            offers=(KindOffer(N_("Most common answer, without any number"), _most_common),),
        ),
        ReleaseKind(
            ItemKind.TOP,
            N_("The %(answers)s most common answers"),
            TopAnswers.of,
            noises=("exponential",),
            questions=(1, 1),
            fields=("how_many",),
            required=("how_many",),
            offers=(
                KindOffer(N_("The three most common answers, in no order and without any number"), _top),
            ),
        ),
        ReleaseKind(
            ItemKind.EXCEEDING,
            N_("Shares above %(share)s %%"),
            Exceeding.of,
            questions=(1, 1000),
            fields=("share", "positives", "values"),
            required=("share",),
            unit="share",
        ),
        ReleaseKind(
            ItemKind.SHUFFLED,
            N_("Exact tallies of all questions"),
            Shuffled.of,
            of_a_stratum=False,
            own_price=True,
        ),
        ReleaseKind(
            ItemKind.SEARCH,
            N_("Search for shares above %(share)s %%"),
            None,
            fields=("share", "positives", "limit", "most"),
            title_of_people=N_("Search for answers of more than %(limit)s people"),
        ),
        ReleaseKind(ItemKind.DECLARED, N_("Declared as spent elsewhere"), None),
    )
}
"""In the order in which a page offers what suits a question."""


def list_kinds() -> tuple[str, ...]:
    """Every kind that can be released."""
    return tuple(entry.kind for entry in KINDS.values() if entry.query is not None)


def title_of(item: Item) -> str:
    """What an item is called, to be translated; `%(share)s`, `%(limit)s` or `%(answers)s` stands for what it has."""
    entry = KINDS[item.kind]
    if item.limit is not None:
        return entry.title_of_people
    if item.how_many == 1:  # of which “answers” would say too much
        return KINDS[ItemKind.MOST_COMMON].title
    return entry.title_by_stratum if item.by_stratum else entry.title


def offer_label(item: Item, variable: Variable, shape: Shape) -> str:
    """What an item that a page offers by itself is called beside its question, to be translated."""
    return next(offer.label for offer in KINDS[item.kind].offers if item in offer.items(variable, shape))


def query_of(item: Item, shape: Shape, field: str) -> Query:
    """An item, checked against what there is.

    Raises
    ------
    InputError
        Naming what of the item (`field`) there is not.
    """
    query = KINDS[item.kind].query
    assert query is not None  # no plan asks for what is only booked
    return query(item, narrow_shape(item, shape, field), field)


def draw_item(item: Item, source: Source, field: str, confidence: float) -> ItemDraw:
    """Count, perturb and estimate an item whose loss is stated: what every release does, and is audited.

    Raises
    ------
    InputError
        As `query_of`.
    """
    assert item.epsilon is not None  # the plan was divided
    query, rows_each = query_of(item, source.shape, field), source.shape.rows_each
    epsilon, delta = round_loss_down(item.epsilon, rows_each), round_loss_down(item.delta)
    found = query.draw(narrow_source(item, source, field), epsilon, delta, confidence)
    return found if rows_each == 1 else replace(found, notes={**found.notes, "rows_each": rows_each})
