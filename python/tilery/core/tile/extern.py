"""Functions of upstream's device libraries by their symbols, as programs declare them for themselves: __nv_expf is libdevice.exp
of float32."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from ...errors import error
from ..ignored import ignore
from . import creation, libdevice
from . import shape as shapes
from .types import unwrap
from .value import called, tensor, to_tensor, tracer

TRITON_BUILTIN = "__triton_builtin__"
_Function = TypeVar("_Function", bound=Callable[..., Any])


class Semantic:
    """The compiler's state of upstream, as far as functions ask it: semantic.add(x, y) is tl.add(x, y)."""

    @staticmethod
    def to_tensor(x: Any, check_type: bool = True) -> tensor:
        return to_tensor(x)

    def __getattr__(self, name: str) -> Any:
        from ..functions.table import ROWS
        from .table import ROWS as WRITTEN

        for row in (*WRITTEN, *ROWS):
            if any(name == spelled for spelled, _ in row.spelled("tl")):
                module, _, attribute = getattr(row, "place", "core.tile.elementwise").partition(":")
                return getattr(importlib.import_module("tilery." + module), attribute or name)
        raise AttributeError(name)


def builtin(fn: _Function) -> _Function:
    """Decorator of upstream: a function that is called with the compiler's state, as `_semantic`. It is traced like any other."""
    setattr(fn, TRITON_BUILTIN, True)
    return fn


def extern(fn: _Function) -> _Function:
    """Decorator of upstream: a function that a library declares. It is traced like any other."""
    return builtin(fn)


def with_state(fn: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """What a function gets beside its arguments: what upstream's pass on among themselves; nothing where it is not decorated."""
    names = ("_semantic", "_builder", "_generator")
    plain = {name: value for name, value in kwargs.items() if name not in names}
    if not getattr(fn, TRITON_BUILTIN, False):
        return plain
    return plain | {name: Semantic() for name in names if name in fn.__code__.co_varnames}


def _function(symbol: str) -> Callable[..., Any]:
    """The function of libdevice that a symbol names: __nv_NAME of float64 and of integers, __nv_NAMEf of float32."""
    name = symbol.removeprefix("__nv_").removeprefix("__ocml_")
    for suffix in ("_f32", "_f64"):
        name = name.removesuffix(suffix)
    for candidate in (name, name.removesuffix("f"), name.removesuffix("l"), name.removeprefix("ll").removeprefix("u")):
        if candidate in libdevice.__all__:
            return getattr(libdevice, candidate)
    raise error(
        NotImplementedError,
        f"the device library has no function `{symbol}` that is known here",
        hint=f"use a function of {tracer().prefix} or of {called('extra.libdevice')}",
    )


def extern_elementwise(
    lib_name: str,
    lib_path: str,
    args: Sequence[Any],
    arg_type_symbol_dict: Mapping[Any, Any],
    is_pure: bool = True,
    _semantic: Any = None,
    _builder: Any = None,
) -> tensor:
    """An elementwise function by its symbol. `arg_type_symbol_dict` is {types of the arguments: (symbol, type of the result)};
    arguments are brought to one shape, and, where no entry has their types, to their common type."""
    given = {"lib_name": lib_name, "lib_path": lib_path, "is_pure": is_pure}
    ignore("tl.extern_elementwise", **{name: unwrap(value) for name, value in given.items()})
    tracer().acts |= not unwrap(is_pure)
    tiles = [to_tensor(a) for a in unwrap(args)]
    for i in range(1, len(tiles)):
        tiles[0], tiles[i] = shapes.broadcast(tiles[0], tiles[i])
    tiles = [shapes.broadcast_to(t, tiles[0].shape) for t in tiles]
    table = {tuple(unwrap(t) for t in kinds): unwrap(found) for kinds, found in unwrap(arg_type_symbol_dict).items()}
    kinds = tuple(t.dtype for t in tiles)
    if kinds not in table and len(tiles) > 1:
        common = tiles[0]
        for other in tiles[1:]:
            common = common + other
        kinds = (common.dtype,) * len(tiles)
    if kinds not in table:
        known = "; ".join(", ".join(map(str, k)) for k in table)
        raise error(
            ValueError,
            f"input arg type does not match: expected one of ({known}), got {', '.join(map(str, kinds))}",
            hint="convert the arguments with .to(...)",
        )
    symbol, result = table[kinds]
    value = _function(unwrap(symbol))(*(creation.cast(t, kind) for t, kind in zip(tiles, kinds)))
    return creation.cast(value, unwrap(result))
