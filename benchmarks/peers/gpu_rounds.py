"""Timing of work on a GPU: interleaved rounds, the L2 cache emptied before each call, as `triton.testing.do_bench` does."""

import statistics
import sys
from dataclasses import dataclass

import torch
from harness import Result

FLUSHED = 256 << 20  # bytes, several times the cache of any GPU


@dataclass
class Settings:
    """How all contests are run."""

    rounds: int = 12
    milliseconds: float = 10  # of a contestant in a round
    share: tuple[int, int] | None = None  # (i, n): only compile, and only every n-th contestant from the i-th; None: race


settings = Settings()


class Contest:
    """Contestants for the same work: {name: call}. One that fails is left out, with a line that says why."""

    def __init__(self):
        self.calls, self.times, self.entered = {}, {}, 0

    def enter(self, name, prepare, check=lambda: None):
        """prepare() -> call; the call runs once, then check() raises if its result is wrong."""
        self.entered += 1
        if settings.share:
            turn, count = settings.share
            if self.entered % count == turn:
                self.compile(prepare)
            return
        try:
            call = prepare()
            call()
            torch.cuda.synchronize()
            check()
            self.calls[name] = call
        except Exception as error:
            print(f"{name} does not take part: {type(error).__name__}: {str(error).strip()[:400]}", file=sys.stderr, flush=True)

    @staticmethod
    def compile(prepare):
        try:
            prepare()()
            torch.cuda.synchronize()
        except Exception:
            return  # the race itself says why

    def run(self):
        """Milliseconds a call, the median of each round: self.times[name][round]; none where contests only compile."""
        if settings.share:
            return self
        cache = torch.empty(FLUSHED, dtype=torch.int8, device="cuda")
        counts = {}
        for name, call in self.calls.items():
            once = statistics.median(_milliseconds(call, 3, cache))
            counts[name] = max(3, min(200, int(settings.milliseconds / max(once, 1e-3))))
        self.times = {name: [] for name in self.calls}
        for _ in range(settings.rounds):
            for name, call in self.calls.items():
                self.times[name].append(statistics.median(_milliseconds(call, counts[name], cache)))
        return self

    def scale(self, name, factor):
        """Counts a contestant's time so many times, if it took part."""
        if name in self.times:
            self.times[name] = [time * factor for time in self.times[name]]

    def best(self, *prefixes):
        """The fastest of the contestants whose names begin so; None if none took part."""
        names = [name for name in self.times if name.startswith(prefixes)]
        return min(names, key=lambda name: statistics.median(self.times[name]), default=None)

    def result(self, work, ours, rival, amount, unit, goal):
        """Our best variant beside the rival's best, by the prefixes of their names, as a row; no row without ours, and no figures
        of a rival that is missing. `amount` is the work of one call in unit-seconds (GB for GB/s)."""
        ours, theirs = self.best(ours), self.best(rival)
        if ours is None:
            return []
        mine = self.times[ours]
        rate = 1e3 * amount / statistics.median(mine)
        if theirs is None:
            return [Result(work, rate, rival.rstrip(", "), None, unit, None, None, None, goal)]
        ratios = sorted(b / a for a, b in zip(mine, self.times[theirs], strict=True))
        edge = len(ratios) // 10
        other = 1e3 * amount / statistics.median(self.times[theirs])
        return [Result(work, rate, theirs, other, unit, statistics.median(ratios), ratios[edge], ratios[-1 - edge], goal)]


def _milliseconds(call, count, cache):
    begins, ends = ([torch.cuda.Event(enable_timing=True) for _ in range(count)] for _ in range(2))
    for begin, end in zip(begins, ends, strict=True):
        cache.zero_()
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in zip(begins, ends, strict=True)]
