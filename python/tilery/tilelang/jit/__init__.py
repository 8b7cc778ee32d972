"""@tilelang.jit and tilelang.compile."""

import functools
import inspect
from concurrent.futures import ThreadPoolExecutor

from ...errors import error
from ..language.eager.builder import PrimFunc
from .eager import EagerFunction, freeze, is_eager
from .kernel import JITKernel

_TARGETS = ("auto", "cuda", "c", "llvm", "cpu", "hip", "metal", "cutedsl")


def check_target(target):
    """Refuses a target nobody knows; a launch runs where its tensors are, so a known one changes nothing."""
    kind = target.get("kind") if isinstance(target, dict) else str(target if target is not None else "auto").split()[0]
    if kind not in _TARGETS:
        raise error(ValueError, f"unknown target {target!r}", hint="known: " + ", ".join(_TARGETS))


def compile(
    func=None,
    out_idx=None,
    execution_backend="auto",
    target="auto",
    target_host=None,
    verbose=False,
    pass_configs=None,
    compile_flags=None,
):
    """The JITKernel of a prim_func. Options of other back ends are accepted."""
    if not isinstance(func, PrimFunc):
        raise error(TypeError, f"tilelang.compile takes a function decorated with @T.prim_func, got {type(func).__name__}")
    check_target(target)
    return JITKernel(func, out_idx, target, pass_configs)


def par_compile(funcs, num_workers=None, ignore_error=False, **options):
    """compile() of several functions side by side, in order; with ignore_error a failure gives None."""

    def one(func):
        try:
            return compile(func, **options)
        except Exception:
            if ignore_error:
                return None
            raise

    with ThreadPoolExecutor(num_workers) as pool:
        return list(pool.map(one, funcs))


class JITImpl:
    """A function that builds kernels from compile-time arguments; equal arguments give the same kernel."""

    def __init__(self, function, options):
        self.function, self.options = function, options
        self.eager = EagerFunction(function, options) if is_eager(function) else None
        self.kernels = {}
        self.signature = inspect.signature(function)
        functools.update_wrapper(self, function)

    def get_tir(self, *args, **kwargs):
        """The prim_func for these arguments."""
        result = self.function(*args, **kwargs)
        if not isinstance(result, PrimFunc):
            raise error(
                TypeError,
                f"`{self.__name__}` returned {type(result).__name__} "
                "where @tilelang.jit expects a function decorated with @T.prim_func",
                hint="return the inner function",
            )
        return result

    def compile(self, *args, **kwargs):
        """The kernel for these arguments."""
        if self.eager:
            return self.eager.compile(args, kwargs)[0]
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        key = tuple(freeze(self.__name__, name, value) for name, value in bound.arguments.items())
        kernel = self.kernels.get(key)
        if kernel is None:
            kernel = self.kernels[key] = compile(self.get_tir(*args, **kwargs), **self.options)
        return kernel

    def __call__(self, *args, **kwargs):
        """The kernel for these arguments; an eager function runs at once."""
        return self.eager(args, kwargs) if self.eager else self.compile(*args, **kwargs)

    def par_compile(self, configs, num_workers=None, ignore_error=False):
        """Kernels for several tuples or dicts of arguments."""
        return par_compile(
            [self.get_tir(**c) if isinstance(c, dict) else self.get_tir(*c) for c in configs],
            num_workers,
            ignore_error,
            **self.options,
        )

    def get_kernel_source(self, *args, **kwargs):
        return self.compile(*args, **kwargs).get_kernel_source()


def jit(
    func=None,
    *,
    out_idx=None,
    target="auto",
    target_host=None,
    execution_backend="auto",
    verbose=False,
    pass_configs=None,
    debug_root_path=None,
    compile_flags=None,
):
    """Decorator: a function that returns a prim_func gives the compiled kernel instead."""
    check_target(target)
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
