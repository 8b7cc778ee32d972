"""Timing in interleaved rounds: each round times every contestant once, so that a slow moment of the machine hits all of them."""

import statistics
import time
from dataclasses import dataclass


@dataclass
class Result:
    """One row of the table. Values are rates or times in `unit`; `ratio` above 1 means that we are faster than the rival.
    A rival that is missing has neither a value nor ratios."""

    work: str
    ours: float
    rival: str
    theirs: float | None
    unit: str
    ratio: float | None
    low: float | None
    high: float | None
    goal: float

    @property
    def reached(self):
        return self.ratio is not None and self.ratio >= self.goal


def _repeats(function, seconds):
    function()
    start = time.perf_counter()
    function()
    one = max(time.perf_counter() - start, 1e-8)
    return max(1, int(seconds / one))


# Worker threads of OpenMP and OpenBLAS spin for up to 200 ms after a call (Intel's default), on the cores that the next
# contestant needs (measured: our 2-thread matmul at half its rate right after NumPy's).
# Everybody gets quiet cores and one call to warm up.
SETTLE = 0.25


def rounds(contestants, seconds=0.03, least=11, budget=4.0, fewest=5, most=20.0):
    """Seconds a call of each of `contestants` (name -> callable), one list entry a round.

    Rounds go on for `budget` seconds and are `least` at least; after `most` seconds (a rival without fast code) `fewest` will do.
    """
    repeats = {name: _repeats(function, seconds) for name, function in contestants.items()}
    times = {name: [] for name in contestants}
    begin = time.perf_counter()

    def goes_on():
        done, passed = len(next(iter(times.values()))), time.perf_counter() - begin
        return done < fewest or (passed < most and (done < least or passed < budget))

    while goes_on():
        for name, function in contestants.items():
            n = repeats[name]
            time.sleep(SETTLE)
            if not times[name] or times[name][-1] < SETTLE:  # what takes longer warms itself
                function()
            start = time.perf_counter()
            for _ in range(n):
                function()
            times[name].append((time.perf_counter() - start) / n)
    return times


def compare(work, ours, rivals, amount, unit, goal, **options):
    """Races `ours` against the best (by median) of `rivals`. `amount` is the work of one call in 1e9 `unit`-seconds.

    The ratio is the median over rounds of rival time / our time; low and high are its 10th and 90th percentile.
    """
    times = rounds({"tilery": ours, **rivals}, **options)
    best = min(rivals, key=lambda name: statistics.median(times[name]))
    ratios = sorted(theirs / mine for theirs, mine in zip(times[best], times["tilery"], strict=True))
    return Result(
        work,
        amount / statistics.median(times["tilery"]) / 1e9,
        best,
        amount / statistics.median(times[best]) / 1e9,
        unit,
        statistics.median(ratios),
        ratios[len(ratios) // 10],
        ratios[-1 - len(ratios) // 10],
        goal,
    )
