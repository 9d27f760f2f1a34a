"""The noise itself, from what is public of an item: before it is drawn, and of what was released."""

from server.releases.kinds import query_of
from server.releases.kinds.base import AddsNoise
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item
from server.releases.spending import rounded_down
from server.releases.survey_shapes import Shape
from server.releases.values import Released


def expect_noise(item: Item, shape: Shape) -> Noise | None:
    """What an item of a divided plan adds to each number of people; None for what adds nothing to them."""
    query = query_of(item, shape, "item")
    if not isinstance(query, AddsNoise) or item.epsilon is None:
        return None
    return query.noise(rounded_down(item.epsilon, shape.rows_each), rounded_down(item.delta))


def read_noise(entry: Released) -> Noise | None:
    """The same of an entry of the ledger; None also for what has several kinds of noise."""
    changes = entry.notes.get("l1_sensitivity")
    if entry.mechanism not in ("geometric", "laplace", "gaussian"):
        return None
    if not isinstance(changes, int) or "levels" in entry.notes:
        return None
    return Noise(entry.mechanism, changes, rounded_down(entry.epsilon), rounded_down(entry.delta))
