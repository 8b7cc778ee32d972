"""What programs tell @tilelang.jit and tilelang.compile beside the function."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.checks import truth
from ...core.ignored import Ignored, told
from ...errors import error
from ..transform.compile_flags import CompileFlags
from ..transform.pass_config import PassConfigs
from ..tvm.target import Target, check_target

BACKENDS = ("auto", "tvm_ffi", "cython", "nvrtc", "torch", "cutedsl", "dlpack", "ctypes")


class Options:
    """`function`: where they are given, "tilelang.jit" or "tilelang.compile". `arithmetic`: what they say of it, else the
    kernel's body may; `ignored`: those that change nothing. They are made when a kernel is compiled: a decorator takes any, so
    that a kernel that nobody calls keeps no module from being imported."""

    def __init__(
        self,
        function: str = "tilelang.compile",
        target: Any = "auto",
        target_host: Any = None,
        execution_backend: str = "auto",
        verbose: bool = False,
        pass_configs: dict[Any, Any] | None = None,
        compile_flags: str | Sequence[str] | None = None,
        debug_root_path: str | None = None,
    ) -> None:
        check_target(target)
        truth(f"{function}(verbose=...)", verbose)
        if execution_backend not in BACKENDS:
            raise error(ValueError, f"unknown execution_backend {execution_backend!r}", hint="known: " + ", ".join(BACKENDS))
        configs, flags = PassConfigs(pass_configs), CompileFlags(compile_flags)
        self.function, self.target, self.execution_backend = function, target, execution_backend
        self.pass_configs = pass_configs or {}
        self.arithmetic = configs.arithmetic.both(flags.arithmetic)
        given = {
            "target_host": target_host,
            "execution_backend": execution_backend,
            "verbose": verbose,
            "compile_flags": flags.ignored,
            "debug_root_path": debug_root_path,
        }
        self.ignored = (*told(function, given), *told("tilelang.PassConfigKey", configs.ignored))

    @property
    def kind(self) -> str:
        """The kind of the target, of the one that is entered, or none."""
        entered = Target.current() if self.target in (None, "auto") else Target(self.target)
        return "" if entered is None else str(entered.kind.name)

    def ignored_on(self, device: int) -> tuple[Ignored, ...]:
        """Those that change nothing of a launch on that GPU, or on the CPU: -1."""
        agrees = self.target in (None, "auto") or (not Target(self.target).attrs and (self.kind == "cuda") == (device >= 0))
        return (*(() if agrees else told(self.function, {"target": self.target})), *self.ignored)
