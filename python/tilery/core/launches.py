"""What is noted of a program's launches, for `tilery bench` and explanations."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from typing import Any

from tilery import _native

from ..frontend.wording import shown
from . import compile
from .copies import Copies, NotRepeated, keep_what_changes
from .timing import quantile, time_call
from .waiting import Waiting

_FEWEST, _MOST = 3, 1000  # calls that a kind of launch is timed for


class Kind:
    """Launches of one kernel that differ in nothing but what their tensors hold."""

    def __init__(self, launcher: Any, given: str) -> None:
        self.launcher, self.given = launcher, given
        self.place = ""  # file and line of the kernel's function
        self.is_shared = False  # other functions have its name
        self.number = 1  # of kernels that one function makes
        self.count = 0
        self.first = 0.0  # milliseconds
        self.times: list[float] = []  # of the calls behind it
        self.waited = 0.0  # the share of them that threads waited for a processor
        self.why = ""  # there are none

    @property
    def name(self) -> str:
        place = f" ({self.place})" if self.is_shared and self.place else ""
        return str(self.launcher.kernel_name) + place + (f"({self.number})" if self.number > 1 else "")


class Launches:
    """A recorder of launches (`_native.record_launches`)."""

    while_timing = None  # launches that tuners and programs time are not noted

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.kinds: list[Kind] = []
        self._kind_of: dict[tuple[int, str], Kind] = {}  # by launcher and what it was given; kinds keep launchers alive
        self._others: list[Any] = []  # launchers of the same kernels, kept alive too

    def __call__(self, launcher: Any, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Makes the launch and gives its result; a kind that is new is timed on copies."""
        if isinstance(grid, (tuple, list)) and 0 in grid:  # a kernel is compiled
            return launcher.launch_plainly(grid, *args, **kwargs)
        given = _written(grid, args, kwargs)
        kind = self._kind(launcher, given, lambda of: of.launch_plainly(grid, *args, **kwargs))
        kind.count += 1
        if kind.count > 1:
            return launcher.launch_plainly(grid, *args, **kwargs)
        copies = Copies()
        try:
            other_args = copies.of(list(args))
            other_kwargs = {name: copies.of(value) for name, value in kwargs.items()}
        except NotRepeated as wrong:
            kind.why = f"not repeated: {wrong}"
        result: Any = None

        def first() -> None:
            nonlocal result
            result = launcher.launch_plainly(grid, *args, **kwargs)

        try:
            kind.first = time_call(first)
        except BaseException:  # it was never made
            self.kinds.remove(kind)
            del self._kind_of[id(launcher), given]
            raise
        self._tell_apart(kind, _compiled(lambda of: of.launch_plainly(grid, *args, **kwargs), launcher)[0])
        self.noted(kind, launcher, grid, args, kwargs)
        if not kind.why:
            self._repeat(kind, lambda: launcher.launch_plainly(grid, *other_args, **other_kwargs), copies)
        self.timed(kind)
        return result

    def _kind(self, launcher: Any, given: str, launch: Callable[[Any], Any]) -> Kind:
        """The launch's kind. Kernels of one name that are given the same are told apart by their text: programs make kernels
        anew, and several of one function."""
        known = self._kind_of.get((id(launcher), given))
        if known is None:
            alike = [kind for kind in self.kinds if kind.launcher.kernel_name == launcher.kernel_name]
            alike = [kind for kind in alike if kind.given == given]
            same = [kind for kind in alike if _compiled(launch, launcher)[1] == _compiled(launch, kind.launcher)[1]]
            if same:
                known = same[0]
                self._others.append(launcher)
            else:
                known = Kind(launcher, given)
                self.kinds.append(known)
            self._kind_of[id(launcher), given] = known
        return known

    def _tell_apart(self, new: Kind, place: str) -> None:
        """Kernels of one name have the places of their functions in theirs, or a number if one function makes several that are
        given the same."""
        new.place = place
        alike = [kind for kind in self.kinds if kind is not new and kind.launcher.kernel_name == new.launcher.kernel_name]
        for kind in alike:
            kind.is_shared = kind.is_shared or kind.place != place
        new.is_shared = any(kind.place != place for kind in alike)
        own = [kind for kind in alike if kind.launcher is new.launcher]
        beside = [kind for kind in alike if kind.place == place and kind.given == new.given]
        new.number = own[0].number if own else 1 + len(beside)

    def noted(self, kind: Kind, launcher: Any, grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        """A kind of launch was made for the first time."""

    def timed(self, kind: Kind) -> None:
        """All is known of a new kind."""

    def _repeat(self, kind: Kind, call: Callable[[], Any], copies: Copies) -> None:
        """Times a launch on copies, each time as the program made it."""
        try:
            keep_what_changes(call, copies)
        except NotRepeated as wrong:
            kind.why = f"not repeated: {wrong}"
            return
        with Waiting() as waiting:
            end = time.perf_counter() + self.seconds
            time_call(call)  # the copies are read for the first time
            while len(kind.times) < _FEWEST or time.perf_counter() < end and len(kind.times) < _MOST:
                copies.restore()
                kind.times.append(time_call(call))
        kind.waited = waiting.share

    def table(self) -> str:
        """A line a kind, in the program's order: milliseconds; the spread is the half of all calls around the median."""
        if not self.kinds:
            return "tilery bench: the program launched no kernel in its main thread"
        width = max(len("kernel"), *(len(kind.name) for kind in self.kinds))
        lines = [f"{'kernel':{width}}  launches  first ms  median ms  middle half ms       of"]
        for kind in self.kinds:
            if kind.times:
                low, middle, high = (quantile(kind.times, q) for q in (0.25, 0.5, 0.75))
                found = f"{middle:11.4f}  {low:.4f} .. {high:.4f}"
            else:
                found = f"{'-':>11}  {kind.why}"
            lines.append(f"{kind.name:{width}}{kind.count:10}{kind.first:10.2f}{found:32}  {kind.given}")
        return "\n".join(lines)


def _compiled(launch: Callable[[Any], Any], launcher: Any) -> tuple[str, str]:
    """(file and line of the function, tile IR) of the kernel that `launch(launcher)` would run, and does not; empty: they are
    not known."""
    places: list[str] = []
    texts: list[str] = []

    def ask(compile_callback: Callable[..., Any], signature: Any, values: Any, grid: Any) -> None:
        kernel = compile.asked(lambda: compile_callback(signature, values))
        texts.append(kernel.text if kernel else "")
        if code := getattr(getattr(kernel, "function", None), "__code__", None):
            places.append(f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}")

    _native.ask_launches(ask, lambda: launch(launcher))
    return "".join(places[:1]), "".join(texts)


def _written(grid: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
    """What tells kinds apart, and readers what was launched."""
    parts = [_short(value) for value in args]
    parts += [f"{name}={_short(value)}" for name, value in kwargs.items() if not name.startswith("_")]
    extents = "" if grid is None or callable(grid) else f"{list(grid) if isinstance(grid, (tuple, list)) else [grid]} "
    return extents + " ".join(parts)


def _short(value: Any) -> str:
    if hasattr(value, "dtype") and len(getattr(value, "shape", ())):
        kind = str(value.dtype).removeprefix("torch.")
        return f"{kind}[{', '.join(map(str, value.shape))}]"
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(_short, value))})"
    if hasattr(value, "base") and hasattr(value, "block_shape"):
        return f"{_short(value.base)} by {list(value.block_shape)}"
    return shown(value)
