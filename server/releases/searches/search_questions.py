"""A question of a search: one answer, of everybody or of a stratum, against the limit that the search has."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from server.inputs import N_, refuse, shorten_value
from server.privacy.selection import OngoingSearch
from server.releases.kinds.answer_shares import Share
from server.releases.kinds.base import path_of
from server.releases.plans.items import Item
from server.releases.searches.search_terms import answers_of
from server.releases.survey_shapes import Shape, Source
from server.releases.values import STRATUM


@dataclass(frozen=True, eq=False)
class SearchQuestion:
    """Whether an answer is given by more than the search's share, or by more people than it says.

    Attributes
    ----------
    terms : Item
        The search, as it stands in the ledger.
    single : Share
        The answer, and whom it is about.
    stratum : tuple of str
        Names from the top down; empty for all responses.
    """

    terms: Item
    single: Share
    stratum: tuple[str, ...]

    @classmethod
    def of(
        cls, terms: Item, shape: Shape, question: str, option: str, stratum: Sequence[str]
    ) -> "SearchQuestion":
        """Check a question against a shape.

        Raises
        ------
        InputError
            422 on `question`, `answer` or `stratum`.
        """
        template = N_("must be one of %(limit)s; it is %(value)s")
        variable = shape.variable(question)
        if variable is None:
            names = ", ".join(each.name for each in shape.variables if answers_of(each))
            raise refuse(422, "question", template, limit=shorten_value(names), value=shorten_value(question))
        if option not in answers_of(variable):
            names = ", ".join(answers_of(variable)) or "-"
            raise refuse(422, "answer", template, limit=shorten_value(names), value=shorten_value(option))
        leaves = shape.within(stratum)
        if not leaves:
            template = N_("must be a stratum of the survey; it is %(value)s")
            raise refuse(422, "stratum", template, value=shorten_value(" > ".join(stratum)))
        return cls(terms, Share(shape, variable, option, leaves), tuple(stratum))

    @property
    def asked(self) -> bytes:
        """What makes two of them the same question, whatever its stratum is called by now."""
        leaves = sorted(self.single.shape.leaves[place].identity for place in self.single.leaves)
        about = leaves if self.stratum else []
        written = json.dumps([self.single.variable.identity, self.single.answer, about])
        return hashlib.sha256(written.encode()).digest()

    @property
    def place(self) -> tuple[tuple[str, str], ...]:
        """Where its figure is."""
        return (((STRATUM, path_of(self.stratum)),) if self.stratum else ()) + self.single.place

    def compare(self, search: OngoingSearch, source: Source) -> tuple[bool, OngoingSearch]:
        """Whether the answer is above the limit, and the search after that."""
        return search.compare(self.excess(source))

    def excess(self, source: Source) -> int:
        """By how much the exact answer is above the limit, in steps of which one person changes so many at most."""
        share = self.terms.share
        weights = self.single.weigh_excess(None if share is None else float(share))
        total = int(np.concatenate(self.single.counts(source)) @ weights.weights)
        return total - math.ceil((self.terms.limit or 0) / weights.unit)


def list_strata(shape: Shape) -> tuple[tuple[str, ...], ...]:
    """The paths of all strata, each before those below it."""
    paths = [leaf.path[:depth] for leaf in shape.leaves for depth in range(1, len(leaf.path) + 1)]
    return tuple(dict.fromkeys(paths))
