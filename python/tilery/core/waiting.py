"""How long this process had work and no processor."""

from __future__ import annotations

import glob
from types import TracebackType


class Waiting:
    """`with Waiting() as waiting:`; afterwards `waiting.share` is the share of the time in which this process's threads had
    something to do that they waited for a processor, 0 where the system does not say."""

    share = 0.0

    def __enter__(self) -> Waiting:
        self._start = spent()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        ran, waited = (now - before for now, before in zip(spent(), self._start))
        if waited > 0 and ran + waited > 0:
            self.share = waited / (ran + waited)


def spent(threads: str = "/proc/self/task/*/schedstat") -> tuple[float, float]:
    """Nanoseconds that the process's threads (ran, waited for a processor)."""
    ran = waited = 0.0
    for path in glob.glob(threads):
        try:
            with open(path, encoding="ascii") as file:
                numbers = file.read().split()
            ran, waited = ran + float(numbers[0]), waited + float(numbers[1])
        except (OSError, ValueError, IndexError):  # the thread has ended
            continue
    return ran, waited
