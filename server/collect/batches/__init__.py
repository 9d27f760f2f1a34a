"""The books: responses counted in batches, so that nothing that is shown depends on a few of them.

A *cell* holds the responses to one version by the link of one stratum, collected in one way. Its
responses wait until there are twice the survey's minimum; then a random choice of as many as the
minimum goes on waiting, and the others are *sealed*: they become a batch. What anybody is shown of a
survey is the sum of its batches. So it grows by the minimum or more each time, also when the survey
is closed and what waits becomes the last batch: it is as many as the minimum, or it is all that the
cell has. Fewer than twice the minimum wait, always, but for as many more as were taken back and leave with the next
batch (`removing`); what closing does where too few are left is said in `closing`.

A batch names no row of the table of responses, and no row names a batch. Small batches of a week are merged;
reading all of them takes few steps, however many responses they hold, and so does storing one more.
After a survey was closed, tidying puts `order_batches` in their place, which do not tell any more which
responses came together, but for the week in which they were shown (`weeks`). All of it is in tables of the
survey's own (`server.store.own_tables`). Functions take a Session or a connection and never commit, but for `mend`.
"""

from server.collect.batches.adding import Group, add, give_sealing, is_batch, merge_small, write_sealing
from server.collect.batches.batch_reader import (
    Key,
    count_sealed,
    count_sealed_by_day,
    count_sealed_by_day_of,
    count_sealed_by_mode,
    count_sealed_by_week,
    count_ways,
    read_removals,
    read_sealed,
    read_sealed_weeks,
    read_waiting,
)
from server.collect.batches.cells import CellKey
from server.collect.batches.closing import seal_all
from server.collect.batches.counting import (
    count,
    count_accepted,
    count_stored,
    count_taken_back,
    find_writer,
    lock_accepted,
    set_stored,
    write_counting,
)
from server.collect.batches.encoding import add_up, as_keys
from server.collect.batches.margins import Margin, count_wrong_sums, margin_of, read_sealed_margins
from server.collect.batches.mending import ChangedError, mend
from server.collect.batches.ordering import order_batches
from server.collect.batches.recounting import Difference, Recount, recount
from server.collect.batches.removing import remove, subtract
