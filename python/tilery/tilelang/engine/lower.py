"""The IR of a function, without compiling it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import error
from ..jit.options import Options
from ..language.eager.builder import PrimFunc
from ..tracing import program
from ..tracing.arithmetic import Arithmetic
from ..tvm.module import IRModule
from .param import CompiledArtifact, KernelParam


def lower(
    func_or_mod: PrimFunc | IRModule,
    target: Any = "auto",
    target_host: Any = None,
    runtime_only: bool = False,
    enable_host_codegen: bool = False,
    enable_device_compile: bool = False,
    compile_flags: str | Sequence[str] | None = None,
    pass_configs: dict[Any, Any] | None = None,
) -> CompiledArtifact:
    """Traces and checks the function; tilelang.compile makes something that can be called."""
    function = next(iter(func_or_mod.functions.values())) if isinstance(func_or_mod, IRModule) else func_or_mod
    if not isinstance(function, PrimFunc):
        raise error(TypeError, f"tilelang.lower takes a function decorated with @T.prim_func, got {type(function).__name__}")
    options = Options("tilelang.compile", target, target_host, pass_configs=pass_configs, compile_flags=compile_flags)
    function.check()
    layouts = program.usual_layouts(function.params)
    if function.traced and options.arithmetic == Arithmetic():
        module = function.traced[1].module
    else:
        module = program.build(function, [], dict(layouts), arithmetic=options.arithmetic)
    params = [KernelParam.of(kind) for _, kind in function.params]
    own = IRModule({function.__name__: function})
    return CompiledArtifact(function, params, module.text(), own, own)
