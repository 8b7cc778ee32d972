"""Reductions and scans of buffers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilery import _native

from ...core.ignored import ignore
from ...core.names import named
from ...errors import error
from ..tracing.memory import native_region, tile_op


def _check_dim(what: str, dim: Any) -> None:
    if isinstance(dim, bool) or not isinstance(dim, int):
        raise error(TypeError, f"`dim` of {what} is the number of a dimension, got {dim!r}")


def _reduce(kind: str) -> Callable[..., None]:
    def function(buffer: Any, out: Any, dim: int = -1, clear: bool = True, batch: int = 1, nan_propagate: bool = False) -> None:
        trace = tile_op(f"T.reduce_{kind}")
        _check_dim(f"T.reduce_{kind}", dim)
        if batch < 1:
            raise error(ValueError, f"batch must be >= 1, got {batch}")
        ignore(f"T.reduce_{kind}", batch=batch)
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
            native_region(trace, buffer, "T.reduce", reads=True),
            native_region(trace, out, "T.reduce"),
            dim,
            bool(clear),
            bool(nan_propagate),
        )

    return named(function, f"reduce_{kind}", f"out = {kind} of buffer along dim; combined with out's old content unless `clear`.")


reduce_sum, reduce_max, reduce_min, reduce_absmax = _reduce("sum"), _reduce("max"), _reduce("min"), _reduce("absmax")


reduce_bitand, reduce_bitor, reduce_bitxor = _reduce("bitand"), _reduce("bitor"), _reduce("bitxor")


def reduce_abssum(buffer: Any, out: Any, dim: int = -1, batch: int = 1) -> None:
    """out = sum of absolute values of buffer along dim."""
    _reduce("abssum")(buffer, out, dim, True, batch)


def reduce(
    buffer: Any, out: Any, kind: str, dim: int = -1, clear: bool = True, batch: int = 1, nan_propagate: bool = False
) -> None:
    """out = `kind` ("sum", "max", ...) of buffer along dim."""
    _reduce(kind)(buffer, out, dim, clear, batch, nan_propagate)


def _scan(kind: str) -> Callable[..., None]:
    def function(src: Any, dst: Any = None, dim: int = 0, reverse: bool = False) -> None:
        trace = tile_op(f"T.cum{kind}")
        _check_dim(f"T.cum{kind}", dim)
        dst = src if dst is None else dst
        source, target = native_region(trace, src, "a scan", reads=True), native_region(trace, dst, "a scan")
        _native.scan_region(trace.native, kind, source, target, dim, bool(reverse))

    return named(function, f"cum{kind}", f"dst = running {kind} of src along dim (in place without dst).")


cumsum, cummax = _scan("sum"), _scan("max")


def _vote(name: str, kind: str) -> Callable[[Any], Any]:
    def function(buffer: Any) -> Any:
        trace = tile_op(f"T.{name}")
        native = trace.native

        def compute() -> Any:
            tile = _native.load_region(native, native_region(trace, buffer, f"T.{name}", reads=True))
            return native.reduce(kind, native.cast(tile, "bool"), None)

        return trace.together_value(compute)

    return named(function, name, f"{'Is any' if kind == 'or' else 'Are all'} of a buffer's or region's elements other than 0?")


any_of, all_of = _vote("any_of", "or"), _vote("all_of", "and")
