"""What must be known of an explanation as a whole, in sentences."""

from collections.abc import Callable, Iterator

from server.inputs import N_
from server.privacy.estimators.answer_pairs import MOST_FREE
from server.privacy.estimators.regression import LikelihoodRatioTest
from server.reports.explaining.explained_answer import ExplainedAnswer
from server.reports.weighting_notes import WITHIN_STRATA, Translate

PRIOR = N_(
    "The responses alone leave some odds ratio without an end: some group reports “yes” as seldom, or as often, as "
    "the coins alone would, or there are few responses. So a weak prior was added to each coefficient (log-F(1, 1)), "
    "which tells as much as one person whose answer is known."
)
OPEN = N_(
    "Where it says “at least” or “at most”, the responses set no other end. The odds ratio before it hangs on the "
    "prior."
)
LARGER = N_("A p value is the larger of two: with the prior, and by the responses alone.")
CAUSE = N_(
    "What goes together need not be cause and effect, and what is not among the predictors may be behind it."
)
THROUGH_COINS = N_("Other randomised answers are read through their own coins, which makes intervals wider.")
MANY_COMBINATIONS = N_(
    "The answers that were chosen have %(number)s combinations. In made-up studies of 10,000 people at γ = 1/4, with "
    "256 and 1,024 of them, 91 of 100 intervals held an odds ratio that was not 1, where 95 should."
)
PAIRS = N_(
    "The answers that were chosen have %(number)s combinations. How often each occurs is taken to follow from single "
    "answers and pairs of them. Where three or more have something in common beyond that, odds ratios may be off."
)
WEIGHTED = N_(
    "Rows count as their weights say; intervals and tests are by how the rows were drawn, as far as that is stated, "
    "and leave the size of the population aside."
)
ROBUST = N_(
    "Standard errors are robust (sandwich), by how responses vary inside each stratum. Where they are small, an "
    "interval is the estimate plus and minus as many of them as Student’s t says; else that of the profile of the "
    "weighted likelihood, as much wider as they are. Tests are of that likelihood, corrected likewise (Rao and Scott "
    "1984). How large each population is counts as known."
)
NOT_WEIGHED = N_("With strata that count by their populations this could not be worked out.")
WEEKS = N_(
    "A week is that in which a response was first shown, which may be later than the one in which it came. Weeks with "
    "few are taken together with others."
)
UNKNOWN_WEEK = N_(
    "Not in it, as the week in which they were first shown is not kept: %(number)s. They came in an archive, before "
    "weeks were kept, by the same link as a response that was taken back, or by one whose responses were counted anew."
)
ORDERED = N_(
    "The odds are those of a level or a higher one against all lower ones, the same at each step (proportional odds)."
)
STEPS_DIFFER = N_(
    "The steps seem to differ (%(p)s): take one odds ratio for all of them as a rough summary, and explain single "
    "answers beside it."
)
STEPS_ALIKE = N_("Nothing shows that the steps differ (%(p)s).")
STEPS_UNKNOWN = N_("Whether the steps differ, these responses do not tell.")
OPTIONS = N_(
    "The odds are those of each answer against the first one, “%(answer)s” (multinomial logistic model)."
)
NUMBERS = N_(
    "Differences are of the mean, with all else as it is (a linear model); intervals hold whatever the spread of the "
    "numbers (sandwich)."
)
SURE = 0.05
"""The p value from which on nothing shows that steps differ."""


def list_notes(
    explained: ExplainedAnswer,
    translate: Translate,
    answer: str,
    p_value: Callable[[float], str],
    integer: Callable[[int], str],
) -> Iterator[str]:
    """What must be known of the whole; `answer` is the first one, as it is called."""
    if explained.model == "cumulative":
        yield translate(ORDERED)
        yield _say_of_steps(explained.explanation.parallel, translate, p_value)
    if explained.model == "multinomial":
        yield translate(OPTIONS, answer=answer)
    if explained.model == "linear":
        yield translate(NUMBERS)
    if explained.explanation.prior:
        yield translate(PRIOR)
        yield translate(LARGER)
    if any(effect.tells and effect.open for own in explained.explanation.effects for effect in own):
        yield translate(OPEN)
    if any(predictor.randomised for predictor in explained.predictors):
        yield translate(THROUGH_COINS)
    if explained.combinations > MOST_FREE and explained.model != "linear":
        note = PAIRS if explained.follows_pairs else MANY_COMBINATIONS
        yield translate(note, number=integer(explained.combinations))
    if explained.unknown is not None:
        yield translate(WEEKS)
    if explained.unknown:
        yield translate(UNKNOWN_WEEK, number=integer(explained.unknown))
    if explained.weighed is not None:
        yield translate(WITHIN_STRATA if explained.model == "linear" else ROBUST)
    elif explained.weighted:
        yield translate(WEIGHTED)
    if explained.not_weighed:
        yield translate(NOT_WEIGHED)
    yield translate(CAUSE)


def _say_of_steps(
    test: LikelihoodRatioTest | None, translate: Translate, p_value: Callable[[float], str]
) -> str:
    if test is None:
        return translate(STEPS_UNKNOWN)
    return translate(STEPS_DIFFER if test.p_value < SURE else STEPS_ALIKE, p=p_value(test.p_value))
