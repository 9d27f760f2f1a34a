"""Recompute the estimates of the report from the noisy responses; with Python 3.10 or newer and NumPy.

    python estimate.py            prints the estimates
    python estimate.py csv        prints them as CSV, with all their digits
    python estimate.py compare    compares them with estimates.csv

Reports are what arrived after the coins. The chances with which a true answer becomes a report are
the design, in codebook.csv. The estimated share of a true answer is a weighted mean of the shares
of the reports, and its weights are a row of the inverse of the design.

Not recomputed: numbers weighted with strata that are taken together or not used, and strata that no row names.
"""

import csv
import io
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

CONFIDENCE = 0.95
Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
ROOM = math.log(2 / (1 - CONFIDENCE))
NAMES = "question answer statistic group stratum weighting".split()
NO_STRATUM = "<without stratum>"  # those of "<withheld>" are in no group but that of all
FEW = 100  # with fewer reports in some part, intervals are exact
NUMBERS = "n estimate standard_error interval_low interval_high".split()
Row = np.ndarray[Any, np.dtype[Any]]
Values = tuple[float, float, float, float]


class Part(NamedTuple):
    """Reports of one design (truths x reports): what they count, its inverse, and how often each arrived."""

    weight: float
    design: Row
    inverse: Row
    counts: Row


# --- Estimates: every one is a weighted mean, over the parts, of a number for each report -----------------


def add_up(parts: list[Part], rows: list[Row]) -> float:
    means = (
        part.weight * (row @ part.counts) / part.counts.sum() for part, row in zip(parts, rows, strict=True)
    )
    return float(sum(means))


def standard_error(parts: list[Part], rows: list[Row]) -> float:
    variance = 0.0
    for part, row in zip(parts, rows, strict=True):
        n = part.counts.sum()
        if n == 1:
            return math.inf
        spread = part.counts @ (row - row @ part.counts / n) ** 2 / (n - 1)
        variance += part.weight**2 * float(spread) / n
    return math.sqrt(variance) if variance > 1e-24 else math.inf  # of reports that are alike nothing is known


def limits(parts: list[Part], rows: list[Row], numbers: Row | None = None) -> tuple[float, float]:
    """Exact ones of few reports, where `numbers` are what the truths count; else those of the parts, added.

    Their distances from the estimates are weighted, squared and added (Zou and Donner 2008).
    """
    if numbers is not None and are_few(parts):
        return exact_limits(parts, rows, numbers)
    below = above = 0.0
    for part, row in zip(parts, rows, strict=True):
        value = float(row @ part.counts) / part.counts.sum()
        low, high = score_limits(row, part.counts)
        below += (part.weight * (value - low)) ** 2
        above += (part.weight * (high - value)) ** 2
    value = add_up(parts, rows)
    return value - math.sqrt(below), value + math.sqrt(above)


def score_limits(row: Row, counts: Row) -> tuple[float, float]:
    """Where the score test accepts: Wilson (1927) if `row` has two values, else as Tango (1998)."""
    bottom, width = float(row.min()), float(row.max() - row.min())
    if not width:
        return bottom, bottom
    scaled = (row - bottom) / width
    scaled[scaled < 1e-9] = 0
    scaled[scaled > 1 - 1e-9] = 1
    if set(scaled.tolist()) <= {0, 1}:
        n = int(counts.sum())
        mean = float(scaled @ counts) / n
        centre, half = mean + Z**2 / (2 * n), Z * math.sqrt(mean * (1 - mean) / n + Z**2 / (4 * n**2))
        low, high = ((centre + side) / (1 + Z**2 / n) for side in (-half, half))
    else:
        low, high = 1 - upper(1 - scaled, counts), upper(scaled, counts)
    return bottom + width * low, bottom + width * high


def upper(row: Row, counts: Row) -> float:
    """The largest accepted mean. The likeliest shares with a mean are observed / (1 - value + w value)."""
    n, seen = int(counts.sum()), counts > 0
    values, observed = row[seen], counts[seen] / n
    mean = float(values @ observed)
    if mean >= 1:
        return 1.0

    def tilt_means(w: float) -> tuple[float, float]:
        likely = observed / (1 - values + w * values)
        likely /= likely.sum()
        centre = float(likely @ values)
        return centre, n * (centre - mean) ** 2 - Z**2 * float(likely @ (values - centre) ** 2)

    if values.max() < 1 and (np.ptp(values) < 1e-9 or tilt_means(0)[1] <= 0):
        return (mean + Z**2 / n) / (1 + Z**2 / n)
    far = 1.0
    while tilt_means(math.exp(-far))[1] <= 0:
        far *= 2
    return tilt_means(math.exp(-crossing(lambda u: -tilt_means(math.exp(-u))[1], 0, far)))[0]


def crossing(function: Callable[[float], float], start: float, end: float) -> float:
    """Where a function that is positive at the start and negative at the end is 0 (Ridders 1979)."""
    above, below, found = function(start), function(end), math.inf
    for _ in range(100):
        middle, last = (start + end) / 2, found
        there = function(middle)
        root = math.sqrt(there**2 - above * below)
        found = middle + (middle - start) * there / root if root else middle
        value = function(found)
        if value == 0 or abs(found - last) <= 1e-14 * abs(found):
            break
        for place, height in ((middle, there), (found, value)):
            if height > 0 and (place - start) * (end - start) > 0:
                start, above = place, height
            elif height <= 0 and (place - end) * (start - end) > 0:
                end, below = place, height
    return found


# --- Exact limits: each is exceeded with a chance of (1 - confidence) / 2 at most, whatever is true ----------


def are_few(parts: list[Part]) -> bool:
    return min(int(part.counts.sum()) for part in parts) < FEW


def exact_limits(parts: list[Part], rows: list[Row], numbers: Row) -> tuple[float, float]:
    if all(set(np.round((row - row.min()) / (np.ptp(row) or 1), 9).tolist()) <= {0, 1} for row in rows):
        return two_valued_limits(parts, rows)
    low, high = (lowest_of_designs(parts, [side * row for row in rows], side * numbers) for side in (1, -1))
    value = add_up(parts, rows)
    return min(low, value), max(-high, value)


def two_valued_limits(parts: list[Part], rows: list[Row]) -> tuple[float, float]:
    """Each part adds a share of its reach: of one part Blaker's limits, of alike reports Clopper and Pearson's."""
    n = np.array([part.counts.sum() for part in parts])
    weights = np.array([part.weight for part in parts])
    reach = weights * [np.ptp(row) for row in rows]
    base = float(weights @ [row.min() for row in rows])
    shares = [row - row.min() > np.ptp(row) / 2 for row in rows]
    yes = np.array([part.counts[high].sum() for part, high in zip(parts, shares, strict=True)])
    n, yes, reach = n[reach > 0], yes[reach > 0], reach[reach > 0]
    total = float(reach.sum())
    if not len(n):
        return base, base
    if len(parts) == 1:
        ends = blaker(int(yes[0]), int(n[0])), 1 - blaker(int(n[0] - yes[0]), int(n[0]))
    elif np.ptp(reach / n) <= 1e-9 * (reach / n).max() and CONFIDENCE >= 0.8:
        most, all_yes = int(n.sum()), int(yes.sum())
        ends = clopper_pearson(all_yes, most), 1 - clopper_pearson(most - all_yes, most)
    else:
        low, high = (lowest_of_shares(n, reach, seen / n) for seen in (yes, n - yes))
        return base + low, base + total - high
    return base + total * ends[0], base + total * ends[1]


def tail(yes: int, n: int, share: float) -> float:
    """The chance of so many or more of n."""
    if yes <= 0 or share >= 1:
        return 1.0
    if share <= 0:
        return 0.0
    k = np.arange(yes, n + 1)
    ways = [math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in k.tolist()]
    return float(np.exp(ways + k * math.log(share) + (n - k) * math.log1p(-share)).sum())


def clopper_pearson(yes: int, n: int) -> float:
    """Their lower limit (1934)."""
    return crossing(lambda share: (1 - CONFIDENCE) / 2 - tail(yes, n, share), 0, 1) if yes else 0.0


def blaker(yes: int, n: int) -> float:
    """The smallest share at which the smaller tail and the largest opposite one not larger exceed what may miss (2000).

    The opposite tail is that of `opposite` or fewer; where it gains its next count, both are equal.
    """
    if not yes:
        return 0.0
    miss = 1 - CONFIDENCE
    nearest = clopper_pearson(yes, n)
    middle = crossing(lambda share: 0.5 - tail(yes, n, share), 0, 1)
    opposite = max(k for k in range(-1, yes) if tail(n - k, n, 1 - nearest) <= miss / 2 or k < 0)

    def rise(function: Callable[[float], float], start: float, end: float) -> float:
        if function(start) >= 0 or function(end) <= 0:
            return start if function(start) >= 0 else end
        return crossing(lambda share: -function(share), start, end)

    gain = rise(lambda share: tail(yes, n, share) - tail(n - opposite - 1, n, 1 - share), nearest, middle)
    return rise(
        lambda share: tail(yes, n, share) + (tail(n - opposite, n, 1 - share) if opposite >= 0 else 0) - miss,
        nearest,
        gain,
    )


def lowest_of_designs(parts: list[Part], rows: list[Row], numbers: Row) -> float:
    """Whatever the true shares of a part are, its reports are a mixture of the rows of its design."""
    n = np.array([float(part.counts.sum()) for part in parts])
    weights = np.array([part.weight for part in parts])
    points = np.unique(numbers)
    alike: dict[bytes, list[int]] = {}
    for place, part in enumerate(parts):
        alike.setdefault(part.design.tobytes(), []).append(place)

    def heights(tilt: float) -> Row:
        """The largest logarithms of the mean of exp(tilt weight value / n) of truths that count each point."""
        found = np.empty((len(parts), len(points)))
        for places in alike.values():
            slopes = tilt * weights[places] / n[places]
            means = np.log(np.exp(np.outer(slopes, rows[places[0]])) @ parts[places[0]].design.T)
            found[places] = np.stack([means[:, numbers == point].max(axis=1) for point in points], axis=1)
        return found

    rates = weights / n * [np.ptp(row) for row in rows]
    top = 300 / rates.max()
    bottom = min(0.05 * math.sqrt(2 * ROOM / float(rates**2 @ n)), top / 2)
    return best_of_tilts(n, np.outer(weights, points), heights, add_up(parts, rows), (bottom, top), 3)


def lowest_of_shares(n: Row, reach: Row, shares: Row) -> float:
    """Whatever the shares of the reports are."""
    seen = float(reach @ shares)
    widest = math.sqrt(2 * ROOM / (0.25 * float(reach**2 @ (1 / n))))
    ends = 0.2 * widest, max(300 / (reach / n).max(), widest)
    points = np.outer(reach, [0, 1])
    found = best_of_tilts(n, points, lambda tilt: tilt * points / n[:, None], seen, ends, 2)
    return found if seen > 0 else 0.0


def best_of_tilts(
    n: Row, points: Row, heights: Callable[[float], Row], seen: float, ends: tuple[float, float], rounds: int
) -> float:
    """The largest sum below which Chernoff's bound (1952) refutes all, at the best of many tilts.

    What is refuted rises up to one tilt and falls behind it: of 24 few have to be tried.
    """
    best = float(points[:, 0].sum())
    for _ in range(rounds):
        tilts, found, place = np.geomspace(*ends, 24), np.full(24, -math.inf), 11
        for around in ((-6, 0, 6, 12), (-3, 3), (-2, -1, 1, 2)):
            for tried in {min(max(place + step, 0), 23) for step in around}:
                found[tried] = refute_sums(n, points, heights(tilts[tried]), tilts[tried] * seen - ROOM)
            place = int(np.argmax(found))
        best = max(best, float(found[place]))
        ends = tilts[max(place - 1, 0)], tilts[min(place + 1, 23)]
    return best


def refute_sums(n: Row, points: Row, heights: Row, allowed: float) -> float:
    """The sum of the points up to which n log(envelope of exp(heights)) adds up to what is allowed at most.

    An envelope is linear between some of its points; along such a piece the logarithm rises with that of one over
    the logarithms' slope, `level`, which all parts share. Where nothing is refuted, what is lacking is taken off.
    """
    here = np.zeros(len(n), dtype=int)
    every = np.arange(len(n))
    pieces = []
    for _ in range(points.shape[1] - 1):
        rise = heights - heights[every, here][:, None]
        rises = (rise > 0) & (np.arange(points.shape[1]) > here[:, None])
        rise, width = np.where(rises, rise, 1), np.where(rises, points - points[every, here][:, None], 1)
        slopes = np.where(rises, rise + np.log(-np.expm1(-rise) / width), -np.inf)
        steepest, some = slopes.argmax(axis=1), rises.any(axis=1)
        place = every[some], steepest[some]
        pieces.append((-slopes[place] - np.log(n[some]), rise[place], width[place], n[some]))
        here = np.where(some, steepest, here)
    start, span, width, size = (np.concatenate(each) for each in zip(*pieces, strict=True))
    room = allowed - float(n @ heights[:, 0])
    least = float(points[:, 0].sum())
    if room <= 0 or not len(start):
        return least + min(room, 0)
    order = np.argsort(breaks := np.concatenate([start, start + span]))
    speed = np.cumsum(np.concatenate([size, -size])[order])[:-1]
    filled = np.concatenate([[0], np.cumsum(speed * np.diff(breaks[order]))])
    level = np.interp(room, filled, breaks[order])
    risen = np.clip(level - start, 0, span)
    return least + float(width @ (np.exp(risen - span) * np.expm1(-risen) / np.expm1(-span)))


def ratio_limits(part: Part, positions: Row, answered: Row) -> tuple[float, float]:
    """Of 201 means those that are refuted at no tilt, and a step more: the sum of distances from the true one is 0."""
    n = int(part.counts.sum())
    scales = np.geomspace(min(0.05 * math.sqrt(2 * ROOM * n), 150 * n), 300 * n, 48)
    accepted = []
    for step in range(201):
        away = positions - step / 200 * answered
        seen = float(away @ part.counts) / n
        away = away if seen > 0 else -away
        tilts = scales / np.ptp(away)
        tall = np.exp(np.outer(tilts / n, away)) @ part.design.T
        counted = part.design @ away
        highest = np.zeros(len(tilts))
        for left in np.flatnonzero(counted <= 1e-12):
            for right in np.flatnonzero(counted >= -1e-12):
                width = counted[right] - counted[left]
                between = np.clip(-counted[left] / (width if width > 1e-12 else 1), 0, 1)
                highest = np.maximum(highest, tall[:, left] * (1 - between) + tall[:, right] * between)
        allowed = tilts * abs(seen) - ROOM
        if not np.any((allowed > 0) & (n * np.log(highest) < allowed)):
            accepted.append(step)
    if not accepted:
        return 0.0, 1.0
    return max(accepted[0] - 1, 0) / 200, min(accepted[-1] + 1, 200) / 200


# --- What is estimated --------------------------------------------------------------------------------------


def share(parts: list[Part], truth: int) -> Values:
    rows = [part.inverse[truth] for part in parts]
    numbers = np.eye(len(parts[0].inverse))[truth]
    return add_up(parts, rows), standard_error(parts, rows), *limits(parts, rows, numbers)


def mean(parts: list[Part], numbers: int, low: float, high: float) -> Values:
    """Of the first `numbers` truths, evenly spaced from low to high; other truths are no numbers."""
    positions = [np.linspace(0, 1, numbers) @ part.inverse[:numbers] for part in parts]
    answered = [part.inverse[:numbers].sum(axis=0) for part in parts]
    everybody = numbers == len(parts[0].inverse)
    gave = 1.0 if everybody else add_up(parts, answered)
    width, exact = high - low, are_few(parts)
    ends = 0.0, 1.0
    if exact and not everybody and len(parts) == 1:  # of several parts nothing but the range is sure
        ends = ratio_limits(parts[0], positions[0], answered[0])
    if gave <= 1e-13 * max(
        np.abs(p).max() + np.abs(a).max() for p, a in zip(positions, answered, strict=True)
    ):
        return math.nan, math.nan, low + width * ends[0], low + width * ends[1]
    value = add_up(parts, positions) / gave

    def away(middle: float) -> list[Row]:
        return [p - middle * a for p, a in zip(positions, answered, strict=True)]

    def inside(middle: float) -> float:
        """Positive where the interval of the sum of the distances from `middle` contains 0 (Fieller 1954)."""
        below, above = limits(parts, away(middle))
        return min(-below, above)

    def limit(step: float) -> float:
        if inside(value) <= 0:
            return value
        near = value
        for _ in range(60):
            if inside(value + step) < 0:
                return crossing(inside, near, value + step)
            near, step = value + step, 2 * step
        return near

    if everybody:
        error = standard_error(parts, positions)
        ends = limits(parts, positions, np.linspace(0, 1, numbers))
    else:
        error = standard_error(parts, away(value)) / gave
        if exact:
            ends = min(ends[0], value), max(ends[1], value)
        elif limits(parts, answered)[0] > 0:
            step = min(max(error, 2**-10), 1)
            ends = limit(-step), limit(step)
    return low + width * value, width * error, low + width * ends[0], low + width * ends[1]


# --- The files ----------------------------------------------------------------------------------------------


def read(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


class Column:
    """One column of one version: its design, and its reports by stratum (strata x reports)."""

    def __init__(self, rows: list[dict[str, str]], codes: Row, places: Row, strata: int) -> None:
        self.first = rows[0]
        self.truths = list(dict.fromkeys(row["truth"] for row in rows))
        chances = [int(row["numerator"]) / int(row["denominator"]) for row in rows]
        self.design = np.array(chances).reshape(len(self.truths), -1)
        reports = self.design.shape[1]
        cells = np.bincount(places * reports + codes, minlength=strata * reports)
        self.counts = cells.reshape(strata, reports)

    @property
    def by_option(self) -> bool:
        """Whether each answer has a column of its own, of "not chosen" and "chosen"."""
        return self.first["encoding"] in ("one_hot", "boxes")

    def part(self, places: Sequence[int], answer: int | None) -> tuple[Row, Row]:
        """Design and counts; as to one answer, where another version has a column for each."""
        counts = self.counts[list(places)].sum(axis=0)
        if answer is None or self.by_option:
            return self.design, counts
        keep, other = self.design[0, :2]
        design = np.array([[1 - other, other], [1 - keep, keep]])
        return design, np.array([counts.sum() - counts[answer], counts[answer]])


Group = tuple[str, str, str, list[tuple[float, list[int]]]]


class Files:
    """The responses by version and stratum, each question with its columns, and the groups to estimate."""

    def __init__(self) -> None:
        responses, codebook = read("responses.csv"), read("codebook.csv")
        strata = read("strata.csv") if (Path(__file__).parent / "strata.csv").exists() else []
        paths = [row.get("stratum", "") for row in responses]
        self.paths = sorted(set(paths))
        place = {path: number for number, path in enumerate(self.paths)}
        found: dict[tuple[str, str], list[dict[str, str]]] = {}
        for row in codebook:
            if row["pooled"] == "true":
                found.setdefault((row["version"], row["column"]), []).append(row)
        # question -> version -> columns; the newest version is first
        self.questions: dict[str, dict[str, list[Column]]] = {}
        for (version, name), rows in found.items():
            own = [number for number, row in enumerate(responses) if row["version"] == version]
            codes = np.array([int(responses[number][name]) for number in own], dtype=int)
            places = np.array([place[paths[number]] for number in own], dtype=int)
            column = Column(rows, codes, places, len(self.paths))
            self.questions.setdefault(rows[0]["question"], {}).setdefault(version, []).append(column)
        self.groups = list(self._groups(strata))

    def _groups(self, strata: list[dict[str, str]]) -> Iterator[Group]:
        """All, each stratum, those without stratum; each response counting the same, and by population."""
        named = {row["stratum"]: row for row in strata if row["named"] == "true"}
        groups = [("all", ""), *(("stratum", path) for path in named)]
        for kind, path in groups:
            yield kind, path, "responses", [(1.0, self._inside(path))]
            leaves = [row for row in strata if row["leaf"] == "true" and inside(path, row["stratum"])]
            leaves = [row for row in leaves if row["stratum"] != path]
            if leaves and all(row["population"] and row["stratum"] in named for row in leaves):
                sizes = [(float(row["population"]), self._inside(row["stratum"])) for row in leaves]
                yield kind, path, "population", sizes
        if NO_STRATUM in self.paths:
            yield "without stratum", "", "responses", [(1.0, [self.paths.index(NO_STRATUM)])]

    def _inside(self, path: str) -> list[int]:
        return [number for number, other in enumerate(self.paths) if inside(path, other)]

    def parts(
        self, versions: dict[str, list[Column]], number: int, answer: int | None, group: Group
    ) -> list[Part]:
        """The parts of a group; none if it, or a stratum that counts by its population, has no responses."""
        found = []
        people = sum(size for size, _ in group[3])
        for size, places in group[3]:
            designs: dict[bytes, tuple[Row, Row]] = {}
            for columns in versions.values():
                design, counts = columns[number if len(columns) > 1 else 0].part(places, answer)
                key = design.tobytes()
                designs[key] = design, counts + designs[key][1] if key in designs else counts
            n = sum(counts.sum() for _, counts in designs.values())
            if not n:
                return []
            for design, counts in designs.values():
                if counts.any():
                    inverse = np.linalg.inv(design.T)
                    found.append(Part(size / people * counts.sum() / n, design, inverse, counts))
        return found


def inside(path: str, other: str) -> bool:
    return not path or other == path or other.startswith(f"{path} > ")


def estimates(files: Files) -> Iterator[tuple[Any, ...]]:
    for question, versions in files.questions.items():
        newest = next(iter(versions.values()))
        first = newest[0].first
        split = any(columns[0].by_option for columns in versions.values())
        answers = [column.truths[1] for column in newest] if newest[0].by_option else newest[0].truths
        numbers = len(answers) - ("prefer_not_to_say" in answers)
        for group in files.groups:
            for index, answer in enumerate(answers):
                if first["encoding"] == "line" and index < 2:
                    continue  # the ends of a number are nobody's answers
                parts = files.parts(versions, index, index if split else None, group)
                if parts:
                    n = sum(int(part.counts.sum()) for part in parts)
                    yield question, answer, "share", *group[:3], n, *share(parts, 1 if split else index)
            parts = files.parts(versions, 0, None, group)
            if parts and first["low"]:
                n = sum(int(part.counts.sum()) for part in parts)
                found = mean(parts, numbers, float(first["low"]), float(first["high"]))
                yield question, "", "mean", *group[:3], n, *found


def compare(rows: list[tuple[Any, ...]]) -> bool:
    ours = {row[:6]: row[6:] for row in rows}
    largest, compared, collapsed, unnamed = 0.0, 0, 0, 0
    for row in read("estimates.csv"):
        if row["n"] in ("", "0"):
            continue
        own = ours.get(tuple(row[name] for name in NAMES))
        if own is None:
            some = bool(row["strata_together"] or row["strata_not_used"])
            collapsed, unnamed = collapsed + some, unnamed + (not some)
            continue
        compared += 1
        for name, value in zip(NUMBERS, own, strict=True):
            known = float(row[name]) if row[name] else math.nan
            value = value if math.isfinite(value) else math.nan
            if not (math.isnan(known) and math.isnan(value)):
                difference = abs(value - known) / max(1, abs(known))
                largest = max(largest, math.inf if math.isnan(difference) else difference)
    lines = [f"{compared} estimates compared, largest difference {largest:.1e}."]
    if collapsed:
        lines.append(
            f"{collapsed} more weight strata that are taken together or not used: not recomputed here."
        )
    if unnamed:
        lines.append(f"{unnamed} more are of strata, or weighted by some, that responses.csv does not name.")
    sys.stdout.write("\n".join(lines) + "\n")
    return largest <= 1e-9


def main(how: str) -> int:
    found = list(estimates(Files()))
    if how == "compare":
        return 0 if compare(found) else 1
    if how == "csv":
        writer = csv.writer(sys.stdout)
        writer.writerow(NAMES + NUMBERS)
        writer.writerows([value if value == value else "" for value in row] for row in found)
        return 0
    cells = [[*NAMES, *NUMBERS]]
    cells += [[*row[:6], str(row[6]), *(f"{value:.6f}" for value in row[7:])] for row in found]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        texts = [text.ljust(width) for text, width in zip(row[:6], widths[:6], strict=True)]
        texts += [text.rjust(width) for text, width in zip(row[6:], widths[6:], strict=True)]
        sys.stdout.write("  ".join(texts) + "\n")
    return 0


if __name__ == "__main__":
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # the names of strata, into a file on any system
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else ""))
