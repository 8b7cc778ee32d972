"""Buffers of a kernel, and tensors that a call makes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...errors import error
from ..tracing.context import current, kernel
from ..tracing.dtypes import CODED
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import LocalVar, Memory
from ..tracing.shapes import shape_of
from ..tracing.values import Expr, is_number, is_size
from .tir.op import max_value, min_value


def alloc(shape: Sequence[int] | int, element: str, scope: str, space: str) -> Memory:
    """A buffer of this program, in the space that the IR knows."""
    trace = kernel(f"T.alloc_{space}")
    kind = "shared" if space == "shared" else "local"
    if space == "fragment" and scope.partition(".")[0] == "shared":
        space = "shared"  # as upstream reads it
    elif scope.partition(".")[0] != kind:
        hint = f"scopes of {kind} memory are {kind!r} or begin with it and a dot"
        raise error(ValueError, f"T.alloc_{space} has no scope {scope!r}", hint=hint)
    sizes = shape_of(shape)
    if space == "shared" and any(not isinstance(size, int) for size in sizes) and all(map(is_size, sizes)):
        return trace.sized_at_run_time(sizes, element)
    for size in sizes:
        if not isinstance(size, int):
            raise error(
                ValueError,
                f"the shape of a buffer must be known at compile time, got {size!r}",
                hint="only T.alloc_shared takes T.dynamic sizes",
            )
    memory = Memory(sizes, element, scope)
    memory.launch = trace.open

    def native(shape: Sequence[int]) -> Any:
        return trace.native.alloc(memory.in_bytes(shape), memory.dtype.storage, space if shape == memory.shape else "shared")

    if space == "local":
        trace.end_single()  # it lasts longer
    if space == "local" and trace.open.thread is None and not trace.open.plain:
        trace.give_rows(memory, native)
    elif space == "fragment" and not trace.open.plain:
        trace.give_copies(memory, native)
    else:
        memory.native = native(sizes)
        trace.keep_in_phases(memory)
    if trace.work and space == "shared":
        trace.work.launches[-1].shared += math.prod(sizes) * memory.dtype.bits // 8
    return memory


def alloc_shared(shape: Sequence[int] | int, dtype: str, scope: str = "shared.dyn") -> Memory:
    """Memory that the whole block sees."""
    return alloc(shape, dtype, scope, "shared")


def alloc_fragment(shape: Sequence[int] | int, dtype: str, scope: str = "local.fragment") -> Memory:
    """A tile held by the block's threads together."""
    return alloc(shape, dtype, scope, "fragment")


def alloc_local(shape: Sequence[int] | int, dtype: str, scope: str = "local") -> Memory:
    """An array that each thread has for itself."""
    return alloc(shape, dtype, scope, "local")


def alloc_var(dtype: str, *args: Any, scope: str = "local.var", init: Any = None) -> LocalVar:
    """A variable that keeps what is assigned to it; used like a number."""
    if args and not isinstance(args[0], str):
        init = args[0]
    if element_type(dtype) in CODED:
        raise error(NotImplementedError, f"T.alloc_var of {element_type(dtype)}", hint="keep the value as float32 or int8")
    variable = LocalVar(alloc((1,), dtype, scope, "local"))
    if init is not None:
        if is_number(init) and math.isfinite(init) and not min_value(dtype) <= init <= max_value(dtype):
            raise error(
                ValueError,
                f"the initial value {init!r} exceeds {'maximum' if init > 0 else 'minimum'} of {variable.dtype}",
                hint=f"it holds {min_value(dtype)} to {max_value(dtype)}",
            )
        variable.store(init)
    return variable


def empty(*shape: Any, dtype: Any = None) -> Memory:
    """A tensor that the function allocates and returns: T.empty((m, n), "float16") or T.empty(m, n, dtype="float16")."""
    trace = current()
    if trace is not None:
        trace.end_plain()
    if trace is None or trace.in_kernel:
        raise error(RuntimeError, "T.empty belongs in the function's body, before `with T.Kernel(...)`")
    *sizes, last = shape or ((),)
    if dtype is None and sizes and not isinstance(last, (int, Expr)):
        dtype = last
    else:
        sizes.append(last)
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = list(sizes[0])
    made = trace.add_tensor(Memory(shape_of(sizes), "float32" if dtype is None else dtype, "global"), "output")
    made.divisibility = trace.results_divide_by
    return made


def alloc_global(shape: Sequence[Any] | Any, dtype: str, scope: str = "global") -> Memory:
    """A workspace that lives during the call."""
    trace = current()
    if trace is not None:
        trace.end_plain()
    if scope != "global":
        raise error(ValueError, f"T.alloc_global has no scope {scope!r}", hint="T.alloc_buffer knows the others")
    if trace is None or trace.in_kernel:
        raise error(RuntimeError, "T.alloc_global belongs in the function's body, before `with T.Kernel(...)`")
    return trace.add_tensor(Memory(shape_of(shape), dtype, "global"), "workspace")


_SPACES = {"shared": "shared", "shared.dyn": "shared", "local": "local", "local.fragment": "fragment", "local.var": "local"}


def alloc_buffer(shape: Sequence[Any] | Any, dtype: str = "float32", *, scope: str = "global") -> Memory:
    """A buffer by the name of its scope: shared, shared.dyn, local, local.fragment or global."""
    if scope == "global":
        return alloc_global(shape, dtype)
    if scope not in _SPACES:
        raise error(ValueError, f"T.alloc_buffer has no scope {scope!r}", hint="known: global, " + ", ".join(_SPACES))
    return alloc(shape, dtype, scope, _SPACES[scope])
