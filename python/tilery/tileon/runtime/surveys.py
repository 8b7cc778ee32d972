"""What a launch with each of an autotuner's configurations would be, found without compiling."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import StaticAssertion
from .ahead import decided_later
from .jit import JITFunction


@dataclass(eq=False)
class Survey:
    """extents: of the grid. compiled: the kernel. values: of what the configuration gives arguments of run time."""

    extents: tuple[int, ...]
    compiled: Any
    values: tuple[Any, ...]

    @functools.cached_property
    def ir(self) -> str | None:
        """The kernel's, without hints; empty: it refuses its constants, None: it is no program."""
        try:
            text: str = self.compiled.module.text(hints=[])
        except StaticAssertion:
            return ""
        except Exception:  # its launch says what is wrong
            return None
        return text


class Surveys:
    """Of the configurations of one call, each looked at once.

    :param kernel: a JITFunction, or functions of `heuristics` around one."""

    def __init__(self, kernel: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        self.around: list[Any] = []
        while not isinstance(kernel, JITFunction):
            self.around.append(kernel)
            kernel = kernel.fn
        self.kernel, self.grid, self.args, self.kwargs = kernel, grid, args, kwargs
        self.known: dict[Any, Survey | None] = {}

    def of(self, config: Any) -> Survey | None:
        """None: it cannot be told."""
        if config not in self.known:
            self.known[config] = None
            if not decided_later(config, self.args, self.kwargs):
                with contextlib.suppress(Exception):  # of the program's own functions, too: the launch tells it
                    self.known[config] = self._look(config)
        return self.known[config]

    def _look(self, config: Any) -> Survey:
        from ..compiler.compiler import CompiledKernel
        from .structured import Launches

        compiled: list[Any] = []
        grids: list[tuple[int, ...]] = []

        def look(kernel: Any, signature: Any, values: Any) -> Callable[..., None]:
            compiled.append(CompiledKernel(kernel, signature, values))
            return lambda extents, _: grids.append(tuple(extents))

        given = config.all_kwargs()
        for kernel in self.around:
            for name, function in kernel.values.items():
                given[name] = function({**dict(zip(kernel.arg_names, self.args)), **self.kwargs, **given})
        Launches(self.kernel, look)(self.grid, self.args, {**self.kwargs, **given})
        known = self.kernel.constexpr_names
        values = sorted((name, repr(v)) for name, v in given.items() if name in self.kernel.by_name and name not in known)
        return Survey(grids[0], compiled[0], tuple(values))
