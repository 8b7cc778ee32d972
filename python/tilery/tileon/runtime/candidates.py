"""Which configurations of a kernel are worth timing: those that differ in something the target heeds, and, on a CPU, those that a
model of a launch does not expect to be far behind."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from tilery import _native

from ..backends.active import driver
from ..compiler.options import LAUNCH, OPTIONS
from ..ignored import ROWS
from .surveys import Surveys

# Options that GPUs alone heed, or refuse.
_ON_GPUS = ("num_warps", "num_ctas", "cluster_dims", "maxnreg", "launch_cooperative_grid", "launch_pdl")
_STORE = re.compile(r"tile\.(?:store|atomic\w*) [^\n]*?!tile\.\w+<(?:([\dx]+)x)?[a-z]")  # and the shape of what it writes

FEW = 8  # so many are timed whatever the model says
BEHIND = 2.0  # what the model expects to take so many times as long as the best is not timed
_PROGRAM = 60e-9  # seconds to start a program
_LANE = 0.5e-9  # seconds a stored lane takes with all that leads to it: what matters is how it compares with _PROGRAM


def _matters(option: str) -> bool:
    if option in _ON_GPUS:
        return bool(driver.active.get_current_target().backend != "cpu")
    return option not in ROWS[LAUNCH]


def meaning(config: Any, parameters: Sequence[str]) -> tuple[Any, ...]:
    """What is equal of configurations between which the active target sees no difference."""
    values = config.all_kwargs()
    known = [(k, v) for k, v in sorted(values.items()) if k in parameters or _matters(k)]
    return (*[(k, repr(v)) for k, v in known], config.pre_hook)


def option_meaning(config: Any, parameters: Sequence[str]) -> tuple[Any, ...]:
    """That of the options, other than hints, which the IR has."""
    values = config.all_kwargs()
    known = [k for k in sorted(values) if k in OPTIONS and k not in parameters and k != "num_warps" and _matters(k)]
    return tuple((k, repr(values[k])) for k in known)


def distinct(configs: Sequence[Any], parameters: Sequence[str]) -> dict[Any, list[Any]]:
    """{configuration: those that mean the same, itself the first}"""
    groups: dict[tuple[Any, ...], list[Any]] = {}
    for config in configs:
        groups.setdefault(meaning(config, parameters), []).append(config)
    return {group[0]: group for group in groups.values()}


def promising(configs: Sequence[Any], surveys: Surveys) -> list[Any]:
    """On a CPU those that the model does not expect far behind the best, at least FEW; elsewhere, and where the model cannot
    tell, all of them."""
    if len(configs) <= FEW or driver.active.get_current_target().backend != "cpu":
        return list(configs)
    costs = {}
    for config in configs:
        cost = _cost(surveys, config)
        if cost is None:
            return list(configs)
        costs[config] = cost
    order = sorted(configs, key=costs.__getitem__)
    limit = BEHIND * costs[order[0]]
    kept = {id(c) for n, c in enumerate(order) if n < FEW or costs[c] <= limit}
    return [c for c in configs if id(c) in kept]


def _cost(surveys: Surveys, config: Any) -> float | None:
    """Seconds that a launch is expected to take, by the programs it has and the lanes they store; None: nothing can be said. Of
    kernels with loops the work inside is taken to be the same whatever the sizes; what differs is how well programs fill the
    threads, lanes beyond the ends, and the cost of starting programs."""
    survey = surveys.of(config)
    if survey is None or survey.ir is None:
        return None
    programs = math.prod(survey.extents) if survey.ir else 0
    if not programs:
        return math.inf
    stored = _STORE.findall(survey.ir)
    lanes = sum(math.prod(map(int, filter(None, shape.split("x")))) for shape in stored)
    if not lanes:
        return None
    rounds = math.ceil(programs / _native.num_threads())
    return rounds * (_PROGRAM + lanes * _LANE)
