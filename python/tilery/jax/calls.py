"""`kernel_call`: a kernel as a call of XLA's foreign function interface."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.ffi
import numpy

from tilery import _native

from ..errors import error, with_article
from ..frontend.wording import did_you_mean
from .code import Call, compiled, declared_results

_TARGET = "tilery_kernel"
_TYPES = {"cpu": "tilery_cpu_kernel", "CUDA": "tilery_cuda_kernel"}
_VMAP_METHODS = ("expand_dims", "broadcast_all", "sequential", "sequential_unrolled")


_REGISTRATIONS = _native.xla_registrations()
if not _REGISTRATIONS:
    raise error(
        ImportError,
        "this build of Tilery has no handlers for XLA: jaxlib's headers were not there",
        hint="install jaxlib and build Tilery again; its wheels have them",
    )


@functools.cache
def register() -> None:
    """Makes XLA know how kernels are called, which `kernel_call` does by itself: for programs that call what others exported."""
    jax.devices()  # jaxlib hands on in the wrong order what is registered before there are platforms
    for platform, given in _REGISTRATIONS.items():
        jax.ffi.register_ffi_type(_TYPES[platform], given["type"], platform=platform)
        jax.ffi.register_ffi_target(_TARGET, given["target"], platform=platform)


def kernel_call(
    kernel: Any,
    out_shape: Any = None,
    *,
    grid: Any = None,
    input_output_aliases: Mapping[int, int] | None = None,
    vmap_method: str = "expand_dims",
    platforms: Sequence[str] | None = None,
) -> Callable[..., Any]:
    """A function of arrays that launches a kernel of any language: `kernel_call(kernel, out_shape, grid=...)(x, y, n=10)`.
    The kernel is compiled when the function is traced, for these shapes and numbers, and its code becomes part of XLA's program,
    which calls it without Python. The function may stand in what is under `jax.jit`, `jax.vmap`, `jax.shard_map` and
    `jax.custom_vjp`; it has no derivative of its own. Outside of `jax.jit` each call is traced.

    It takes what the kernel takes, but for its results: arrays and numbers by position, then by name. The results follow behind
    what is given by position: `kernel(x, y, z, n=10)` above.

    :param out_shape: of the results: a `jax.ShapeDtypeStruct` for one, a sequence of them for several. None: as the kernel says
        (TileLang's `out_idx`).
    :param grid: extents, or a function of the kernel's arguments, of kernels that take one (Tileon, Triton).
    :param input_output_aliases: {operand: result} that are the same memory: the kernel reads and writes it, and takes it once.
        Operands that are not named must not be written.
    :param vmap_method: as `jax.ffi.ffi_call` has it. "expand_dims" and "broadcast_all": one call of XLA for all of the batch,
        which launches the kernel once for each element.
    :param platforms: "cpu", "cuda": what it is compiled for; the default backend of JAX, if not given.
    :return: what the function returns is one array or, where `out_shape` is a sequence, as many.
    :raises tilery.ValueError: the kernel writes to an operand that is no result, or not to a result.
    :raises tilery.TypeError: a number is traced; results have no shapes.
    """
    if vmap_method not in _VMAP_METHODS:
        hint = did_you_mean(vmap_method, _VMAP_METHODS) or "known: " + ", ".join(_VMAP_METHODS)
        raise error(ValueError, f"unknown vmap_method {vmap_method!r}", hint=hint)
    aliases = _aliases(input_output_aliases)

    def function(*args: Any, **named: Any) -> Any:
        register()
        operands = [arg for arg in args if _is_array(arg)]
        for name, value in named.items():
            if _is_array(value):
                hint = "arrays go by position; what code is compiled for is static: jax.jit(..., static_argnames=...)"
                raise error(TypeError, f"`{name}` is an array, or traced by JAX, where a number is expected", hint=hint)
        given = [_kind(arg) if _is_array(arg) else arg for arg in args]
        kinds = out_shape if out_shape is not None else declared_results(kernel, given, named)
        several = isinstance(kinds, (tuple, list))
        results = tuple(_kind(kind) for kind in (kinds if several else [kinds]))
        _check_aliases(aliases, len(operands), len(results))
        call = Call(kernel, grid, given, named, results, aliases, _targets(platforms))
        return jax.ffi.ffi_call(
            _TARGET,
            results if several else results[0],
            vmap_method="broadcast_all" if aliases and vmap_method == "expand_dims" else vmap_method,
            input_output_aliases=aliases,
        )(*operands, **compiled(call))

    return function


def _aliases(given: Any) -> dict[int, int]:
    number = (int, numpy.integer)
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(n, number) for pair in given.items() for n in pair):
        hint = "write {0: 0} where the first operand is the first result"
        raise error(TypeError, f"input_output_aliases maps numbers of operands to those of results, got {given!r}", hint=hint)
    return {int(operand): int(result) for operand, result in given.items()}


def _check_aliases(aliases: Mapping[int, int], operands: int, results: int) -> None:
    for what, named, count in (("operand", aliases.keys(), operands), ("result", aliases.values(), results)):
        for number in named:
            if not 0 <= number < count:
                message = f"input_output_aliases names {what} {number}, but there are {count}, counted from 0"
                raise error(ValueError, message, hint="numbers of kernels' arrays alone are counted")
    if len(set(aliases.values())) < len(aliases):
        raise error(ValueError, "input_output_aliases gives two operands one result", hint="each result is one operand's memory")


def _is_array(value: Any) -> bool:
    return hasattr(value, "shape") and hasattr(value, "dtype") and not isinstance(value, numpy.generic)


def _kind(value: Any) -> jax.ShapeDtypeStruct:
    if not _is_array(value):
        message = f"a result is described by its shape and type, got {with_article(type(value).__name__)}"
        raise error(TypeError, message, hint="write jax.ShapeDtypeStruct((n,), 'float32')")
    return jax.ShapeDtypeStruct(value.shape, value.dtype)


def _targets(platforms: Sequence[str] | None) -> tuple[str, ...]:
    """Targets of the compiler for these platforms."""
    names = [jax.default_backend()] if platforms is None else platforms
    known = {"cpu": "host", "gpu": "cuda", "cuda": "cuda"}
    for name in names:
        if name not in known:
            raise error(ValueError, f"there is no code for the platform {name!r}", hint="known: cpu, cuda")
    return tuple(dict.fromkeys(known[name] for name in names))
