"""The strata of a survey: a named tree of links with populations.

The link, not the person, carries the stratum: whoever follows the link of Getafe counts in Spain >
Madrid > Getafe. Only a stratum without strata below it has a working link. Functions take a
Session and never commit.
"""

from server.study.strata.access import (
    AccessChange,
    Switched,
    asks_for_code,
    change_access,
    find_stated,
    following_links,
    invited_links,
    is_invited,
    switch,
    write_access,
)
from server.study.strata.changing import change, move, remove
from server.study.strata.collapsing import Collapsed, collapse
from server.study.strata.planting import add_strata, list_used
from server.study.strata.populations import PopulationChange, population_changes, populations_of
from server.study.strata.renewing import count_closed_links
from server.study.strata.tree import (
    DEEPEST,
    MOST_STRATA,
    Node,
    StratumProblem,
    check_large_enough,
    find,
    find_leaf,
    list_leaves,
    tree,
    trees_of,
    walk,
)
from server.study.strata.typed_lines import StratumLine, parse_lines, parse_name, parse_population
