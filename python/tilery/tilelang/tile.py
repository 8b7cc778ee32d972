"""Operations on whole regions: thin over the builder's functions on regions."""

import enum

from ..errors import error
from .context import kernel
from .memory import Element, LocalVar, Memory, Region
from .values import Expr, Val, is_number


class GemmWarpPolicy(enum.IntEnum):
    """How the warps of a block share a product; a hint."""

    Square = 0
    FullRow = 1
    FullCol = 2

    def is_square(self):
        return self == GemmWarpPolicy.Square

    def is_full_row(self):
        return self == GemmWarpPolicy.FullRow

    def is_full_col(self):
        return self == GemmWarpPolicy.FullCol


def _sizes(items):
    return [item if isinstance(item, int) else -1 for item in items]


def native_region(trace, value, what):
    """A buffer, region or element as the builder takes it."""
    from tilery import _native

    if isinstance(value, LocalVar):
        value = value.memory
    memory = value if isinstance(value, Memory) else getattr(value, "memory", None)
    if memory is None:
        raise error(TypeError, f"{what} takes buffers, regions or elements, got {value!r}")
    handle = trace.root(memory) if memory.is_global else memory.native
    shape = _sizes(memory.shape)
    if isinstance(value, Memory):
        return _native.Region(handle, memory.label(), shape, [0] * len(shape), shape, True)
    if isinstance(value, Element):
        return _native.Region(handle, memory.label(), shape, value.indices, [], False)
    return _native.Region(handle, memory.label(), shape, list(value.starts), _sizes(value.extents), False)


def _tile_op(what):
    trace = kernel(what)
    trace.check_tile_op(what)
    return trace


def copy(
    src,
    dst,
    *,
    coalesced_width=None,
    disable_tma=False,
    eviction_policy=None,
    prefer_instruction=None,
    annotations=None,
    loop_layout=None,
):
    """dst = src, converted to dst's type, extents deduced from both. Outside a tensor: reads give 0, writes do nothing."""
    if isinstance(dst, (Element, LocalVar)) and (isinstance(src, (Element, LocalVar)) or is_number(src)):
        return dst.store(src)
    trace = _tile_op("T.copy")
    from tilery import _native

    safe = trace.safe_value(getattr(src, "memory", src))
    _native.copy_region(trace.native, native_region(trace, src, "T.copy"), native_region(trace, dst, "T.copy"), safe)


async_copy = copy


def fill(region, value, what="T.fill"):
    """Every element of a buffer or region gets `value`."""
    if isinstance(region, (Element, LocalVar)):
        return region.store(value)
    if isinstance(value, (Memory, Region)):
        raise error(TypeError, "T.fill takes a number as its value", hint="use T.copy for a buffer")
    trace = _tile_op(what)
    from tilery import _native

    _native.fill_region(trace.native, native_region(trace, region, what), value)


def clear(region):
    """Every element of a buffer or region becomes 0."""
    fill(region, 0, "T.clear")


def gemm(
    A,
    B,
    C,
    transpose_A=False,
    transpose_B=False,
    policy=GemmWarpPolicy.Square,
    clear_accum=False,
    k_pack=1,
    wg_wait=0,
    mbar=None,
    annotations=None,
):
    """C += op(A) @ op(B) in C's type; with clear_accum, C = op(A) @ op(B)."""
    trace = _tile_op("T.gemm")
    from tilery import _native

    regions = [native_region(trace, side, "T.gemm") for side in (A, B, _whole(C))]
    clear = None if clear_accum is False else clear_accum
    _native.gemm_region(trace.native, *regions, bool(transpose_A), bool(transpose_B), clear, GemmWarpPolicy(policy).name)


def _whole(value):
    return value.memory if isinstance(value, LocalVar) else value


def transpose(src, dst):
    """dst[j, i] = src[i, j]."""
    trace = _tile_op("T.transpose")
    for side in (src, dst):
        if not isinstance(side, Memory) or side.ndim != 2 or side.is_global:
            raise error(ValueError, "T.transpose takes two 2-dimensional buffers")
    if src.shape != dst.shape[::-1]:
        raise error(ValueError, f"T.transpose of `{src.label()}` {src.shape} does not fit `{dst.label()}` {dst.shape}")
    native = trace.native
    native.buffer_store(dst.native, native.cast(native.permute(native.buffer_load(src.native), [1, 0]), dst.dtype))


def _reduce(kind):
    def function(buffer, out, dim=-1, clear=True, batch=1, nan_propagate=False):
        trace = _tile_op(f"T.reduce_{kind}")
        from tilery import _native

        if batch < 1:
            raise error(ValueError, f"batch must be at least 1, got {batch}")
        for side in (buffer, out):
            if getattr(side, "is_global", False):
                raise error(
                    ValueError,
                    f"Invalid buffer scopes: `{side.label()}` is a tensor",
                    hint="copy it to a fragment or shared buffer first",
                )
        _native.reduce_region(
            trace.native,
            kind,
            native_region(trace, buffer, "T.reduce"),
            native_region(trace, out, "T.reduce"),
            dim,
            bool(clear),
            bool(nan_propagate),
        )

    function.__name__ = function.__qualname__ = f"reduce_{kind}"
    function.__doc__ = f"out = {kind} of buffer along dim; combined with out's old content unless `clear`."
    return function


reduce_sum, reduce_max, reduce_min, reduce_absmax = _reduce("sum"), _reduce("max"), _reduce("min"), _reduce("absmax")
reduce_bitand, reduce_bitor, reduce_bitxor = _reduce("bitand"), _reduce("bitor"), _reduce("bitxor")


def reduce_abssum(buffer, out, dim=-1, batch=1):
    """out = sum of absolute values of buffer along dim."""
    _reduce("abssum")(buffer, out, dim, True, batch)


def reduce(buffer, out, kind, dim=-1, clear=True, batch=1, nan_propagate=False):
    """out = `kind` ("sum", "max", ...) of buffer along dim."""
    _reduce(kind)(buffer, out, dim, clear, batch, nan_propagate)


def _scan(kind):
    def function(src, dst=None, dim=0, reverse=False):
        trace = _tile_op(f"T.cum{kind}")
        from tilery import _native

        dst = src if dst is None else dst
        _native.scan_region(
            trace.native, kind, native_region(trace, src, "a scan"), native_region(trace, dst, "a scan"), dim, bool(reverse)
        )

    function.__name__ = function.__qualname__ = f"cum{kind}"
    function.__doc__ = f"dst = running {kind} of src along dim (in place without dst)."
    return function


cumsum, cummax = _scan("sum"), _scan("max")

_ORDERS = {
    None: "relaxed",
    "relaxed": "relaxed",
    "consume": "acquire",
    "acquire": "acquire",
    "release": "release",
    "acq_rel": "acq_rel",
    "seq_cst": "seq_cst",
}


def _atomic(kind):
    def function(dst, value, memory_order=None, return_prev=False, use_tma=False):
        trace = kernel(f"T.atomic_{kind}")
        from tilery import _native

        if memory_order not in _ORDERS:
            raise error(ValueError, f"unknown memory order {memory_order!r}", hint="known: " + ", ".join(filter(None, _ORDERS)))
        order = _ORDERS[memory_order]
        if isinstance(dst, Element) and (isinstance(value, Expr) or is_number(value)):
            if not dst.memory.is_global:
                raise error(
                    NotImplementedError,
                    f"an atomic update of `{dst.memory.label()}`, which is no tensor, is not supported",
                    hint="update a tensor parameter",
                )
            old = trace.native.atomic_place(kind, dst.place(trace), trace.native.cast(value, dst.dtype), order, "gpu")
            return Val(old) if return_prev else None
        if return_prev:
            raise error(NotImplementedError, "return_prev needs a single element as destination")
        trace.check_tile_op(f"T.atomic_{kind}")
        source = (
            value
            if isinstance(value, Expr) and not isinstance(value, Element) or is_number(value)
            else native_region(trace, value, "an atomic update")
        )
        _native.atomic_region(trace.native, kind, native_region(trace, dst, "an atomic update"), source, order)
        return None

    function.__name__ = function.__qualname__ = f"atomic_{kind}"
    function.__doc__ = f"Indivisible {kind} of value (a number, an element or a buffer) into dst."
    return function


atomic_add, atomic_max, atomic_min, atomic_or = _atomic("add"), _atomic("max"), _atomic("min"), _atomic("or")


def _view(src, shape, element):
    trace = kernel("T.view")
    if src.is_global:
        raise error(
            NotImplementedError, f"T.view of tensor `{src.label()}`", hint="declare the parameter with the shape you need"
        )
    return Memory(shape, element, src.scope_name, native=trace.native.reinterpret(src.native, list(shape), element))


def reshape(src, shape):
    """The same memory under another shape."""
    return _view(src, tuple(shape), src.dtype)


def view(src, shape=None, dtype=None):
    """The same memory under another shape and element type."""
    element = dtype or src.dtype
    return _view(src, tuple(shape if shape is not None else src.shape), element)
