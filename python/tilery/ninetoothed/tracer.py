"""What Python means in an application: parameters are memory, helpers are called by name."""

from __future__ import annotations

import os
import sysconfig
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilery import _native

from ..core.tile.creation import arange
from ..core.tile.products import Products
from ..core.tile.tracer import Tracer as TileTracer
from ..core.tile.value import constant_of, tensor
from ..frontend.operators import COMPARISONS
from ..frontend.structure import Number, Undefined
from .arranged import Arranged, SourceView
from .outputs import prepare

_FOREIGN = tuple({os.path.realpath(sysconfig.get_paths()[k]) + os.sep for k in ("stdlib", "platstdlib", "purelib", "platlib")})


class Tracer(TileTracer):
    prepare = staticmethod(prepare)
    prefix = "ntl"
    refuses_chains = True  # as Triton, to which upstream translates
    constant_hint = (
        "use the size of a tile, a number or a constexpr symbol; sizes of a tensor are known with "
        'Tensor(..., shape_options={"constexpr": True})'
    )

    def __init__(self, native: _native.Builder) -> None:
        super().__init__(native, products=Products("tf32"))
        # Of the helpers being traced: a function that gives the values of their parameters.
        self.calls: list[Callable[[], dict[str, Any]] | None] = []
        self.finished_call: dict[str, Any] | None = None  # the values that the parameters of the last helper ended with, by name
        self.peeking = False
        self.ranges: dict[int, tuple[Any, tuple[int, int]]] = {}  # {id of a value: (value, (start, end))} of what arange gave

    def range_of(self, value: Any) -> tuple[int, int] | None:
        """(start, end) if the value is what `arange(start, end)` gave, else None."""
        return self.ranges.get(id(value), (None, None))[1]

    def read(self, value: Any) -> Any:
        """A tile that is mentioned, read; other values as they are."""
        return value._read() if isinstance(value, Arranged) else value

    def host(self, value: Any) -> Any:
        return super().host(self.read(value))

    def load(self, name: str, value: Any) -> Any:
        return value if self.peeking else super().load(name, value)

    def assign(self, name: str, value: Any, old: Any) -> Any:
        if value is old or isinstance(value, Undefined):
            return value
        if isinstance(old, Arranged):
            old._write(value)
            return old
        return super().assign(name, self.held(value), old)

    def unpack(self, value: Any) -> Any:
        return self.held(super().unpack(self.read(value)))  # all are read before the first is assigned

    def held(self, value: Any) -> Any:
        """What a name holds that is given a value: tiles are read, also those in tuples."""
        if isinstance(value, Arranged) and value._indices is None and value._parameter.middle:
            return value  # another name for it: a tile is read when it is indexed
        if type(value) is tuple:
            return tuple(self.held(v) for v in value)
        return self.read(value)

    def set_item(self, owner: Any, index: Any, value: Any) -> None:
        if isinstance(owner, (Arranged, SourceView)):
            owner[index] = value
        else:
            super().set_item(owner, index, value)

    def binary(self, op: str, a: Any, b: Any) -> Any:
        return super().binary(op, self.read(a), self.read(b))

    def operate(self, op: str, a: Any, b: Any) -> Any:
        return super().operate(op, self.read(a), self.read(b)) if op in COMPARISONS else super().operate(op, a, b)

    def if_exp(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        return super().if_exp(test, lambda: self.read(then()), lambda: self.read(other()))

    def return_(self, value: Any) -> Any:
        return tuple(self.read(v) for v in value) if isinstance(value, tuple) else self.read(value)

    # -- integers ----------------------------------------------------------------------------------------------------
    def widens(self, type_: Any, wider: Any) -> bool:
        # Sizes, strides and offsets have 64 bits here, upstream 32 where they fit: programs let them meet 32-bit integers.
        plain = not type_.pointer and not wider.pointer and type_.shape == wider.shape
        return plain and (type_.dtype, wider.dtype) == ("int32", "int64")

    def takes(self, type_: Any, number: Number) -> bool:
        own = not type_.shape and not type_.pointer and type_.dtype == "int64" and type(number) is int
        return own or super().takes(type_, number)

    # -- calls -------------------------------------------------------------------------------------------------------
    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        if getattr(callee, "__self__", None) is self:
            return callee(*args, **kwargs)
        function = callee if isinstance(callee, types.FunctionType) else getattr(callee, "fn", None)
        if isinstance(function, types.FunctionType) and self.wants_inline(function, args, kwargs):
            return self.call_by_name(callee, args, kwargs)
        args = tuple(self.read(a) for a in args)
        result = super().call(callee, *args, **{k: self.read(v) for k, v in kwargs.items()})
        self.finished_call = None  # of a function that the callee was given, and not of the callee
        if callee is arange:
            bounds = dict(zip(("start", "end"), args)) | kwargs
            start, end = (constant_of(bounds[name], "arange's bound") for name in ("start", "end"))
            if start >= 0:
                self.ranges[id(result)] = (result, (start, end))
        return result

    def wants_inline(self, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        if (function.__module__ or "").partition(".")[0] in ("tilery", "torch", "numpy"):
            return False
        if os.path.realpath(function.__code__.co_filename).startswith(_FOREIGN):
            return False
        return any(
            isinstance(leaf, (tensor, Arranged))
            for a in (*args, *kwargs.values())
            for leaf in (a if isinstance(a, (tuple, list)) else (a,))
        )

    def call_by_name(self, callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        self.calls.append(None)
        result = super().call(callee, *args, **kwargs)
        values = self.calls.pop()
        self.peeking = True
        self.finished_call = values() if values else None
        self.peeking = False
        return result

    def watch(self, values: Callable[[], dict[str, Any]]) -> None:
        """A function starts; `values` tells what its parameters hold."""
        if self.calls and self.calls[-1] is None:
            self.calls[-1] = values

    def output(self, value: Any, place: int | str) -> Any:
        """What the parameter that got `value` holds at the end of the last call."""
        values = self.finished_call
        if values is None:
            return value
        if isinstance(place, int):
            if place >= len(values):
                return value
            place = list(values)[place]
        new = values.get(place, value)
        return value if isinstance(new, Undefined) else new

    def finished(self, result: Any, *_: Any) -> Any:
        self.finished_call = None
        return result


__all__ = ["Tracer"]
