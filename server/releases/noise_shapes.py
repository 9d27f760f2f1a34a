"""What chance does in a release, from what is public of it: before it is drawn, and of what was released."""

from dataclasses import dataclass

from server.privacy.queries import divide_by_level
from server.releases.kinds import query_of
from server.releases.kinds.base import AddsNoise, ChoosesByPeople
from server.releases.kinds.counts import noise_of_levels
from server.releases.noisy_cells import Noise
from server.releases.plans.items import Item, ItemKind
from server.releases.spending import round_loss_down
from server.releases.survey_shapes import Shape
from server.releases.values import Released


@dataclass(frozen=True)
class AddedNoise:
    """Noise that is added to each number, which counts `unit`s; `fitted` where the numbers are then made to add up."""

    noise: Noise
    unit: float = 1.0
    fitted: bool = False


@dataclass(frozen=True)
class ChoiceOdds:
    """How much rarer than the best option one is chosen that falls short of it by d: at most exp(-rate d) times.

    This follows from the mechanism alone. How often each is chosen does not: that depends on the answers.
    """

    rate: float


NoiseShape = AddedNoise | ChoiceOdds


def expect_noise(item: Item, shape: Shape) -> NoiseShape | None:
    """What chance will do in an item of a divided plan; None where that depends on the answers."""
    query = query_of(item, shape, "item")
    if item.epsilon is None:
        return None
    epsilon, delta = round_loss_down(item.epsilon, shape.rows_each), round_loss_down(item.delta)
    if isinstance(query, AddsNoise):
        return AddedNoise(query.noise(epsilon, delta), fitted=item.kind == ItemKind.HIERARCHY)
    return ChoiceOdds(query.log_odds(epsilon)) if isinstance(query, ChoosesByPeople) else None


def read_noise(entry: Released) -> NoiseShape | None:
    """The same of an entry of the ledger; None also for what was released before it was noted."""
    notes = entry.notes
    rates = [float(rate) for name, rate in notes.items() if name.startswith("log_odds_per_")]
    if rates:
        return ChoiceOdds(min(rates))  # of several quantiles, the one that chance moves furthest
    rows_each = int(notes.get("rows_each", 1))
    epsilon, delta = round_loss_down(entry.epsilon, rows_each), round_loss_down(entry.delta)
    levels, changes = notes.get("levels"), notes.get("l1_sensitivity")
    if isinstance(levels, int):
        of_levels = divide_by_level(levels, epsilon, entry.neighbours, total=entry.covers.respondents)
        return AddedNoise(noise_of_levels(of_levels), fitted=True)
    if entry.mechanism not in ("geometric", "laplace", "gaussian"):
        return None
    if "sum_sensitivity" in notes and "unit" in notes:
        unit = float(notes["unit"])
        most = round(float(notes["sum_sensitivity"]) / unit)
        return AddedNoise(Noise(entry.mechanism, most, epsilon, 0.0), unit) if most else None
    return AddedNoise(Noise(entry.mechanism, changes, epsilon, delta)) if isinstance(changes, int) else None
