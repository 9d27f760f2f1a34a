"""Searches: questions that come one at a time, each answered "above" or "below" with noise, for one price.

A search is an entry of the ledger; what it was asked are its figures. The noise of its threshold is drawn once,
sealed, and goes nowhere: not into backups or archives, and not on where a restored database might ask a second time.
"""

from server.releases.searches.search_keeping import (
    SearchRecord,
    SearchState,
    ask_search,
    find_search,
    list_searches,
    open_search,
)
from server.releases.searches.search_questions import list_strata
from server.releases.searches.search_terms import (
    SearchPrice,
    SearchTerms,
    answers_of,
    parse_terms,
    price_search,
)

__all__ = [
    "SearchPrice",
    "SearchRecord",
    "SearchState",
    "SearchTerms",
    "answers_of",
    "ask_search",
    "find_search",
    "list_searches",
    "list_strata",
    "open_search",
    "parse_terms",
    "price_search",
]
