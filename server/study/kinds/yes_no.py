"""A question that is answered Yes or No, where Yes is the sensitive answer."""

from server.inputs.problems import E_, N_
from server.study.kinds.kind import USUAL_SHARE, Kind, QuestionLike, ShownResult, estimate_shares


def _name_answers(_question: QuestionLike) -> tuple[str, ...]:
    return tuple(_FIXED)


def _list_estimands(question: QuestionLike) -> tuple[ShownResult, ...]:
    return estimate_shares(question) if question.prefer_not_to_say else (ShownResult("share"),)


_FIXED = {"no": N_("No"), "yes": N_("Yes")}

YES_NO = Kind(
    name="yes_no",
    title=E_("Yes or no"),
    use=E_(
        "Ask so that Yes is the sensitive answer, as in “Have you ever copied in an exam?”: "
        "the results estimate the share of Yes."
    ),
    fixed=_FIXED,
    by_device=True,
    with_refusal=("k_ary",),
    refusal_only=("k_ary",),
    by_gamma=("coin_flip",),
    planned_for=("coin_flip", "warner", "forced_response", "unrelated_question", "kuk", "crosswise"),
    name_answers=_name_answers,
    list_estimands=_list_estimands,
    usual_otherwise="no",
    main="yes",
    usual_share=USUAL_SHARE,
)
