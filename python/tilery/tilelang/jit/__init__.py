"""@tilelang.jit and tilelang.compile."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...core.frames import trimmed
from ...core.names import takes_options
from ...core.pickled import OwnCopy, by_name
from ...core.progress import Progress
from ...core.unmade import compile_time, launches_are_unmade
from ...errors import Error, error
from ...frontend.source import remember
from ..language.eager.builder import PrimFunc
from .eager import EagerFunction, freeze, is_eager
from .kernel import JITKernel
from .options import Options

if TYPE_CHECKING:
    from ...core.explain import Report

__all__ = ["JITImpl", "JITKernel", "compile", "jit", "par_compile"]


@takes_options
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
    """The JITKernel of a prim_func. What other compilers' options change nothing here, its `explanation` says."""
    if not isinstance(func, PrimFunc):
        raise error(TypeError, f"tilelang.compile takes a function decorated with @T.prim_func, got {type(func).__name__}")
    given = (target, target_host, execution_backend, verbose, pass_configs, compile_flags)
    return JITKernel(func, out_idx, Options("tilelang.compile", *given))


def par_compile(
    funcs: Iterable[PrimFunc], num_workers: int | None = None, ignore_error: bool = False, **options: Any
) -> list[JITKernel | None]:
    """compile() of several functions, in order, whose machine code is made side by side, for the tensors that libraries usually
    allocate; with ignore_error a failure gives None."""
    return _side_by_side(funcs, lambda func: compile(func, **options), num_workers, ignore_error)


def _side_by_side(
    funcs: Iterable[PrimFunc], make: Callable[[PrimFunc], JITKernel], num_workers: int | None, ignore_error: bool
) -> list[JITKernel | None]:
    kernels: list[JITKernel | None] = []
    for func in funcs:
        try:
            kernels.append(make(func))
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


class JITImpl(OwnCopy):
    """A function that builds kernels from compile-time arguments; equal arguments give the same kernel."""

    def __init__(self, function: Callable[..., Any], out_idx: Any, options: dict[str, Any]) -> None:
        if inspect.isfunction(function):
            remember(function)
        self.function, self.out_idx, self.given = function, out_idx, options
        self.eager = EagerFunction(function, out_idx, lambda: self.options) if is_eager(function) else None
        self.__name__: str = getattr(function, "__name__")
        self.kernels: dict[tuple[Any, ...], JITKernel] = {}
        self.others: dict[tuple[Any, ...], JITImpl] = {}
        self.signature = inspect.signature(function)
        functools.update_wrapper(self, function)

    @functools.cached_property
    def options(self) -> Options:
        return Options("tilelang.jit", **self.given)

    def __reduce__(self) -> str:
        return by_name(self, "pickle the function that makes it, or use it under its name in its module")

    def __repr__(self) -> str:
        kind = "eager kernel" if self.eager else "kernels of"
        return f"<{kind} {self.__name__}({', '.join(self.signature.parameters)})>"

    def get_tir(self, *args: Any, **kwargs: Any) -> PrimFunc:
        """The prim_func for these arguments; of an eager function, types of tensors may stand for tensors."""
        if self.eager:
            return self.eager.prim_func(args, kwargs)
        self._bound(args, kwargs)
        result = self.function(*args, **kwargs)
        if not isinstance(result, PrimFunc):
            raise error(
                TypeError,
                f"`{self.__name__}` returned {type(result).__name__} "
                "where @tilelang.jit expects a function decorated with @T.prim_func",
                hint="return the inner function",
            )
        return result

    def explain(self, *args: Any, seconds: float = 0.2, **kwargs: Any) -> Report:
        """Of an eager function: runs it, and says what its launch did, as a kernel's `explain` does. Others make kernels: ask
        those."""
        from ...core.explain import explained

        return explained(lambda: self(*args, **kwargs), seconds)

    def compile(self, *args: Any, **kwargs: Any) -> JITKernel:
        """The kernel for these arguments."""
        if self.eager:
            return self.eager.compile(args, kwargs)[0]
        if launches_are_unmade():
            args, kwargs = tuple(map(compile_time, args)), {name: compile_time(value) for name, value in kwargs.items()}
        bound = self._bound(args, kwargs)
        bound.apply_defaults()
        key = tuple(freeze(self.__name__, name, value) for name, value in bound.arguments.items())
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = self.kernels[key] = JITKernel(self.get_tir(*args, **kwargs), self.out_idx, self.options)
        return kernel

    def _bound(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
        """The arguments by name.

        :raises tilery.TypeError: the function does not take them."""
        try:
            return self.signature.bind(*args, **kwargs)
        except TypeError as wrong:
            names = ", ".join(self.signature.parameters)
            raise error(TypeError, f"{self.__name__}(): {wrong}", hint=f"its parameters: {names}") from None

    def with_pass_configs(self, configs: Mapping[Any, Any] | None) -> JITImpl:
        """The same function with further switches."""
        if not configs:
            return self
        key = tuple(freeze(self.__name__, "pass_configs", item) for item in configs.items())
        if key not in self.others:
            switches = {**(self.given["pass_configs"] or {}), **configs}
            self.others[key] = JITImpl(self.function, self.out_idx, {**self.given, "pass_configs": switches})
        return self.others[key]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The kernel for these arguments; an eager function runs at once."""
        try:
            return self.eager(args, kwargs) if self.eager else self.compile(*args, **kwargs)
        except Error as wrong:
            raise trimmed(wrong)

    def par_compile(
        self, configs: Iterable[Any], num_workers: int | None = None, ignore_error: bool = False
    ) -> list[JITKernel | None]:
        """Kernels for several tuples or dicts of arguments."""
        return _side_by_side(
            [self.get_tir(**c) if isinstance(c, dict) else self.get_tir(*c) for c in configs],
            lambda func: JITKernel(func, self.out_idx, self.options),
            num_workers,
            ignore_error,
        )

    def get_kernel_source(self, *args: Any, **kwargs: Any) -> str:
        return self.compile(*args, **kwargs).get_kernel_source()


@takes_options
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
    if func is not None and not inspect.isfunction(func) and hasattr(func, "jit_impl"):
        hint = "write @tilelang.autotune first"
        raise error(TypeError, f"@tilelang.jit is above @tilelang.autotune on `{func.__name__}`", hint=hint)
    options: dict[str, Any] = dict(
        target=target,
        target_host=target_host,
        execution_backend=execution_backend,
        verbose=verbose,
        pass_configs=pass_configs,
        compile_flags=compile_flags,
        debug_root_path=debug_root_path,
    )
    return (lambda f: JITImpl(f, out_idx, options)) if func is None else JITImpl(func, out_idx, options)
