"""Reductions, scans, sorting and dot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilery import _native

from ...errors import error
from ...frontend.trace import Region
from ..names import named
from . import creation, types
from . import shape as shapes
from .types import float32, int32, uint32, unwrap
from .value import Operand, called, int_of, member, native, tensor, to_tensor, tracer, wrap


def _axis(x: tensor, axis: Any, what: str) -> Any:
    if unwrap(axis) is None:
        return None
    axis, rank = int_of(axis, f"{what}'s axis"), len(x.handle.shape)
    if not -rank <= axis < rank:
        raise error(ValueError, f"{what}: axis {axis} is outside a tile of shape {x.shape}")
    return axis % rank


def _known(kind: str, x: tensor, axis: Any, keep_dims: bool, what: str) -> tensor:
    return wrap(native().reduce(kind, x, _axis(x, axis, what), bool(unwrap(keep_dims))))


def _widen(x: tensor) -> tensor:
    """Narrow ints in 32 bits."""
    if x.dtype.is_int() and x.dtype.primitive_bitwidth < 32:
        return creation.cast(x, int32 if x.dtype.is_int_signed() else uint32)
    return x


def _widen_for_order(x: tensor) -> tensor:
    if x.dtype.is_floating() and x.dtype.primitive_bitwidth < 32:
        return creation.cast(x, float32)
    if x.dtype.is_int() and x.dtype.primitive_bitwidth < 32:
        return creation.cast(x, int32)
    return x


@member
def sum(input: Operand, axis: int | None = None, keep_dims: bool = False, dtype: types.dtype | None = None) -> tensor:
    """Sum along an axis, or of all elements."""
    input = to_tensor(input)
    # Sums of narrow ints are made in 32 bits.
    input = creation.cast(input, dtype) if dtype is not None and unwrap(dtype) is not None else _widen(input)
    return _known("sum", input, axis, keep_dims, "sum")


def _extreme(kind: str, is_max: bool) -> Callable[..., Any]:
    def function(
        input: Operand,
        axis: int | None = None,
        return_indices: bool = False,
        return_indices_tie_break_left: bool = True,
        keep_dims: bool = False,
    ) -> Any:
        given = to_tensor(input)
        input = _widen_for_order(given)
        if unwrap(return_indices):  # upstream widens bf16 alone there
            value, index = native().arg_reduce(
                is_max, input, _axis(input, axis, kind), bool(unwrap(keep_dims)), bool(unwrap(return_indices_tie_break_left))
            )
            return creation.cast(wrap(value), float32 if given.dtype.is_bf16() else given.dtype), wrap(index)
        return _known(kind, input, axis, keep_dims, kind)

    return member(named(function, kind, f"The {kind}imum along an axis, or of all elements; with its index on request."))


max, min = _extreme("max", True), _extreme("min", False)


def _arg(name: str, is_max: bool) -> Callable[..., tensor]:
    def function(input: Operand, axis: int, tie_break_left: bool = True, keep_dims: bool = False) -> tensor:
        input = _widen_for_order(to_tensor(input))
        return wrap(
            native().arg_reduce(is_max, input, _axis(input, axis, name), bool(unwrap(keep_dims)), bool(unwrap(tie_break_left)))[1]
        )

    return member(named(function, name, "The index (int32) of the extreme element along an axis; NaNs lose."))


argmax, argmin = _arg("argmax", True), _arg("argmin", False)


def _integers(name: str, kind: str) -> Callable[..., tensor]:
    def function(input: Operand, axis: int | None = None, keep_dims: bool = False) -> tensor:
        input = to_tensor(input)
        if not input.dtype.is_int():
            raise error(ValueError, f"{name} takes ints, got {input.dtype}")
        return _known(kind, input, axis, keep_dims, name)

    return member(named(function, name, f"Bitwise {kind} along an axis, or of all elements."))


xor_sum, reduce_or = _integers("xor_sum", "xor"), _integers("reduce_or", "or")


def _combine(begin: Callable[[], Any], end: Callable[[Any], Any], inputs: list[tensor], function: Any, what: str) -> list[tensor]:
    """Traces a combine function into the region that `begin` opens."""
    trace, count = tracer(), len(inputs)
    arguments = [wrap(v) for v in begin()]
    trace.regions.append(Region(what, trace.line()))
    with trace.wrapping():  # a region that combines values asserts nothing
        result = trace.call(function, *arguments)
    trace.regions.pop()
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if len(results) != count:
        wanted = f"{count} values" if count > 1 else "one value"
        raise error(TypeError, f"the combine function of {what} must return {wanted}, it returned {len(results)}")
    results = [native().convert(r.handle if isinstance(r, tensor) else r, _scalar(x)) for r, x in zip(results, inputs)]
    return [wrap(v) for v in end(results)]


def _scalar(x: tensor) -> _native.Type:
    return _native.Type(x.handle.dtype)


def _tuple_of(input: Any) -> tuple[list[tensor], bool]:
    return (list(input), True) if isinstance(input, (tuple, list)) else ([to_tensor(input)], False)


@member
def reduce(input: Any, axis: int | None, combine_fn: Any, keep_dims: bool = False) -> Any:
    """Reduction by a function of 2n scalars that returns n, in any order; `input` is a tile or a tuple of n tiles."""
    inputs, many = _tuple_of(input)
    axis = _axis(inputs[0], axis, "reduce")
    rank = len(inputs[0].shape)
    if axis is None:
        inputs = [shapes.ravel(x) for x in inputs]
    b = native()
    results = _combine(lambda: b.reduce_begin(inputs, axis or 0), b.reduce_end, inputs, combine_fn, "reduce")
    if unwrap(keep_dims):
        results = [
            shapes.expand_dims(r, axis) if axis is not None else shapes.reshape(shapes.expand_dims(r, 0), [1] * rank)
            for r in results
        ]
    return tuple(results) if many else results[0]


@member
def associative_scan(input: Any, axis: int, combine_fn: Any, reverse: bool = False) -> Any:
    """Running reduction along an axis by a function of 2n scalars that returns n."""
    inputs, many = _tuple_of(input)
    axis = _axis(inputs[0], axis, "associative_scan")
    b = native()
    results = _combine(
        lambda: b.scan_begin(inputs, axis, bool(unwrap(reverse))), b.scan_end, inputs, combine_fn, "associative_scan"
    )
    return tuple(results) if many else results[0]


@member
def cumsum(input: tensor, axis: int = 0, reverse: bool = False, dtype: types.dtype | None = None) -> tensor:
    """Running sum along an axis."""
    if dtype is not None and unwrap(dtype) is not None:
        input = creation.cast(input, dtype)
    elif input.dtype.name == "bf16":
        input = creation.cast(input, float32)
    else:
        input = _widen(input)
    return wrap(native().scan("sum", input, _axis(input, axis, "cumsum"), bool(unwrap(reverse))))


@member
def cumprod(input: tensor, axis: int = 0, reverse: bool = False) -> tensor:
    """Running product along an axis."""
    if input.dtype.name == "bf16":
        input = creation.cast(input, float32)
    return wrap(native().scan("prod", input, _axis(input, axis, "cumprod"), bool(unwrap(reverse))))


@member
def sort(x: tensor, dim: int | None = None, descending: bool = False) -> tensor:
    """The elements along a dimension (the last one) in order."""
    return wrap(native().sort(x, _axis(x, -1 if unwrap(dim) is None else dim, "sort"), bool(unwrap(descending))))


@member
def topk(x: tensor, k: int, dim: int | None = None, descending: bool = True) -> tensor:
    """The k largest elements along a dimension (the last one), largest first; or the k smallest ones, smallest first."""
    axis = _axis(x, -1 if unwrap(dim) is None else dim, "topk")
    return wrap(native().sort(x, axis, bool(unwrap(descending)), int_of(k, "topk's k")))


@member
def bitonic_merge(x: tensor, dim: int | None = None, descending: bool = False) -> tensor:
    """The elements along a dimension (the last one) in order, where they first rise and then fall or the other way round."""
    axis = _axis(x, -1 if unwrap(dim) is None else dim, "bitonic_merge")
    size, lanes = x.shape[axis], [1] * len(x.shape)
    if size & (size - 1):
        raise error(ValueError, f"bitonic_merge takes a power of two of elements, got {size}")
    lanes[axis] = size
    index = shapes.broadcast_to(shapes.reshape(creation.arange(0, size), lanes), x.shape)
    distance = size // 2
    while distance:  # each element meets the one at this distance; the smaller one stays below, or the larger one
        other = shapes.gather(x, index ^ distance, axis)
        keeps_less = ((index & distance) == 0) ^ bool(unwrap(descending))
        x = shapes.where((x < other) ^ keeps_less, other, x)
        distance //= 2
    return x


@member
def histogram(input: tensor, num_bins: int, mask: Operand | None = None) -> tensor:
    """How often each of 0 .. num_bins - 1 occurs, as int32."""
    input = _widen(input)  # the builder takes numbers as signed ones
    return wrap(native().histogram(input, int_of(num_bins, "histogram's number of bins"), unwrap(mask)))


def dot(
    input: Operand,
    other: Operand,
    acc: tensor | None = None,
    input_precision: str | None = None,
    allow_tf32: bool | None = None,
    max_num_imprecise_acc: int | None = None,
    out_dtype: types.dtype = float32,
) -> tensor:
    """Matrix product of two tiles (or of two batches of them), added to `acc`."""
    input, other, acc = to_tensor(input), to_tensor(other), unwrap(acc)
    precision, allow_tf32 = unwrap(input_precision), unwrap(allow_tf32)
    if precision is not None and allow_tf32 is not None:
        raise error(ValueError, "dot takes input_precision or allow_tf32, not both")
    usual = tracer().products
    if precision is None:
        precision = usual.precision if allow_tf32 is None else "tf32" if allow_tf32 else "ieee"
    if usual.allowed is not None and precision not in usual.allowed:
        known = ", ".join(map(repr, usual.allowed))
        raise error(ValueError, f"input_precision must be one of {known}, got {precision!r}", hint="the launch allows no others")
    kind, wanted, imprecise = input.dtype, unwrap(out_dtype), unwrap(max_num_imprecise_acc)
    if imprecise is None:
        imprecise = usual.imprecise if kind.is_fp8() else None
    elif kind.is_fp8() and imprecise > input.shape[-1]:
        raise error(ValueError, f"max_num_imprecise_acc ({imprecise}) must be <= K ({input.shape[-1]})")
    if wanted.is_bf16():
        raise error(ValueError, "dot cannot return bfloat16", hint=f"use out_dtype={called('float32')} and convert the result")
    half = wanted.is_fp16() or acc is not None and acc.dtype.is_fp16()
    narrow = "float16" if half and (kind.is_fp16() or kind.is_fp8()) else "float32"
    result = "float64" if kind.is_fp64() else "int32" if kind.is_int() else narrow
    if acc is not None and acc.dtype.__tile_dtype__ != result:
        raise error(TypeError, f"the accumulator of this dot must be {result}, got {acc.dtype.__tile_dtype__}")
    apart = 0 if imprecise is None else imprecise or 1
    return wrap(native().dot(input, other, acc, None, result, precision, partial_sums=apart))
