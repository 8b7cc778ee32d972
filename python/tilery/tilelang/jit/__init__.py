"""@tilelang.jit and tilelang.compile."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import error
from ...frontend.source import remember
from ..language.eager.builder import PrimFunc
from ..tvm.target import check_target
from ..utils.progress import Progress
from .eager import EagerFunction, freeze, is_eager
from .kernel import JITKernel

__all__ = ["JITImpl", "JITKernel", "compile", "jit", "par_compile"]


BACKENDS = ("auto", "tvm_ffi", "cython", "nvrtc", "torch", "cutedsl", "dlpack", "ctypes")


def check_backend(execution_backend: str) -> None:
    """Refuses a way of calling kernels that nobody knows; there is one here, so a known one changes nothing."""
    if execution_backend not in BACKENDS:
        raise error(ValueError, f"unknown execution_backend {execution_backend!r}", hint="known: " + ", ".join(BACKENDS))


def compile(
    func: PrimFunc | None = None,
    out_idx: int | Sequence[int] | None = None,
    execution_backend: str = "auto",
    target: str | dict[str, Any] | None = "auto",
    target_host: str | None = None,
    verbose: bool = False,
    pass_configs: dict[Any, Any] | None = None,
    compile_flags: str | Sequence[str] | None = None,
) -> JITKernel:
    """The JITKernel of a prim_func. Options of other back ends are accepted."""
    if not isinstance(func, PrimFunc):
        raise error(TypeError, f"tilelang.compile takes a function decorated with @T.prim_func, got {type(func).__name__}")
    check_target(target)
    check_backend(execution_backend)
    return JITKernel(func, out_idx, target, pass_configs, execution_backend)


def par_compile(
    funcs: Iterable[PrimFunc], num_workers: int | None = None, ignore_error: bool = False, **options: Any
) -> list[JITKernel | None]:
    """compile() of several functions, in order, whose machine code is made side by side, for the tensors that libraries usually
    allocate; with ignore_error a failure gives None."""
    kernels: list[JITKernel | None] = []
    for func in funcs:
        try:
            kernels.append(compile(func, **options))
        except Exception:
            if not ignore_error:
                raise
            kernels.append(None)
    ready = prepare([kernel for kernel in kernels if kernel], num_workers, ignore_error)
    return [kernel if kernel in ready else None for kernel in kernels]


def prepare(kernels: Sequence[JITKernel], num_workers: int | None = None, ignore_error: bool = True) -> list[JITKernel]:
    """Makes machine code of several kernels side by side. Gives those that have some, each once; a failure is raised, or left
    out."""
    from concurrent.futures import ThreadPoolExecutor

    kernels = list(dict.fromkeys(kernels))  # configurations that differ in hints alone have one

    def one(kernel: JITKernel) -> JITKernel | None:
        try:
            kernel.prepare()
            return kernel
        except Exception:
            if not ignore_error:
                raise
            return None
        finally:
            bar.step(kernel.prim_func.__name__)

    with Progress("compiling", len(kernels)) as bar, ThreadPoolExecutor(num_workers or os.cpu_count()) as pool:
        return [kernel for kernel in pool.map(one, kernels) if kernel]


class JITImpl:
    """A function that builds kernels from compile-time arguments; equal arguments give the same kernel."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        if inspect.isfunction(function):
            remember(function)
        self.function, self.options = function, options
        self.eager = EagerFunction(function, options) if is_eager(function) else None
        self.__name__: str = getattr(function, "__name__")
        self.kernels: dict[tuple[Any, ...], JITKernel] = {}
        self.signature = inspect.signature(function)
        functools.update_wrapper(self, function)

    def get_tir(self, *args: Any, **kwargs: Any) -> PrimFunc:
        """The prim_func for these arguments; of an eager function, types of tensors may stand for tensors."""
        if self.eager:
            return self.eager.prim_func(args, kwargs)
        result = self.function(*args, **kwargs)
        if not isinstance(result, PrimFunc):
            raise error(
                TypeError,
                f"`{self.__name__}` returned {type(result).__name__} "
                "where @tilelang.jit expects a function decorated with @T.prim_func",
                hint="return the inner function",
            )
        return result

    def compile(self, *args: Any, **kwargs: Any) -> JITKernel:
        """The kernel for these arguments."""
        if self.eager:
            return self.eager.compile(args, kwargs)[0]
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as wrong:
            names = ", ".join(self.signature.parameters)
            raise error(TypeError, f"{self.__name__}(): {wrong}", hint=f"its parameters: {names}") from None
        bound.apply_defaults()
        key = tuple(freeze(self.__name__, name, value) for name, value in bound.arguments.items())
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = self.kernels[key] = compile(self.get_tir(*args, **kwargs), **self.options)
        return kernel

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel for these arguments; an eager function runs at once."""
        return self.eager(args, kwargs) if self.eager else self.compile(*args, **kwargs)

    def par_compile(
        self, configs: Iterable[Any], num_workers: int | None = None, ignore_error: bool = False
    ) -> list[JITKernel | None]:
        """Kernels for several tuples or dicts of arguments."""
        return par_compile(
            [self.get_tir(**c) if isinstance(c, dict) else self.get_tir(*c) for c in configs],
            num_workers,
            ignore_error,
            **self.options,
        )

    def get_kernel_source(self, *args: Any, **kwargs: Any) -> str:
        return self.compile(*args, **kwargs).get_kernel_source()


def jit(
    func: Callable[..., Any] | None = None,
    *,
    out_idx: int | Sequence[int] | None = None,
    target: str | dict[str, Any] | None = "auto",
    target_host: str | None = None,
    execution_backend: str = "auto",
    verbose: bool = False,
    pass_configs: dict[Any, Any] | None = None,
    debug_root_path: str | None = None,
    compile_flags: str | Sequence[str] | None = None,
) -> Any:
    """Decorator: a function that returns a prim_func gives the compiled kernel instead."""
    check_target(target)
    if func is not None and not inspect.isfunction(func) and hasattr(func, "jit_impl"):
        hint = "write @tilelang.autotune first"
        raise error(TypeError, f"@tilelang.jit is above @tilelang.autotune on `{func.__name__}`", hint=hint)
    options = dict(
        out_idx=out_idx,
        target=target,
        target_host=target_host,
        execution_backend=execution_backend,
        verbose=verbose,
        pass_configs=pass_configs,
        compile_flags=compile_flags,
    )
    return (lambda f: JITImpl(f, options)) if func is None else JITImpl(func, options)
