"""A made-up ledger with an entry of each kind, for a survey of `tests.support.every_kind`."""

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

from server.releases import OWN_LINK, STRATUM, Budget, Covers, Figure, Ledger, Released, Spent
from server.releases.plans.plan_reader import Item, ItemKind

COVERS = Covers((1,), "open", date(2026, 5, 9), None)
BINS = ["-10 to -0.5", "0 to 4.5", "5 to 7", "7.5 to 19.5", "20 to 30", "prefer_not_to_say"]


def entry(number: int, item: Item, figures: list[Figure], mechanism: str = "geometric") -> Released:
    return Released(
        entry=number,
        release=1,
        item=item,
        mechanism=mechanism,
        epsilon=Decimal("0.1"),
        delta=Decimal("0.000001") if mechanism == "gaussian" else Decimal(0),
        neighbours="unbounded",
        confidence=0.95,
        made_at=datetime(2026, 5, 9, 12, 30),  # noqa: DTZ001 - as it is stored
        made_by="Ana",
        software="Moneda 0.1.0",
        covers=COVERS,
        strata=None,
        figures=tuple(figures),
        notes={"l1_sensitivity": 1},
    )


def share(*place: tuple[str, str], value: float, error: float = 0.04) -> Figure:
    return Figure("share", place, value, error, value - 2 * error, value + 2 * error)


def ledger() -> Ledger:
    """An entry of each kind."""
    tree = {"": 601, "Spain": 351, "Spain > Madrid": 201, "Spain > Bilbao": 150, "Peru": 240, OWN_LINK: 10}
    joint = [("red", "no", 0.21), ("red", "yes", 0.11), ("blue", "no", 0.71), ("blue", "yes", -0.03)]
    reached = Figure("mean", (("cups", ""),), 4.213, 0.4, 3.41, 5.02)
    released = [
        entry(1, Item(ItemKind.COUNT), [Figure("respondents", (), 613, 2.1, 609, 617)]),
        entry(
            2,
            Item(ItemKind.SHARE, ("coin",), option="yes"),
            [Figure("reports", (("coin", "yes"),), 247, 3.5), share(("coin", "yes"), value=0.317)],
            "laplace",
        ),
        entry(
            3,
            Item(ItemKind.HISTOGRAM, ("bins",)),
            [share(("bins", name), value=0.02 + 0.07 * place) for place, name in enumerate(BINS)],
        ),
        entry(
            4,
            Item(ItemKind.TABLE, ("party", "coin")),
            [share(("party", row), ("coin", column), value=value) for row, column, value in joint],
        ),
        entry(5, Item(ItemKind.MEAN, ("cups",), noise="gaussian"), [reached], "gaussian"),
        entry(
            6,
            Item(ItemKind.HIERARCHY),
            [Figure("respondents", ((STRATUM, path),), n) for path, n in tree.items()],
            "hierarchy",
        ),
        entry(
            7,
            Item(ItemKind.MOST_COMMON, ("party",)),
            [Figure("most_common", (("party", "red"),), None)],
            "noisy_maximum",
        ),
        entry(
            8,
            Item(ItemKind.EXCEEDING, ("coin", "mirror"), share=Decimal("0.2")),
            [Figure("above", (("coin", "yes"),), 1), Figure("above", (("mirror", "yes"),), 0)],
            "sparse_vector",
        ),
        replace(
            entry(
                9,
                Item(ItemKind.TOP, ("bins",), how_many=2, noise="exponential"),
                [Figure("top", (("bins", name),), None) for name in (BINS[4], BINS[1])],
                "exponential",
            ),
            notes={"versions": "1", "options": len(BINS), "people_off": 17.2, "log_odds_per_person": 0.05},
        ),
    ]
    spent = Spent(Decimal("0.9"), Decimal("0.000001"), Decimal("0.9"), 0.8512, 1e-6)
    budget = Budget(Decimal(2), Decimal("0.00001"), "unbounded")
    return Ledger(budget, tuple(released), spent, budget.epsilon - spent.epsilon, budget.delta - spent.delta)
