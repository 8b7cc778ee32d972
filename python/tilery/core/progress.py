"""A line on the terminal that says how far something is."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import TypeVar

_Item = TypeVar("_Item")


class Progress:
    """`with Progress("compiling", 8) as bar: ... bar.step("128x64")`. Nothing is written where stderr is no terminal."""

    WIDTH = 24

    def __init__(self, what: str, total: int) -> None:
        self.what, self.total, self.done = what, total, 0
        self.shown = sys.stderr.isatty() and total > 1

    def __enter__(self) -> Progress:
        self.start = time.perf_counter()
        self._write("")
        return self

    def step(self, note: str = "") -> None:
        self.done += 1
        self._write(note)

    def each(self, items: Iterable[_Item]) -> Iterator[_Item]:
        """The items; when the next one is asked for, one is done."""
        for item in items:
            yield item
            self.step()

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None) -> None:
        if self.shown:
            sys.stderr.write("\n")

    def _write(self, note: str) -> None:
        if not self.shown:
            return
        filled = self.WIDTH * self.done // self.total
        seconds = time.perf_counter() - self.start
        bar = "#" * filled + "." * (self.WIDTH - filled)
        sys.stderr.write(f"\r{self.what} [{bar}] {self.done}/{self.total} {seconds:.1f} s {note:<40.40}")
        sys.stderr.flush()
