"""Reducers: buffers to which the iterations of parallel loops contribute, and which are read when all have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...errors import error
from ..tracing.context import kernel
from ..tracing.dtypes import is_float
from ..tracing.memory import Element, Memory, native_region, shape_of
from ..tracing.values import Expr, current_builder
from .tir.op import max_value, min_value

# What a reducer starts from, and the update that combines.
_KINDS = {"sum": "add", "max": "max", "min": "min", "bitand": "and", "bitor": "or", "bitxor": "xor"}


class Reducer(Memory):
    """A buffer that is written by T.reducer_update only, between T.reducer_init and T.finalize_reducer."""

    def __init__(self, shape: tuple[int, ...], element: str, op: str, native: Any) -> None:
        super().__init__(shape, element, "local.reducer", native=native)
        self.op = op
        self.scope_of_init: list[Any] | None = None  # the regions around T.reducer_init, while updates may come
        self.finished = False

    def check_access(self, what: str) -> None:
        if not (self.finished and what == "read of"):
            raise error(
                ValueError,
                f"illegal {what} reducer `{self.label()}`",
                hint="T.reducer_update combines values with it; read what T.finalize_reducer gives",
            )

    def identity(self) -> Any:
        """What changes nothing."""
        if self.op in ("sum", "bitor", "bitxor"):
            return 0
        if self.op == "bitand":
            return max_value(self.dtype) if self.dtype.startswith("u") or self.dtype == "bool" else -1
        if is_float(self.dtype):
            return current_builder().constant(float("-inf" if self.op == "max" else "inf"), self.dtype.storage)
        return min_value(self.dtype) if self.op == "max" else max_value(self.dtype)


def alloc_reducer(shape: Sequence[int] | int, dtype: str = "float32", op: str = "sum", replication: str | None = None) -> Reducer:
    """A reducer: op is sum, max, min, bitand, bitor or bitxor. How threads share it is the compiler's choice."""
    trace = kernel("T.alloc_reducer")
    if op not in _KINDS:
        raise error(ValueError, f"T.alloc_reducer has no op {op!r}", hint="known: " + ", ".join(_KINDS))
    if replication not in (None, "all", "none"):
        raise error(ValueError, f"T.alloc_reducer has no replication {replication!r}", hint="known: all, none")
    sizes = shape_of(shape)
    reducer = Reducer(sizes, dtype, op, None)
    if op.startswith("bit") and is_float(reducer.dtype):
        raise error(ValueError, f"a reducer of {op} needs integers, not {reducer.dtype}")
    reducer.native = trace.native.alloc(list(sizes), reducer.dtype.storage, "fragment")
    trace.reducers.append(reducer)
    return reducer


def _reducer(value: Any, what: str) -> Reducer:
    memory = value.memory if isinstance(value, Element) else value
    if not isinstance(memory, Reducer):
        raise error(TypeError, f"{what} takes a buffer of T.alloc_reducer, got {value!r}")
    return memory


def reducer_init(reducer: Any, value: Any = None) -> None:
    """Starts an accumulation from `value`, or from what changes nothing."""
    trace = kernel("T.reducer_init")
    trace.check_tile_op("T.reducer_init")
    memory = _reducer(reducer, "T.reducer_init")
    if isinstance(value, Expr) and value.dtype != memory.dtype:
        raise error(
            ValueError,
            f"the value of T.reducer_init is {value.dtype}, which does not match reducer `{memory.label()}` of {memory.dtype}",
            hint=f"convert it: T.cast(value, {memory.dtype!r})",
        )
    if not trace.dry:
        if memory.scope_of_init is not None:
            raise error(ValueError, f"double T.reducer_init of `{memory.label()}`", hint="finalize it in between")
        memory.scope_of_init, memory.finished = list(trace.regions), False
    region = _native.Region(memory.native, memory.label(), list(memory.shape), [0] * memory.ndim, list(memory.shape), True)
    _native.fill_region(trace.native, region, memory.identity() if value is None else value)


def reducer_update(target: Element, value: Any) -> None:
    """Combines `value` with an element of a reducer, in a T.Parallel loop."""
    trace = kernel("T.reducer_update")
    memory = _reducer(target, "T.reducer_update")
    if not isinstance(target, Element):
        raise error(TypeError, f"T.reducer_update takes an element of `{memory.label()}`", hint="name it: acc[i]")
    if not trace.parallel:
        raise error(
            ValueError,
            f"T.reducer_update of `{memory.label()}` outside any T.Parallel",
            hint="each iteration of a T.Parallel loop contributes once",
        )
    if memory.scope_of_init is None and not trace.dry:
        raise error(ValueError, f"T.reducer_update of `{memory.label()}` before T.reducer_init", hint="call T.reducer_init first")
    native = trace.native
    native.element_update(_KINDS[memory.op], memory.native, target.indices, native.cast(value, memory.dtype.storage))


def finalize_reducer(reducer: Any, dst: Any = None, batch: int = 1) -> None:
    """Ends an accumulation: its result goes to `dst`, or without one can be read from the reducer itself."""
    trace = kernel("T.finalize_reducer")
    trace.check_tile_op("T.finalize_reducer")
    memory = _reducer(reducer, "T.finalize_reducer")
    if batch < 1:
        raise error(ValueError, f"batch must be at least 1, got {batch}")
    if not trace.dry:
        begun = memory.scope_of_init
        if begun is None:
            raise error(ValueError, f"T.finalize_reducer of `{memory.label()}` before T.reducer_init")
        deeper = trace.regions[len(begun) :]
        if trace.regions[: len(begun)] != begun or any(region.kind != "if" for region in deeper):
            raise error(
                ValueError,
                f"T.finalize_reducer of `{memory.label()}` is not in the scope of its T.reducer_init",
                hint="write both in one loop body; a branch may be around T.finalize_reducer",
            )
        if not deeper:
            memory.scope_of_init = None
        memory.finished = True
    if dst is None:
        return
    source = _native.Region(memory.native, memory.label(), list(memory.shape), [0] * memory.ndim, list(memory.shape), True)
    _native.copy_region(trace.native, source, native_region(trace, dst, "T.finalize_reducer"), None)
