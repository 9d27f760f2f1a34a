"""What the privacy library costs, next to peers and floors measured in the same run: `make bench-privacy`.

Prints times and ratios. Nothing here passes or fails: the targets are printed beside what was measured.
Each time is the fastest of several runs, taken in turns with what it is compared with.
"""

import math
import os
import platform
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from server.privacy.designs import Design, coin_flip, draw_coins, k_ary
from server.privacy.estimators import estimate_shares, logistic_regression
from server.privacy.estimators.average_effects import EffectSetting
from server.privacy.estimators.explaining import Predictor, explain
from server.privacy.estimators.latent_likelihood import LatentData
from server.privacy.noise import geometric
from tests.benchmarks import coverage_slopes

N = 1_000_000
ROWS = 100_000
ROUNDS = 7


def peer(module: str, *names: str) -> list[Any] | None:
    """Names from a package of the benchmark environment; says so where it cannot be had."""
    try:
        loaded = import_module(module)
        return [getattr(loaded, name) for name in names]
    except (ImportError, AttributeError) as error:
        print(
            f"  {module}: NOT MEASURED, cannot be imported with Python {platform.python_version()}: {error}"
        )
        return None


def fastest(**actions: Callable[[], object]) -> dict[str, float]:
    """Seconds of the fastest run of each action; one round runs each of them once."""
    seconds = dict.fromkeys(actions, math.inf)
    for _ in range(ROUNDS):
        for name, action in actions.items():
            begin = time.perf_counter()
            action()
            seconds[name] = min(seconds[name], time.perf_counter() - begin)
    return seconds


def heading(text: str) -> None:
    print(f"\n{text}")


def line(name: str, seconds: float, each: int = 0, versus: str = "", ratio: float | None = None) -> None:
    cost = f"{seconds / each * 1e9:12.1f} ns each" if each else f"{seconds * 1e3:12.2f} ms"
    print(f"  {name:<52}{cost:>22}" + (f"   {versus} {ratio:.3g}" if ratio is not None else ""))


def tally(reports: np.ndarray, options: int) -> list[int]:
    return [int(np.count_nonzero(reports == option)) for option in range(options)]


def yes_no() -> None:
    heading(f"1. Randomise and estimate {N:,} yes/no answers (target: at most 25 ns an answer)")
    design, truths = coin_flip(0.25), np.random.default_rng().integers(0, 2, N, dtype=np.uint8)
    coins = draw_coins(N)
    reports = design.report(truths, coins)
    measured = fastest(
        floor=lambda: os.urandom(4 * N),
        whole=lambda: estimate_shares(tally(design.report(truths, draw_coins(N)), 2), design),
        report=lambda: design.report(truths, coins),
        estimate=lambda: estimate_shares(tally(reports, 2), design),
    )
    line("floor: four random bytes each from the system", measured["floor"], N)
    line(
        "Moneda: coins, reports, estimate",
        measured["whole"],
        N,
        "x floor",
        measured["whole"] / measured["floor"],
    )
    line("  of which reports", measured["report"], N)
    line("  of which counting and estimating", measured["estimate"], N)
    sample = truths[:10_000].tolist()
    if found := peer("diffprivlib.mechanisms", "Binary"):
        mechanism = found[0](epsilon=math.log(3), value0="no", value1="yes")
        words = ["yes" if truth else "no" for truth in sample]
        took = fastest(peer=lambda: [mechanism.randomise(word) for word in words])["peer"]
        line(
            "diffprivlib Binary (randomises only)",
            took,
            len(sample),
            "Moneda is 1 :",
            took / len(sample) * N / measured["whole"],
        )
    if found := peer("pure_ldp.frequency_oracles.direct_encoding", "DEClient"):
        client = found[0](epsilon=math.log(3), d=2, index_mapper=int)
        took = fastest(peer=lambda: [client.privatise(truth) for truth in sample])["peer"]
        line("pure-ldp DEClient (not cryptographic, randomises only)", took, len(sample), "Moneda is 1 :",
             took / len(sample) * N / measured["whole"])  # fmt: skip


def ten_options() -> None:
    heading(f"2. Ten options, {N:,} answers (target: estimating takes at most 1/20 of the peers' time)")
    design, truths = k_ary(10, 1.0), np.random.default_rng().integers(0, 10, N, dtype=np.uint8)
    reports = design.report(truths, draw_coins(N))
    listed = reports.tolist()
    actions: dict[str, Callable[[], object]] = {
        "ours": lambda: estimate_shares(tally(reports, 10), design),
        "randomise": lambda: design.report(truths, draw_coins(N)),
    }
    if found := peer("pure_ldp.frequency_oracles.direct_encoding", "DEServer"):
        server = found[0]

        def pure_ldp() -> object:
            estimator = server(epsilon=1.0, d=10, index_mapper=int)
            estimator.aggregate_all(listed)
            return estimator.estimate_all(range(10), suppress_warnings=True)

        actions["pure-ldp DEServer"] = pure_ldp
    if found := peer("multi_freq_ldpy.pure_frequency_oracles.GRR", "GRR_Aggregator_MI"):
        aggregate = found[0]
        actions["multi-freq-ldpy GRR_Aggregator_MI (clips: biased)"] = lambda: aggregate(listed, 10, 1.0)
    measured = fastest(**actions)
    line("Moneda: coins and reports", measured.pop("randomise"), N)
    ours = measured.pop("ours")
    line("Moneda: counting and estimating, with intervals", ours)
    for name, took in measured.items():
        line(name, took, 0, "Moneda takes 1 /", took / ours)


def known_only(reports: NDArray[np.uint8], covariates: NDArray[np.float64], design: Design) -> LatentData:
    """What `explain` takes of known covariates alone."""
    n = len(reports)
    centred = (covariates - covariates.mean(axis=0)) / covariates.std(axis=0)
    known = np.column_stack([np.ones(n), centred])
    return LatentData(np.ones(n), known, design.matrix[:, reports].T, np.ones((n, 1)), np.zeros((1, 0)))


def known_steps(covariates: NDArray[np.float64]) -> list[Predictor]:
    """A slope for each covariate."""
    places = range(1, covariates.shape[1] + 1)
    sides = [[EffectSetting(True, (k,), (step,), moves=True) for step in (-1e-4, 1e-4)] for k in places]
    return [Predictor((k,), ((low, high),)) for k, (low, high) in zip(places, sides, strict=True)]


def regression() -> None:
    heading(f"3. Logistic regression, 3 covariates, {ROWS:,} rows (target: at most 1 s)")
    rng, n = np.random.default_rng(), ROWS
    covariates = np.column_stack([rng.normal(size=n), rng.random(n) < 0.4, rng.integers(18, 80, n)])
    chances = 1 / (1 + np.exp(2 - covariates @ [0.5, 0.8, 0.01]))
    truths = (rng.random(n) < chances).astype(np.uint8)
    design = coin_flip(0.25)
    reports = design.report(truths, draw_coins(n))
    actions: dict[str, Callable[[], object]] = {
        "ours": lambda: logistic_regression(reports, covariates, design),
        "explain": lambda: explain(known_only(reports, covariates, design), known_steps(covariates)),
    }
    if found := peer("statsmodels.api", "GLM", "add_constant", "families"):
        model, add_constant, families = found
        actions["peer"] = lambda: model(truths, add_constant(covariates), families.Binomial()).fit()
    measured = fastest(**actions)
    line("Moneda, with 4 likelihood-ratio refits", measured["ours"], 0, "x target", measured["ours"] / 1.0)
    line("Moneda, explain an answer (target: at most 0.3 s)", measured["explain"], 0, "x target",
         measured["explain"] / 0.3)  # fmt: skip
    if "peer" in measured:
        line("floor: statsmodels GLM, once, on the true answers", measured["peer"], 0, "Moneda is x",
             measured["ours"] / measured["peer"])  # fmt: skip
    for name, (took, waited) in explain_by_answers().items():
        line(f"Moneda, {name}", took, 0, "x target of 0.3 s", took / 0.3)
        line("  of which counting rows that are alike", waited)
    print("  The R packages rr (5-8 s) and RRreg (6-7 s) are quoted here, not measured.")


def explain_by_answers() -> dict[str, tuple[float, float]]:
    """Seconds of the processor, the fastest of each: all, and of it counting; of strata, days and answers."""
    cases = {
        "explain by a stratum and days": coverage_slopes.CASES["known"],
        "explain by both, and two randomised answers": coverage_slopes.CASES["answers"],
        "explain a scale by both, and a randomised answer": coverage_slopes.CASES["scale"],
        "explain a number by both, and two answers": coverage_slopes.CASES["number"],
    }
    found = {}
    for name, case in cases.items():
        case = replace(case, people=ROWS)
        study = coverage_slopes.draw_study(np.random.default_rng(1), case)
        times = []
        for _ in range(ROUNDS):
            begin = time.process_time()
            data = coverage_slopes.describe(case, *study)
            middle = time.process_time()
            coverage_slopes.explain_study(case, data)
            times.append((time.process_time() - begin, middle - begin))
        found[name] = min(times)
    return found


def many_combinations() -> None:
    heading(f"4. Explain an answer by twelve randomised answers, 4,096 combinations, {ROWS:,} people")
    rng, design = np.random.default_rng(), coin_flip(0.4)
    truths = rng.random((ROWS, 13)) < 0.3
    reports = np.stack(
        [design.report(column.astype(np.uint8), draw_coins(ROWS)) for column in truths.T], axis=1
    )
    rows, counts = np.unique(reports, axis=0, return_counts=True)
    chances = tuple(design.matrix[:, column].T for column in rows.T)
    dummies = np.array(list(np.ndindex(*(2,) * 12)), dtype=np.float64)
    ones, none = np.ones((len(rows), 1)), np.zeros((len(rows), 0))
    data = LatentData(counts.astype(np.float64), ones, chances[0], none, dummies, parts=chances[1:])
    pairs = [[EffectSetting(False, (k,), (float(yes),)) for yes in range(2)] for k in range(12)]
    predictors = [Predictor((1 + k,), ((no, yes),)) for k, (no, yes) in enumerate(pairs)]
    took = fastest(explain=lambda: explain(data, predictors))["explain"]
    line("Moneda, estimates, errors, intervals and tests", took, 0, "x target of 5 s", took / 5)


def noise() -> None:
    heading(f"5. Geometric noise on {ROWS:,} counts (target: at most 1.2 times OpenDP's own vector call)")
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance
    from opendp.mod import enable_features

    enable_features("contrib")
    counts = np.random.default_rng().integers(0, 1000, ROWS)
    peer_call = make_laplace(vector_domain(atom_domain(T="i64")), l1_distance(T="i64"), scale=1.0)
    listed = counts.tolist()
    measured = fastest(
        ours=lambda: geometric(counts, 1, 1.0),
        array=lambda: peer_call(counts),
        listed=lambda: peer_call(listed),
    )
    line("Moneda", measured["ours"])
    line("OpenDP, given and giving what it takes fastest", measured["array"], 0, "Moneda is x",
         measured["ours"] / measured["array"])  # fmt: skip
    line("OpenDP, given a list", measured["listed"], 0, "Moneda is x", measured["ours"] / measured["listed"])


def main() -> None:
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} processors, load {load}"
    )
    for part in (yes_no, ten_options, regression, many_combinations, noise):
        part()
        sys.stdout.flush()


if __name__ == "__main__":
    main()
