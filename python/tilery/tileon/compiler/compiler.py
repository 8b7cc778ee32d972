"""From a kind of call to a compiled kernel: what the native launcher asks when it meets arguments of a new kind."""

from __future__ import annotations

import os
from typing import Any

from tilery import _native

from ...core import compile
from ...core.oracle import OracleLaunch
from ...core.tile.tracer import default_precision, trace
from ...errors import error
from ...frontend.fingerprint import watched

# Options of a launch that targets may heed: hints of the kernel.
_HINTS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "cluster_dims", "launch_cooperative_grid", "launch_pdl")


def _debugs() -> bool:
    """Do the environment's switches ask for debug=True at every launch?"""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("TRITON_DEBUG", "TILEON_DEBUG"))


class CompiledKernel(compile.CompiledKernel):
    """What a launch returns: the kernel for one kind of call, with its stages as text."""

    def __init__(self, kernel: Any, signature: Any, values: dict[str, Any]) -> None:
        self.debug = bool(values.get("debug") or kernel.debug or _debugs())
        self.overflow = self.debug and values.get("sanitize_overflow") is not False
        self.hints = {option: values.get(option) for option in _HINTS if option not in kernel.arg_names}
        warps = self.hints.get("num_warps")
        if isinstance(warps, int) and (warps < 1 or warps & (warps - 1)):
            raise error(AssertionError, f"num_warps must be a power of 2, got {warps}")
        self.parameters: list[tuple[str, Any, int, Any]] = []  # as `trace` takes them
        self.slots = []  # the positions of those of run time
        for position, (parameter, known) in enumerate(zip(kernel.params, signature.params)):
            if known[0] == "const":
                self.parameters.append((parameter.name, None, 1, known[1]))
                continue
            self.slots.append(position)
            self.parameters.append((parameter.name, *_argument(parameter, known), None))
        annotations = [(p.name, p.float_type, p.is_const) for p in kernel.params]
        specialisation = ["tileon", signature.params, annotations, self.debug, self.overflow]
        specialisation += [default_precision(kernel.fn), self.hints, getattr(kernel, "structure", None)]
        self.assemble = getattr(kernel, "assemble", None)
        fuses = values.get("enable_fp_fusion") is not False or "enable_fp_fusion" in kernel.arg_names
        options = {} if fuses else {"fp_contract": False}
        super().__init__(kernel.fn.__name__, kernel.fn, specialisation, signature, **options)

    def trace(self) -> _native.Module:
        return trace(self.function, self.name, self.parameters, self.debug, self.hints, self.overflow, self.assemble)

    def load(self, image: bytes) -> _native.KernelPlan:
        return _native.KernelPlan(_native.load(image)[0], self.slots, self, self.without_boxes)

    def interpret(self, debug: bool) -> OracleLaunch:
        types = [(name, kind.dtype, kind.pointer) for name, kind, _, _ in self.parameters if kind is not None]
        return OracleLaunch(self.module, self.name, types, debug, self)


def plan(kernel: Any, signature: Any, values: dict[str, Any]) -> Any:
    """The native plan for a kind of call of a JITFunction."""
    kernel.watch(watched(kernel.fn))
    compiled = CompiledKernel(kernel, signature, values)
    return compiled.plan(compiled.debug)


def _argument(parameter: Any, known: tuple[Any, ...]) -> tuple[_native.Type, int]:
    """(type, divisibility) of a run-time argument."""
    kind = known[0]
    if kind == "pointer":
        return _native.Type(known[1], (), True, parameter.is_const), known[2]
    if kind == "int":
        return _native.Type(known[1]), known[2]
    if kind == "float":
        return _native.Type(parameter.float_type), 1
    if kind == "bool":
        return _native.Type("bool"), 1
    raise error(TypeError, f"argument `{parameter.name}` must be a tensor or a number")
