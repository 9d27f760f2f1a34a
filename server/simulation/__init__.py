"""Simulated respondents: made-up truths, real coins, and the same way in as a real response.

Truths are drawn from what is assumed; the reports come from the Python twins of the
browser's randomiser and are stored by `responses.accept` like anyone's. A survey that holds
simulated responses is marked so for good, and its pages and reports say so; a rehearsal
stores nothing beside real responses at all. An archive folder of them (`simulate_archive`) is of no survey of the
database, and marked as well.
"""

from server.simulation.answering import REHEARSAL_LIMIT, RESPONDENTS_LIMIT, Rehearsal, rehearse, simulate
from server.simulation.archiving import simulate_archive
from server.simulation.assumptions import Assumptions, assumption_names, own_answers, usual_share
from server.simulation.made_up_people import Entered, People, draw_people
from server.simulation.places import Setting, Spread, setting_of
