"""A question of whose answers exactly one is given."""

from server.inputs.problems import E_
from server.study.kinds.examples import OPTIONS
from server.study.kinds.kind import Kind, fill_byte_by_answer

SELECT_ONE = Kind(
    name="select_one",
    title=E_("One of several"),
    use=E_("The results estimate the share of each answer."),
    example={"options": OPTIONS},
    page_parts=frozenset({"options.js", "labels.js"}),
    planned_for=("best_choice", "k_ary", "unary", "symmetric_unary"),
    most_bytes=fill_byte_by_answer,
)
