"""Whether other processes have the processors that this one may use."""

from __future__ import annotations

import os
from types import TracebackType

_TICK = os.sysconf("SC_CLK_TCK")


class Others:
    """`with Others() as others:`; afterwards `others.share` is the share of this process's processors that others had, 0 where
    the system does not say."""

    share = 0.0

    def __enter__(self) -> Others:
        self._start = _ticks(), _own()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        (busy, idle), own = _ticks(), _own() - self._start[1]
        busy, idle = busy - self._start[0][0], idle - self._start[0][1]
        if busy + idle > 0:
            self.share = max(0.0, (busy - own) / (busy + idle))


def _own() -> float:
    times = os.times()
    return (times.user + times.system) * _TICK


def _ticks(path: str = "/proc/stat") -> tuple[float, float]:
    """(in which they ran or were stolen, in which they had nothing to do), of the processors that this process may use."""
    ours = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    busy = idle = 0.0
    try:
        with open(path, encoding="ascii") as file:
            for line in file:
                name, *numbers = line.split()
                if name in ours and len(numbers) >= 8:  # user nice system idle iowait irq softirq steal
                    ticks = [float(number) for number in numbers[:8]]
                    idle += ticks[3] + ticks[4]
                    busy += sum(ticks) - ticks[3] - ticks[4]
    except (OSError, ValueError):
        return 0.0, 0.0
    return busy, idle
