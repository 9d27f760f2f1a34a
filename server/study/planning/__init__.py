"""A survey's plan: what each question needs, what the planned respondents will give, what it all reveals.

A margin is half the width of a 95 % interval, whatever the true answers are: a plan holds at the worst true
shares. For shares it is the widest interval of the question's answers; for a box, of one box; for a mean, a part
of the range. Margins of a mean are of the people who give a number, planned as if everybody gave one.

A scale has two things to estimate, its mean and the share of each level. An ordinal design tells neighbouring
levels apart badly, so that a new scale begins with one draw over all levels. Under an ordinal one the wanted
margin is promised for the mean alone, and the margin of the shares is shown beside it, with what k-ary
response at the same loss would need, where both are promised.
"""

from server.study.planning.consequences import Consequences, consequences
from server.study.planning.headlines import BetterHeadline, Promise, make_promise
from server.study.planning.outlooks import Outlook, foresee
from server.study.planning.plans import (
    CONFIDENCE,
    DEFAULT_MARGIN,
    PRIOR,
    QuestionPlan,
    Shortfall,
    SurveyPlan,
    list_promised,
    plan,
    plan_question,
)
from server.study.planning.power_plans import (
    DEFAULT_POWER,
    PowerPlan,
    PowerTest,
    Value,
    plan_power,
    tested_design,
    vary_strength,
)
from server.study.planning.scale_designs import ScaleNeeds, compare_scale_designs
from server.study.planning.targets import Target, target
from server.study.planning.unfinished_plans import find_planned_number, planned_margin, planned_respondents
