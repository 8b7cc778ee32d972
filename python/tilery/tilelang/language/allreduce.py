"""Reductions over the threads of a block by a function of the program's own."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import current, threads
from ..tracing.memory import Element, LocalVar, as_stored, native_region
from ..tracing.values import Expr, Val
from .allocate import alloc
from .kernel import get_thread_binding


class Reducer:
    """T.comm_reducer(lambda x, y: ..., [neutral element]): how two values become one."""

    def __init__(self, combine: Callable[..., Any], identities: Sequence[Any]) -> None:
        if not callable(combine) or not isinstance(identities, (list, tuple)) or not identities:
            raise error(TypeError, "T.comm_reducer takes a function of two values and a list of neutral elements")
        self.combine, self.identities = combine, identities


def comm_reducer(combine: Callable[..., Any], identities: Sequence[Any]) -> Reducer:
    """How two values become one, for T.tvm_thread_allreduce."""
    return Reducer(combine, identities)


@contextlib.contextmanager
def attr(node: Any, attr_key: str, value: Any = None) -> Iterator[None]:
    """Says something of the statements in it: the reducer of T.tvm_thread_allreduce; other keys are hints."""
    trace = current()
    if attr_key != "reduce_scope" or trace is None:
        ignore("T.attr", attr_key=attr_key)
        yield
        return
    if not isinstance(node, Reducer):
        raise error(TypeError, "the scope of a reduction is T.comm_reducer(...)")
    outer, trace.reduction = trace.reduction, node
    yield
    trace.reduction = outer


def _axes(trace: Any, bindings: Sequence[Any]) -> set[int]:
    """The axes of these thread indices."""
    indices = {id(index): axis for axis, index in trace.open.thread_indices.items()}
    axes = set()
    for binding in bindings:
        if isinstance(binding, int) and not isinstance(binding, bool):
            continue  # of one thread
        if id(binding) not in indices:
            raise error(
                ValueError,
                "T.tvm_thread_allreduce reduces over what T.get_thread_binding gives",
                hint="pass the thread indices themselves",
            )
        axes.add(indices[id(binding)])
    return axes


def tvm_thread_allreduce(size: Any, *operands: Any, dtype: str = "handle") -> None:
    """Combines a value over threads: (1, value, condition, result, thread index, ...); every thread of a group gets it."""
    trace = threads("T.tvm_thread_allreduce")
    if trace.reduction is None:
        raise error(
            ValueError, "T.tvm_thread_allreduce stands outside a reduction's scope", hint="use T.attr(T.comm_reducer(...), ...)"
        )
    ignore("T.tvm_thread_allreduce", dtype=dtype)
    if len(trace.reduction.identities) != 1 or (isinstance(size, int) and size != 1) or len(operands) < 3:
        raise error(NotImplementedError, "T.tvm_thread_allreduce of several values", hint="reduce one after the other")
    value, condition, result, *bindings = operands
    memory = result.memory if isinstance(result, (Element, LocalVar)) else result
    if not hasattr(memory, "native"):
        raise error(TypeError, f"the result of T.tvm_thread_allreduce is an element of a buffer, got {result!r}")
    target = result if isinstance(result, Element) else Element(memory, [0] * len(memory.shape))
    if isinstance(value, Expr) and hasattr(value, "read"):
        value = value.read()
    axes = _axes(trace, bindings)
    extents = (list(trace.open.threads) + [1, 1])[:3]
    place = [get_thread_binding(axis) for axis in (2, 1, 0)]
    every = alloc((extents[2], extents[1], extents[0]), memory.dtype, "shared.dyn", "shared")
    if condition is not True:
        value = trace.native.select(condition, value, trace.reduction.identities[0])
    Element(every, place).store(Val(as_stored(value, memory)))
    native = trace.native
    shape = [1 if axis in axes else extents[axis] for axis in (2, 1, 0)]
    reduced = alloc(shape, memory.dtype, "shared.dyn", "shared")
    native.together_begin()
    tile = native.reshape(_load(trace, every), every.shape)
    for axis in sorted(axes):
        tile = _combined(trace, tile, 2 - axis)
    _store(trace, reduced, native.reshape(tile, [n for n in shape if n != 1]))
    native.together_end([])
    target.store(Element(reduced, [0 if n == 1 else at for n, at in zip(shape, place)]).read())


def _load(trace: Any, memory: Any) -> Any:
    return _native.load_region(trace.native, native_region(trace, memory, "T.tvm_thread_allreduce"))


def _store(trace: Any, memory: Any, tile: Any) -> None:
    _native.store_region(trace.native, native_region(trace, memory, "T.tvm_thread_allreduce"), tile)


def _combined(trace: Any, tile: Any, axis: int) -> Any:
    """The tile with one element along the axis."""
    native = trace.native
    left, right = native.reduce_begin([tile], axis)
    result = trace.reduction.combine(Val(left), Val(right))
    (tile,) = native.reduce_end([native.materialize(result)])
    return native.expand_dims(tile, axis)
