"""Takes down a program's launches, times each kind and finds out what the compiler knows of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from .. import compile
from ..launches import Kind, Launches
from .entry import Entry
from .found import Found, find
from .report import Report


class Recorder(Launches):
    """A recorder of launches (`_native.record_launches`). say: takes what is known of each new kind of launch, as soon as it is:
    a later launch may end the process."""

    def __init__(self, seconds: float, say: Callable[[Entry], None] = lambda entry: None) -> None:
        if compile.interpreted(False):
            message = "TILERY_ORACLE is set: launches are interpreted, and what is explained is machine code"
            raise error(RuntimeError, message, hint="unset TILERY_ORACLE")
        super().__init__(seconds)
        self.say = say
        self.found: dict[int, Found] = {}

    def noted(self, kind: Kind, launcher: Any, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        try:
            self.found[id(kind)] = find(lambda: launcher.launch_plainly(grid, *args, **kwargs))
        except Exception as wrong:  # the launch itself was made: the program goes on
            self.found[id(kind)] = Found(why=str(wrong).partition("\n")[0] or type(wrong).__name__)

    def timed(self, kind: Kind) -> None:
        self.say(self._entry(kind))

    def report(self) -> Report:
        return Report([self._entry(kind) for kind in self.kinds])

    def _entry(self, kind: Kind) -> Entry:
        return Entry(kind, self.found.get(id(kind), Found()))
