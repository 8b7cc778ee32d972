"""Reducers: buffers to which the iterations of parallel loops contribute, and which are read when all have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...errors import error
from ..tracing.context import kernel
from ..tracing.dtypes import is_float
from ..tracing.memory import Element, Memory, Pending, native_region
from ..tracing.shapes import shape_of
from ..tracing.values import Expr, current_builder, difference, read
from .tir.op import max_value, min_value

# What a reducer starts from, and the update that combines.
_OPERATORS = {"sum": "+", "max": "max", "min": "min", "bitand": "&", "bitor": "|", "bitxor": "^"}
_KINDS = {"sum": "add", "max": "max", "min": "min", "bitand": "and", "bitor": "or", "bitxor": "xor"}


class Reducer(Memory):
    """A buffer that is written by T.reducer_update only, between T.reducer_init and T.finalize_reducer."""

    def __init__(self, shape: tuple[int, ...], element: str, op: str, native: Any) -> None:
        super().__init__(shape, element, "local.reducer", native=native)
        self.op = op
        self.scope_of_init: list[Any] | None = None  # the regions around T.reducer_init, while updates may come
        self.finished = False
        self.plain = False  # opened by T.fill, and written as acc[i] += x

    def begin_by_fill(self, trace: Any, value: Any) -> None:
        """T.fill and T.clear start an accumulation that is written as `acc[i] += x` or `acc[i] = T.max(acc[i], x)`."""
        self._begin(trace, "T.fill")
        self.plain = True
        _native.fill_region(trace.native, self.region(), value)

    def _begin(self, trace: Any, what: str) -> None:
        if trace.dry:
            return
        if self.scope_of_init is not None:
            raise error(ValueError, f"double {what} of `{self.label()}`", hint="finalize it in between")
        self.scope_of_init, self.finished, self.plain = list(trace.regions), False, False

    def region(self) -> _native.Region:
        return _native.Region(self.native, self.label(), list(self.shape), [0] * self.ndim, list(self.shape), True)

    def accumulate_at(self, element: Element, op: str, value: Any) -> Pending | None:
        if not self.plain or self.finished or op != _OPERATORS[self.op]:
            return None

        def finish(target: Element) -> None:
            same = target.memory is self and all(
                difference(x, y) == 0 for x, y in zip(target.indices, element.indices)
            )
            if not same:
                self.check_access("read of")
            self.update(target, value)

        return Pending(element, finish)

    def update(self, target: Element, value: Any) -> None:
        trace = kernel("T.reducer_update")
        native = trace.native
        converted = native.cast(read(value), self.dtype.storage)
        if trace.parallel:
            native.element_update(_KINDS[self.op], self.native, target.indices, converted)
            return
        old = native.element_load(self.native, target.indices)
        fresh = native.binary(_OPERATORS[self.op], old, converted)
        native.element_store(self.native, target.indices, native.cast(fresh, self.dtype.storage))

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
    ignore("T.alloc_reducer", replication=replication)
    sizes = shape_of(shape)
    reducer = Reducer(sizes, dtype, op, None)
    if op.startswith("bit") and is_float(reducer.dtype):
        raise error(AssertionError, f"a reducer of {op} needs an integer dtype, not {reducer.dtype}")
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
    memory._begin(trace, "T.reducer_init")
    _native.fill_region(trace.native, memory.region(), memory.identity() if value is None else value)


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
    if memory.plain:
        memory.check_access("T.reducer_update of")
    memory.update(target, value)


def finalize_reducer(reducer: Any, dst: Any = None, batch: int = 1) -> None:
    """Ends an accumulation: its result goes to `dst`, or without one can be read from the reducer itself."""
    trace = kernel("T.finalize_reducer")
    trace.check_tile_op("T.finalize_reducer")
    memory = _reducer(reducer, "T.finalize_reducer")
    if batch < 1:
        raise error(ValueError, f"batch must be >= 1, got {batch}")
    ignore("T.finalize_reducer", batch=batch)
    elements = math.prod(memory.shape)
    if batch > elements:
        raise error(ValueError, f"batch {batch} exceeds total output elements: `{memory.label()}` has {elements}")
    if elements % batch:
        raise error(ValueError, f"batch {batch} must evenly divide the {elements} elements of `{memory.label()}`")
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
    _native.copy_region(trace.native, memory.region(), native_region(trace, dst, "T.finalize_reducer"), None)
