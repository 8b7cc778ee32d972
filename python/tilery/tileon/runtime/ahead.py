"""Kernels of an autotuner's configurations, compiled in parallel before they are timed one after another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ...core.present import present


def compile_ahead(kernel: Any, rounds: Iterable[Sequence[Any]], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Compiles what launches of `kernel` with these configurations will ask for, in as many threads as there are processors, one
    round after another. Nothing is run, and what cannot be compiled is not told: its launch does that. Where the program watches
    compilations, all are left to the launches."""
    workers = len(os.sched_getaffinity(0))
    if workers < 2 or _is_watched():
        return

    def compile(call: dict[str, Any]) -> None:
        try:
            kernel.run(*args, grid=(1,), warmup=True, **call)
        except Exception:  # of a program's own functions, too
            pass

    with ThreadPoolExecutor(workers) as executor:
        for configs in rounds:
            calls = [{**kwargs, **config.all_kwargs()} for config in configs if not decided_later(config, args, kwargs)]
            list(executor.map(compile, calls))


def _is_watched() -> bool:
    knobs = present("tilery.tileon.knobs")
    if knobs is None:
        return False
    runtime, compilation = knobs.runtime, knobs.compilation
    watching = (runtime.jit_cache_hook, runtime.jit_post_compile_hook, compilation.listener)
    return any(watching) or bool(runtime.kernel_load_start_hook or runtime.kernel_load_end_hook)


def decided_later(config: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """May the configuration's own function give a descriptor another block?"""
    given = (*args, *kwargs.values())
    return config.pre_hook is not None and any(hasattr(value, "block_shape") for value in given)
