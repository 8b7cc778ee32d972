"""Buffers of a kernel, and tensors that a call makes."""

from ...errors import error
from ..tracing.context import current, kernel
from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import LocalVar, Memory, shape_of


def alloc(shape, element, scope, space):
    """A buffer of this program, in the space that the IR knows."""
    trace = kernel(f"T.alloc_{space}")
    shape = shape_of(shape)
    for size in shape:
        if not isinstance(size, int):
            raise error(
                ValueError,
                f"the shape of a buffer must be known at compile time, got {size!r}",
                hint="T.dynamic sizes cannot size a buffer",
            )
    return Memory(shape, element, scope, native=trace.native.alloc(shape, element_type(element), space))


def alloc_shared(shape, dtype="float32", scope="shared.dyn"):
    """Memory that the whole block sees."""
    return alloc(shape, dtype, scope, "shared")


def alloc_fragment(shape, dtype="float32", scope="local.fragment"):
    """A tile held by the block's threads together."""
    return alloc(shape, dtype, scope, "fragment")


def alloc_local(shape, dtype="float32", scope="local"):
    """An array that each thread has for itself."""
    return alloc(shape, dtype, scope, "local")


def alloc_var(dtype="float32", *args, scope="local.var", init=None):
    """A variable that keeps what is assigned to it; used like a number."""
    if args and not isinstance(args[0], str):
        init = args[0]
    variable = LocalVar(alloc((1,), dtype, scope, "local"))
    if init is not None:
        variable.store(init)
    return variable


def empty(shape, dtype="float32"):
    """A tensor that the function allocates and returns."""
    trace = current()
    if trace is None or trace.in_kernel:
        raise error(RuntimeError, "T.empty belongs in the function's body, before `with T.Kernel(...)`")
    return trace.add_tensor(Memory(shape_of(shape), dtype, "global"), "output")


def alloc_global(shape, dtype="float32", scope="global"):
    """A workspace that lives during the call."""
    trace = current()
    if trace is None or trace.in_kernel:
        raise error(RuntimeError, "T.alloc_global belongs in the function's body, before `with T.Kernel(...)`")
    return trace.add_tensor(Memory(shape_of(shape), dtype, "global"), "workspace")
