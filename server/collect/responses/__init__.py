"""Accept responses.

`accept` and `accept_all` are the only way in for what is sent: to validated, stored rows, without a web framework
and without a commit. What is keyed in from paper is stored as these do it (`server.collect.paper_batches`). Many are
written by one statement, in the order of their random ids, and their invitations are found in it by an order of their
own: on PostgreSQL, where a row keeps a number of its transaction and its statement, that number then says only which
arrived together.
"""

from server.collect.responses.accepting import Acceptance, Arrival, accept, accept_all
from server.collect.responses.granting import CodeClaim, grant, parse_claim
from server.collect.responses.looking import CodeLookup, look_at_codes
from server.collect.responses.open_links import Links, check_standing, count_room, find_standing, reason_of
from server.collect.responses.selling import Purchase, Sale, parse_purchase, sell
from server.collect.responses.taking_back import is_stored, replay_withdrawals, take_back
