"""Central releases: what may leave the building, at what price, from which budget.

A survey has a budget. `make` releases what a plan asks for, and books it, in one transaction: whatever
was released is in the ledger, and whatever is in the ledger was released. `divide` and `expected`
say before that what it costs and how exact it is; they look at no response. Everything that is
shown of a release comes from what `ledger` reads.
"""

from server.releases.budgets import budget_of, read_ledger, set_budget
from server.releases.declaring import declare_spent, vouch_for
from server.releases.dividing import Expected, divide, expect_results
from server.releases.kinds import OWN_LINK, Shuffling, query_of, shuffling_of
from server.releases.making import make
from server.releases.survey_shapes import Shape, Source
from server.releases.survey_sources import shuffling_price, survey_shape, survey_source
from server.releases.values import STRATUM, Budget, Covers, Figure, Ledger, Released, Spent
