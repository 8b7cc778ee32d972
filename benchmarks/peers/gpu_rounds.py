"""Timing of work on a GPU: interleaved rounds, the L2 cache emptied before each call, as `triton.testing.do_bench` does."""

import statistics
import sys

import torch
from harness import Result

FLUSHED = 256 << 20  # bytes, several times the cache of any GPU


class Contest:
    """Contestants for the same work: {name: call}. One that fails is left out, with a line that says why."""

    def __init__(self, rounds=12, milliseconds=20):
        self.rounds, self.milliseconds = rounds, milliseconds
        self.calls, self.times = {}, {}

    def enter(self, name, prepare, check=lambda: None):
        """prepare() -> call; the call runs once, then check() raises if its result is wrong."""
        try:
            call = prepare()
            call()
            torch.cuda.synchronize()
            check()
            self.calls[name] = call
        except Exception as error:
            print(f"{name} does not take part: {type(error).__name__}: {str(error).strip()[:400]}", file=sys.stderr, flush=True)

    def run(self):
        """Milliseconds a call, the median of each round: self.times[name][round]."""
        cache = torch.empty(FLUSHED, dtype=torch.int8, device="cuda")
        counts = {}
        for name, call in self.calls.items():
            once = statistics.median(_milliseconds(call, 3, cache))
            counts[name] = max(3, min(200, int(self.milliseconds / max(once, 1e-3))))
        self.times = {name: [] for name in self.calls}
        for _ in range(self.rounds):
            for name, call in self.calls.items():
                self.times[name].append(statistics.median(_milliseconds(call, counts[name], cache)))
        return self

    def best(self, *prefixes):
        """The fastest of the contestants whose names begin so; None if none took part."""
        names = [name for name in self.times if name.startswith(prefixes)]
        return min(names, key=lambda name: statistics.median(self.times[name]), default=None)

    def result(self, work, ours, rival, amount, unit, goal):
        """Our best variant beside the rival's best, by the prefixes of their names, as a row; no row if either is missing.
        `amount` is the work of one call in unit-seconds (GB for GB/s)."""
        ours, theirs = self.best(ours), self.best(rival)
        if ours is None or theirs is None:
            return []
        mine, other = self.times[ours], self.times[theirs]
        ratios = sorted(b / a for a, b in zip(mine, other, strict=True))
        rates = [1e3 * amount / statistics.median(times) for times in (mine, other)]
        edge = len(ratios) // 10
        middle = statistics.median(ratios)
        return [Result(work, rates[0], theirs, rates[1], unit, middle, ratios[edge], ratios[-1 - edge], goal)]


def _milliseconds(call, count, cache):
    begins, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(count)] for _ in range(2))
    for begin, end in zip(begins, ends, strict=True):
        cache.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(begins, ends, strict=True)]
