"""The symbolic value that a kernel computes with, and access to the trace it belongs to."""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from ...errors import error
from ...frontend.operators import ARITHMETIC, COMPARISONS
from ...frontend.wording import shown
from ..checks import host_number
from . import types
from .types import constexpr, unwrap

_active = threading.local()


def running() -> Any:
    """The trace that is running on this thread, or None."""
    return getattr(_active, "tracer", None)


def tracer() -> Any:
    """The trace that is running on this thread."""
    current = running()
    if current is None:
        raise error(
            RuntimeError,
            "functions of tl work only inside a kernel",
            hint="launch a function decorated with @jit: kernel[grid](...)",
        )
    return current


def called(name: str) -> str:
    """A function or type of the language, as the running trace's programs name it."""
    return f"{tracer().prefix}.{name}"


def native() -> Any:
    """The builder of the running trace."""
    return tracer().native


class activate:
    """Makes a trace the running one of this thread."""

    def __init__(self, new: Any) -> None:
        self.new = new

    def __enter__(self) -> Any:
        self.old = getattr(_active, "tracer", None)
        _active.tracer = self.new

    def __exit__(self, *_: Any) -> None:
        _active.tracer = self.old


def constant_of(value: Any, what: str) -> Any:
    """A compile-time int, or an error that names what needs it."""
    value = unwrap(value)
    if isinstance(value, tensor):
        if value.constant is not None:
            return value.constant
        raise error(
            ValueError,
            f"{what} must be a compile-time constant, got a run-time value of type {value.handle.type}",
            hint=tracer().constant_hint,
        )
    return host_number(value)


def int_of(value: Any, what: str) -> int:
    """The same of what may be nothing but an int."""
    value = constant_of(value, what)
    if not hasattr(value, "__index__"):
        raise error(TypeError, f"{what} must be an int, got {shown(value)}")
    return operator.index(value)


def shape_of(shape: Any) -> list[int]:
    """A tile's shape as a list of ints."""
    shape = unwrap(shape)
    if not isinstance(shape, (tuple, list)):
        shape = (shape,)
    out = []
    for size in shape:
        size = constant_of(size, "the shape of a tile")
        if isinstance(size, bool) or not isinstance(size, int):
            raise error(TypeError, f"the shape of a tile is made of ints, got {shown(size)}")
        out.append(size)
    return out


def wrap(handle: Any) -> tensor:
    return tensor(handle)


def plain(value: Any) -> Any:
    """What the builder takes: constexpr opened, None refused."""
    value = unwrap(value)
    return to_tensor(value) if value is None else value


# What arrays of NumPy and torch have, and tiles spell otherwise; `tl` stands for the language.
_SPELLED = {
    **{name: f"write .to(tl.{kind})" for name, kind in [("float", "float32"), ("half", "float16"), ("double", "float64")]},
    **{name: f"write .to(tl.{kind})" for name, kind in [("int", "int32"), ("long", "int64"), ("bfloat16", "bfloat16")]},
    "astype": "write .to(tl.float32), or another type",
    "type_as": "write .to(other.dtype)",
    "mean": "write tl.sum(x, axis) / n, n being the number of elements",
    **dict.fromkeys(("unsqueeze", "squeeze"), "write x[:, None] or x[None, :] for a dimension more, tl.reshape for one less"),
    **dict.fromkeys(("size", "stride"), "pass it as an argument of the kernel; a tile has .shape"),
}
_NO_SIZE = "a pointer does not say how many elements lie behind it: pass the size as an argument of the kernel"


class _NoSizes(list[int]):
    """The shape of one pointer."""

    def __getitem__(self, index: Any) -> Any:
        raise error(IndexError, "a pointer has no sizes", hint=_NO_SIZE)


class tensor:
    """A tile (or scalar) of numbers or pointers."""

    __slots__ = ("handle", "constant")
    coding: Any = None  # the type of elements that are computed with as their values (coded.py)

    def __init__(self, handle: Any, constant: Any = None) -> None:
        self.handle = handle
        self.constant = constant  # the number, if the value is one written in the program

    @property
    def __tile_value__(self) -> Any:
        return self.handle

    @property
    def dtype(self) -> Any:
        return types.of_native(self.handle.type)

    @property
    def shape(self) -> list[int]:
        shape = list(self.handle.shape)
        return shape if shape or not self.handle.is_pointer else _NoSizes()

    def __tile_instead__(self, name: str) -> str | None:
        """What to write where it has no attribute of the name."""
        if self.handle.is_pointer and name == "size":
            return _NO_SIZE
        return _SPELLED.get(name, "").replace("tl.", called("")) or None

    @property
    def type(self) -> Any:
        shape = self.handle.shape
        return types.block_type(self.dtype, shape) if shape else self.dtype

    @property
    def numel(self) -> int:
        total = 1
        for size in self.handle.shape:
            total *= size
        return total

    @property
    def T(self) -> tensor:
        rank = len(self.handle.shape)
        return wrap(native().permute(self, list(range(rank - 2)) + [rank - 1, rank - 2]))

    def __getitem__(self, index: Any) -> tensor:
        index = index if isinstance(index, tuple) else (index,)
        result, axis = self, 0
        if Ellipsis in [i for i in index if i is Ellipsis]:
            raise error(TypeError, "a tile is indexed with `:` and None only")
        for item in index:
            item = unwrap(item)
            if item is None:
                result = wrap(native().expand_dims(result, axis))
            elif not (isinstance(item, slice) and item == slice(None)):
                hint = "a tile has no addressable elements; use masks, `where` or a reduction"
                if self.handle.is_pointer:
                    hint = f"write {called('load')}(pointer + index) for what lies there, or {called('store')} to change it"
                message = f"unsupported tensor index {shown(item)}: a tile is indexed with `:` and None only"
                raise error(TypeError, message, hint=hint)
            axis += 1
        return result

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        raise error(
            TypeError,
            "an element of a tile cannot be assigned",
            hint="use `where` to make a new tile, or `store` to write memory",
        )

    def __bool__(self) -> NoReturn:
        raise error(
            TypeError,
            f"a run-time value of type {self.handle.type} has no truth at compile time",
            hint="use it in `if`, `while`, `and`, `or`, `not` of a kernel, or in `where`",
        )

    def __index__(self) -> int:
        return constant_of(self, "an index or a size")

    def __iter__(self) -> NoReturn:
        raise error(TypeError, f"cannot loop over a value of type {self.handle.type}")

    def __neg__(self) -> tensor:
        return wrap(native().unary("-", self))

    def __invert__(self) -> tensor:
        return wrap(native().unary("~", self))

    def __pos__(self) -> tensor:
        return self

    def __abs__(self) -> tensor:
        return wrap(native().unary("abs", self))

    def __repr__(self) -> str:
        return f"<{self.handle.type}>"

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(f'constexpr[{size}]' for size in self.shape)}]"

    __hash__ = object.__hash__

    def item(self) -> tensor:
        """The only element of a tile, as a scalar."""
        if self.numel != 1:
            raise error(ValueError, f"item takes a tile of one element, this one is {self.handle.type}")
        return wrap(native().reshape(self, [])) if self.handle.shape else self

    def logical_and(self, other: Any) -> tensor:
        return wrap(native().binary("and", self, plain(other)))

    def logical_or(self, other: Any) -> tensor:
        return wrap(native().binary("or", self, plain(other)))


_NO_OPERANDS = (type(None), str, bytes, tuple, list, dict, set)


def require_operand(value: Any, symbol: str) -> Any:
    """What may stand beside a tile; refuses what a program often has in hand instead."""
    value = unwrap(value)
    if isinstance(value, _NO_OPERANDS):
        hint = tracer().none_hint() if value is None else None
        raise error(TypeError, f"operator {symbol} takes tiles and numbers, got {shown(value)}", hint=hint)
    if hasattr(value, "__array__") and hasattr(value, "__setitem__"):  # NumPy's scalars have no places
        hint = "pass it to the kernel as an argument, or its number, `.item()`, where it has one element"
        raise error(TypeError, f"operator {symbol} takes tiles and numbers, got an array", hint=hint)
    return value


def _operator(symbol: str, reverse: bool) -> Callable[[tensor, Any], tensor]:
    if reverse:
        return lambda self, other: wrap(native().binary(symbol, require_operand(other, symbol), self))
    return lambda self, other: wrap(native().binary(symbol, self, require_operand(other, symbol)))


for _symbol, _method in ARITHMETIC.items():
    if _symbol != "**":  # tiles have no power
        setattr(tensor, f"__{_method}__", _operator(_symbol, False))
        setattr(tensor, f"__r{_method}__", _operator(_symbol, True))
for _symbol, _method in COMPARISONS.items():
    setattr(tensor, f"__{_method}__", _operator(_symbol, False))


def _equal(self: tensor, other: Any) -> Any:
    return False if other is None else wrap(native().binary("==", self, plain(other)))


def _different(self: tensor, other: Any) -> Any:
    return True if other is None else wrap(native().binary("!=", self, plain(other)))


setattr(tensor, "__eq__", _equal)
setattr(tensor, "__ne__", _different)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def member(function: _Function) -> _Function:
    """Makes a function of tl a method of tensors too."""
    setattr(tensor, function.__name__, function)
    return function


Operand = tensor | constexpr | float  # what functions take for a tile: a number takes the type of the tile beside it


def own(value: Any) -> Any:
    """A value of another language's trace as a tensor; others as they are."""
    return wrap(native().materialize(value)) if getattr(type(value), "__tile_guest__", False) else value


def to_tensor(value: Any) -> tensor:
    """A number as a scalar of its own type; tensors as they are."""
    value = own(unwrap(value))
    if isinstance(value, tensor):
        return value
    if not isinstance(value, (bool, int, float)):
        got = "None" if value is None else f"a value of type {type(value).__name__}"
        raise error(TypeError, f"expected a tile or a number, got {got}", hint=tracer().none_hint() if value is None else None)
    return tensor(native().materialize(value), value)


def to_numbers(value: Any, what: str) -> tensor:
    """The same of what may be no address; `what` takes it."""
    value = to_tensor(value)
    native().require_numbers(value, what)
    return value
