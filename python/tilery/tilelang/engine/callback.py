"""Callbacks on the text of another language: there is none to call them with, so that what they would tune stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.ignored import ignore
from ...core.names import named


def _kept(name: str) -> Callable[..., Any]:
    def register(func: Callable[..., Any] | None = None, override: bool = True) -> Any:
        ignore(f"tilelang.engine.callback.{name}", override=override)
        if func is None or isinstance(func, bool):  # as a decorator with options
            return lambda function: function
        return func

    return named(register, name, "Takes a function of generated text, which is never called: none is made.")


register_cuda_postproc = _kept("register_cuda_postproc")
register_hip_postproc = _kept("register_hip_postproc")
register_c_postproc = _kept("register_c_postproc")
register_cuda_postproc_callback = _kept("register_cuda_postproc_callback")
register_hip_postproc_callback = _kept("register_hip_postproc_callback")
register_c_postproc_callback = _kept("register_c_postproc_callback")
register_metal_postproc_callback = _kept("register_metal_postproc_callback")
