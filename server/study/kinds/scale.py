"""A question whose answers stand in an order, from least to most."""

from server.inputs.problems import E_
from server.study.kinds.examples import OPTIONS
from server.study.kinds.grids import Number
from server.study.kinds.kind import Kind, QuestionLike, ShownResult, answered_of


def _give_ends(question: QuestionLike) -> tuple[Number, Number]:
    return 1, len(question.options)


def _list_estimands(question: QuestionLike) -> tuple[ShownResult, ...]:
    return ShownResult("mean", answered_of(question), len(question.options) - 1.0), ShownResult("shares")


SCALE = Kind(
    name="scale",
    title=E_("Scale"),
    use=E_("Answers in order, from least to most. The results estimate the mean and the share of each."),
    options_title=E_("Answers, from least to most"),
    levels=True,
    example={"options": OPTIONS},
    page_parts=frozenset({"options.js", "labels.js", "label-scale"}),
    with_refusal=("k_ary",),
    design_of_use={"for_shares": "k_ary", "for_average": "ordinal"},
    planned_for=("ordinal",),
    give_ends=_give_ends,
    list_estimands=_list_estimands,
)
