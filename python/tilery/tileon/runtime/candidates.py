"""Which configurations of a kernel are worth timing: those that differ in something the target heeds, and, on a CPU, those that a
model of a launch does not expect to be far behind."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native

from ...errors import Error, StaticAssertion
from ..backends.active import driver
from ..backends.compiler import DEFAULTS

_HEEDED = ("debug", "sanitize_overflow", "enable_fp_fusion")  # options that every target heeds
_ON_GPUS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims")
_STORE = re.compile(r"tile\.(?:store|atomic\w*) [^\n]*?!tile\.\w+<(?:([\dx]+)x)?[a-z]")  # and the shape of what it writes

FEW = 8  # so many are timed whatever the model says
BEHIND = 2.0  # what the model expects to take so many times as long as the best is not timed
_PROGRAM = 60e-9  # seconds to start a program
_LANE = 0.5e-9  # seconds a stored lane takes with all that leads to it: what matters is how it compares with _PROGRAM


def meaning(config: Any, parameters: Sequence[str]) -> tuple[Any, ...]:
    """What is equal of configurations between which the active target sees no difference."""
    heeded = _HEEDED if driver.active.get_current_target().backend == "cpu" else (*_HEEDED, *_ON_GPUS)
    values = config.all_kwargs()
    known = [(k, v) for k, v in sorted(values.items()) if k in parameters or k in heeded or not _is_option(k)]
    return (*[(k, repr(v)) for k, v in known], config.pre_hook)


def _is_option(name: str) -> bool:
    from .jit import OPTIONS

    return name in OPTIONS or name in DEFAULTS


def distinct(configs: Sequence[Any], parameters: Sequence[str]) -> dict[Any, list[Any]]:
    """{configuration: those that mean the same, itself the first}"""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for config in configs:
        groups.setdefault(meaning(config, parameters), []).append(config)
    return {group[0]: group for group in groups.values()}


def promising(configs: Sequence[Any], kernel: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """On a CPU those that the model does not expect far behind the best, at least FEW; elsewhere, and where the model cannot
    tell, all of them."""
    if len(configs) <= FEW or driver.active.get_current_target().backend != "cpu":
        return list(configs)
    costs = {}
    for config in configs:
        cost = _cost(kernel, grid, args, {**kwargs, **config.all_kwargs()})
        if cost is None:
            return list(configs)
        costs[config] = cost
    order = sorted(configs, key=costs.__getitem__)
    limit = BEHIND * costs[order[0]]
    kept = {id(c) for n, c in enumerate(order) if n < FEW or costs[c] <= limit}
    return [c for c in configs if id(c) in kept]


def _cost(kernel: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> float | None:
    """Seconds that a launch is expected to take, by the programs it has and the lanes they store; None: nothing can be said. Of
    kernels with loops the work inside is taken to be the same whatever the sizes; what differs is how well programs fill the
    threads, lanes beyond the ends, and the cost of starting programs."""
    surveyed = survey(kernel, grid, args, kwargs)
    if surveyed is None:
        return None
    programs, text = surveyed
    lanes = sum(math.prod(map(int, filter(None, shape.split("x")))) for shape in _STORE.findall(text))
    if not lanes or not programs:
        return None if programs else math.inf
    rounds = math.ceil(programs / _native.num_threads())
    return rounds * (_PROGRAM + lanes * _LANE)


def survey(kernel: Any, grid: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[int, str] | None:
    """(the number of programs of a launch, the kernel's IR), without compiling; None: it cannot be told. A kernel that
    refuses its constants has none."""
    from ..compiler.compiler import CompiledKernel

    found: list[str] = []
    programs: list[int] = []

    def trace(signature: Any, values: Any) -> Callable[..., None]:
        found.append(CompiledKernel(kernel, signature, values).module.text())
        return lambda extents, _: programs.append(math.prod(extents))

    launcher = _native.Launcher(kernel.fn.__name__, kernel.native_parameters, trace)
    try:
        launcher[grid](*args, **kwargs)
    except StaticAssertion:
        return 0, ""
    except (Error, TypeError, ValueError):
        return None
    return programs[0], found[0]
