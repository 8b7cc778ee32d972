"""Symbolic values. Outside a kernel they are trees over sizes (`Var`, `Node`), which host function and kernels evaluate;
inside they are IR values.

Every integer knows its affine form, so that `A[i * 64:(i + 1) * 64]` has the length 64 at compile time."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from tilery import _native

from ...core.checks import host_number
from ...core.present import present
from ...errors import error
from ...frontend.operators import ARITHMETIC, BINARY, COMPARISONS
from ...frontend.wording import shown
from .context import current
from .dtypes import CODED, is_float
from .dtypes import dtype as _dtype
from .words import BY_ELEMENT, WORDS

_uids = itertools.count()
Form = tuple[dict[Any, Any], Any]  # an affine form: {atom: factor}, constant


class Expr:
    """A number known at run time only."""

    __slots__ = ("uid",)
    __hash__ = object.__hash__
    dtype: Any  # its element type

    def __init__(self) -> None:
        self.uid = next(_uids)

    def __bool__(self) -> bool:
        raise error(
            TypeError,
            "a run-time value has no truth value at compile time",
            hint="`if`, `and`, `or` and `not` on run-time values work inside a @T.prim_func or a @T.macro",
        )

    def __index__(self) -> int:
        raise error(TypeError, "a run-time value is used where an integer must be known at compile time")

    __int__ = __float__ = __index__

    def __iter__(self) -> Iterator[Any]:
        raise error(TypeError, "a run-time value cannot be iterated over")

    def affine(self) -> Form:
        """({atom: factor}, constant): the value as a sum of multiples of atoms."""
        return {self.uid: 1}, 0

    def astype(self, to: Any) -> Any:
        return cast(self, to)


def give_operators(cls: Any) -> None:
    """Python's operators on a class of values."""

    def forward(op: str) -> Callable[[Any, Any], Any]:
        def method(self: Any, other: Any) -> Any:
            other = host_number(other)
            return binary(op, self, other) if is_operand(other) else NotImplemented

        return method

    def reflected(op: str) -> Callable[[Any, Any], Any]:
        def method(self: Any, other: Any) -> Any:
            other = host_number(other)
            return binary(op, other, self) if is_operand(other) else NotImplemented

        return method

    for op, name in ARITHMETIC.items():
        setattr(cls, f"__r{name}__", reflected(op))
    for op, name in (ARITHMETIC | COMPARISONS).items():
        setattr(cls, f"__{name}__", forward(op))
    cls.__array_ufunc__ = None  # numpy's scalars leave operations to it
    cls.__tile_guest__ = True  # other languages' kernels take it as a value of theirs
    cls.__neg__ = lambda self: unary("-", self)
    cls.__invert__ = lambda self: unary("~", self)
    cls.__pos__ = lambda self: self
    cls.__abs__ = lambda self: unary("abs", self)


give_operators(Expr)


class Var(Expr):
    """A size bound at each call (`T.dynamic`), or a scalar parameter."""

    __slots__ = ("name", "dtype")

    def __init__(self, name: str, kind: str) -> None:
        super().__init__()
        self.name, self.dtype = name, kind

    @property
    def __tile_digest__(self) -> tuple[Any, ...]:
        return self.name, self.dtype

    def __repr__(self) -> str:
        return self.name

    @property
    def __tile_value__(self) -> Any:
        return current().variable(self)


class Node(Expr):
    """An operation on sizes that has not been evaluated."""

    __slots__ = ("op", "operands")

    def __init__(self, op: str, operands: Sequence[Any]) -> None:
        super().__init__()
        self.op, self.operands = op, operands

    @property
    def __tile_digest__(self) -> tuple[Any, ...]:
        return self.op, self.operands

    @property
    def dtype(self) -> Any:
        if self.op in ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not"):
            return _dtype("bool")
        chosen = self.operands[self.op == "if_then_else" :]
        return next((operand.dtype for operand in chosen if isinstance(operand, Expr)), _dtype("int32"))

    def __repr__(self) -> str:
        if self.op in ("min", "max", "if_then_else"):
            return f"{self.op}({', '.join(map(repr, self.operands))})"
        if len(self.operands) == 1:
            return f"{self.op}{self.operands[0]!r}"
        return f"({self.operands[0]!r} {self.op} {self.operands[1]!r})"

    @property
    def __tile_value__(self) -> Any:
        b = current().native
        if self.op == "if_then_else":
            return b.select(*self.operands)
        if len(self.operands) == 1:
            return b.unary(self.op, self.operands[0])
        return b.binary(self.op, *self.operands)

    def affine(self) -> Form:
        form = combined(self.op, *self.operands) if len(self.operands) == 2 else None
        return form or ({self._key(): 1}, 0)

    def _key(self) -> Any:
        return (
            self.op,
            *(operand._key() if isinstance(operand, Node) else getattr(operand, "uid", operand) for operand in self.operands),
        )


class Val(Expr):
    """A scalar of the kernel being built."""

    __slots__ = ("value", "form", "single")

    def __init__(self, value: Any, form: Form | None = None, single: bool = False) -> None:
        super().__init__()
        self.value, self.form, self.single = value, form, single

    @property
    def dtype(self) -> Any:
        return _dtype(self.value.dtype)

    @property
    def __tile_value__(self) -> Any:
        return self.value

    def affine(self) -> Form:
        return self.form or ({self.uid: 1}, 0)

    def __repr__(self) -> str:
        return f"<run-time {self.value.dtype}>"


class OneThread(Expr):
    """`tx == 0`: true in one thread of a block, or in `threads`. What stands under it is done once, whoever does it; where its
    value is asked for, the kernel is traced again, for each thread, for which `number` makes it."""

    dtype = "bool"

    def __init__(self, threads: int, several: bool, number: Callable[[], Any]) -> None:
        super().__init__()
        self.threads, self.several, self.number = threads, several, number

    def __bool__(self) -> bool:
        raise error(TypeError, "a condition on the thread index has no truth value at compile time", hint="use it in an `if`")

    @property
    def __tile_value__(self) -> Any:
        return self.number().__tile_value__


_lanewise: list[Callable[..., Any]] = []


_coded: list[Callable[[Any, Any], Any]] = []


def register_codes(converted: Callable[[Any, Any], Any]) -> None:
    """coded.py hands over how a value is rounded to a type that memory holds as codes: converted(type, value)."""
    _coded.append(converted)


def register_vectors(lanewise: Any) -> None:
    """vectors.py hands over how operations work on lanes: lanewise(function, operands), None where none has lanes."""
    _lanewise.append(lanewise)


def _lanes(function: Any, *operands: Any) -> Any:
    return _lanewise[0](function, operands) if any(hasattr(x, "lanes") or hasattr(x, "elements") for x in operands) else None


def is_number(value: Any) -> TypeGuard[bool | int | float]:
    return isinstance(value, (bool, int, float))


def is_operand(value: Any) -> bool:
    return is_number(value) or isinstance(value, Expr) or hasattr(value, "__tile_value__") or hasattr(value, "elements")


def _affine(value: Any) -> Form:
    return value.affine() if isinstance(value, Expr) else ({}, value)


def combined(op: str, a: Any, b: Any) -> Form | None:
    if op in "+-":
        (left, x), (right, y) = _affine(a), _affine(b)
        sign = 1 if op == "+" else -1
        form = dict(left)
        for atom, factor in right.items():
            form[atom] = form.get(atom, 0) + sign * factor
        return {atom: factor for atom, factor in form.items() if factor}, x + sign * y
    if op == "*" and (isinstance(a, int) or isinstance(b, int)):
        (form, constant), factor = (_affine(b), a) if isinstance(a, int) else (_affine(a), b)
        return {atom: f * factor for atom, f in form.items() if f * factor}, constant * factor
    return None


def difference(a: Any, b: Any) -> Any:
    """a - b if it is known at compile time, else None."""
    if not all(isinstance(x, (int, Expr)) for x in (a, b)):
        return None
    left = combined("-", a, b)
    return None if left is None or left[0] else left[1]


def _least(a: Any, b: Any) -> Any:
    return min(a, b) if is_number(a) and is_number(b) else sys.modules["numpy"].minimum(a, b)


def _greatest(a: Any, b: Any) -> Any:
    return max(a, b) if is_number(a) and is_number(b) else sys.modules["numpy"].maximum(a, b)


FOLD: dict[str, Callable[..., Any]] = BINARY | {
    "min": _least,
    "max": _greatest,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "if_then_else": lambda condition, a, b: a if condition else b,
}
_NEUTRAL = {("+", 0), ("-", 0), ("*", 1), ("//", 1)}


def is_size(value: Any) -> bool:
    """Known before the kernel runs: a number or a tree over sizes."""
    return isinstance(value, (Var, Node)) or is_number(value)


def sizes_in(items: Iterable[Any]) -> Iterator[Var]:
    """The Vars of some numbers and trees over sizes."""
    for item in items:
        if isinstance(item, Var):
            yield item
        elif isinstance(item, Node):
            yield from sizes_in(item.operands)


def evaluate(value: Any, sizes: Mapping[int, Any]) -> Any:
    """The number that an expression of sizes stands for; None while a size is missing."""
    if isinstance(value, Var):
        return sizes.get(value.uid)
    if isinstance(value, Node):
        operands = [evaluate(operand, sizes) for operand in value.operands]
        if any(operand is None for operand in operands):
            return None
        return -operands[0] if len(operands) == 1 and value.op == "-" else FOLD[value.op](*operands)
    return value


def variables(value: Any) -> set[int]:
    """The sizes that an expression hangs on, by their uid."""
    if isinstance(value, Var):
        return {value.uid}
    return set().union(*map(variables, value.operands)) if isinstance(value, Node) else set()


_BINDS = {"or": 0, "and": 1, "|": 3, "^": 4, "&": 5, "<<": 6, ">>": 6, "+": 7, "-": 7, "*": 8, "//": 8, "%": 8, "/": 8}


def written(value: Any, around: int = 0) -> str:
    """An expression of sizes as a program writes it; around: how closely what stands beside it binds."""
    if not isinstance(value, Node) or len(value.operands) != 2 or value.op in ("min", "max"):  # others are written as calls
        return repr(value)
    own = _BINDS.get(value.op, 2)
    text = f"{written(value.operands[0], own)} {value.op} {written(value.operands[1], own + 1)}"
    return f"({text})" if own < around else text


def substitute(value: Any, sizes: Mapping[int, Any]) -> Any:
    """The expression with the numbers of some sizes put in."""
    if isinstance(value, Var):
        return sizes.get(value.uid, value)
    if not isinstance(value, Node):
        return value
    operands = [substitute(operand, sizes) for operand in value.operands]
    if len(operands) == 2:
        return binary(value.op, *operands)
    if value.op == "if_then_else":
        return select(*operands)
    return evaluate(Node(value.op, operands), {}) if is_number(operands[0]) else unary(value.op, operands[0])


def _operator(op: str) -> str:
    return f"operator {op}" if op in BINARY else f"T.{op}"


def require_operands(what: str, *operands: Any) -> None:
    """Refuses what is no number: `what` takes them."""
    for operand in operands:
        if not is_operand(operand):
            word = WORDS.get(type(operand).__name__)
            raise error(TypeError, f"{what} takes numbers, got {word or shown(operand)}", hint=BY_ELEMENT if word else None)


_DIVIDES = {"//", "%", "/", "truncdiv", "truncmod"}


def check_divisor(op: str, a: Any, b: Any) -> None:
    """Refuses to divide an integer by the constant 0."""
    if op in _DIVIDES and type(b) is int and b == 0 and isinstance(a, Expr) and not is_float(a.dtype):
        raise error(
            ZeroDivisionError,
            f"an integer is divided (`{_operator(op).removeprefix('operator ')}`) by the constant 0",
            hint="look at how the divisor is computed",
        )


def binary(op: str, a: Any, b: Any) -> Any:
    check_divisor(op, a, b)
    lanes = _lanes(lambda x, y: binary(op, x, y), a, b)
    if lanes is not None:
        return lanes
    for left, right in ((a, b), (b, a)):
        accumulate = getattr(left, "accumulate", None)  # an element of a reducer
        if accumulate is not None and (pending := accumulate(op, right)) is not None:
            return pending
        later = getattr(left, "later", None)  # what depends on the thread, where no code is for single threads
        if later is not None and (number := later(op, a, b)) is not None:
            return number
    if is_number(a) and is_number(b) and op in FOLD:
        return FOLD[op](a, b)
    if is_size(a) and is_size(b):
        if isinstance(b, int) and (op, b) in _NEUTRAL:
            return a
        if isinstance(a, int) and (op, a) in (("+", 0), ("*", 1)):
            return b
        return Node(op, (a, b))
    if op in ("min", "max"):
        narrow = [x.dtype for x in (a, b) if isinstance(x, Expr) and "float8" in x.dtype]
        if narrow:  # exact in float32
            chosen = binary(op, cast(a, "float32"), cast(b, "float32"))
            return cast(chosen, narrow[0]) if len(set(narrow)) == 1 else chosen
    require_operands(_operator(op), a, b)
    value = current_builder().binary(op, a, b)
    form = combined(op, a, b) if not is_float(value.dtype) and isinstance(a, (Expr, int)) and isinstance(b, (Expr, int)) else None
    return Val(value, form)


def unary(op: str, a: Any) -> Any:
    lanes = _lanes(lambda x: unary(op, x), a)
    if lanes is not None:
        return lanes
    if isinstance(a, (Var, Node)):
        return binary("-", 0, a) if op == "-" else Node(op, (a,))
    return Val(current_builder().unary(op, a))


def _guest() -> Any:
    """The trace of a kernel of Tileon or NineToothed that calls a function of T, or None."""
    tiles = present("tilery.core.tile.value")
    return tiles and tiles.running()


def _in_kernel() -> bool:
    trace = current()
    return trace.in_kernel if trace is not None else _guest() is not None


def current_builder() -> Any:
    trace = current()
    if trace is None:
        trace = _guest()
    if trace is None:
        raise error(RuntimeError, "a run-time value is used outside of a kernel")
    return trace.native


def read(value: Any) -> Any:
    """A value that later stores do not change: elements and variables are loaded now."""
    return value.read() if hasattr(value, "read") else value


ROUNDING_MODES = ("", "rn", "rz", "rp", "rm", "rs")


def _check_rounding(round: str, sat: Any, rbits: Any) -> None:
    if round not in ROUNDING_MODES:
        raise error(ValueError, f"Invalid round {round!r} of T.cast", hint="known: '', 'rn', 'rz', 'rp', 'rm', 'rs'")
    if not isinstance(sat, bool):
        raise error(ValueError, f"Invalid sat {sat!r} of T.cast", hint="it is True or False")
    if round == "rs" and rbits is None:
        raise error(ValueError, "rbits is required by T.cast(round='rs')", hint="it rounds by random bits")
    if round != "rs" and rbits is not None:
        raise error(ValueError, f"rbits is only valid with round='rs', not with {round!r}", hint="leave it out")


def _placed(value: Any, to: Any, mode: str, sat: bool, rbits: Any) -> Val:
    """The value, as float64, at the number of type `to` that a rounding which no instruction makes chooses."""
    if not _native.is_function(f"{mode}_{to}"):
        raise error(ValueError, f"T.cast rounds by {mode!r} to floats, not to {to}", hint="use '' or 'rz'")
    if mode == "rs" and not sat and to in ("float16", "bfloat16"):
        raise error(ValueError, f"T.cast(round='rs') to {to}: sat=false is not supported")
    operands = [cast(value, "float64")] + ([cast(rbits, "uint32")] if mode == "rs" else [])
    return Val(current_builder().function(f"{mode}_{to}", *operands))


def cast(value: Any, dtype: Any, round: str = "", sat: bool = True, rbits: Any = None) -> Any:
    """The value converted to an element type, rounded to nearest even ("" or "rn"), towards zero ("rz"), up ("rp"), down
    ("rm"), or up or down by the random bits rbits ("rs"). Floats of 8 bits
    take the nearest finite value for what is too large; NaN or infinity with `sat=False`."""
    _check_rounding(round, sat, rbits)
    if isinstance(dtype, Expr):
        raise error(TypeError, f"T.cast takes a value and then its type, got {value!r} first", hint="T.Cast takes the type first")
    to = _dtype(dtype)
    lanes = _lanes(lambda x: cast(x, to.element, round, sat, rbits), value)
    if lanes is not None:
        return lanes
    if is_number(value):
        if to == "int32" and not isinstance(value, float):
            return int(value)
        if to == "bool":
            return bool(value)
        if not _in_kernel():
            return float(value) if is_float(to) else int(value)
        if is_float(to) and math.isinf(value):
            return Val(current_builder().constant(value, to))
    elif isinstance(value, (Var, Node)):
        if to in ("int32", "int64"):
            return value
    if round in ("rp", "rm", "rs"):
        value = _placed(read(value), to, round, sat, rbits)
    if to in CODED:
        return _coded[0](to, value)
    builder = current_builder()
    result = (builder.cast_finite if sat else builder.cast)(value, to.storage, round == "rz")
    same = isinstance(value, Expr) and to in ("int32", "int64") and "int" in value.dtype
    return Val(result, value.affine() if same else None)


_NO_VALUE = object()


def _converted(self: Any, value: Any = _NO_VALUE, *more: Any) -> Any:
    """`T.float32(x)` converts x; `T.float32()` is a variable of that type; `T.float32x2(x, y)` is a vector."""
    if value is _NO_VALUE:
        return Var("v", self)
    if self.lanes > 1:
        given = (value, *more) if more else (value,) * self.lanes
        if len(given) != self.lanes:
            raise error(TypeError, f"T.{self} takes {self.lanes} numbers, got {len(given)}")
        return _lanewise[0](lambda x: cast(x, self.element), [_Lanes(given)])
    if more:
        raise error(TypeError, f"T.{self} takes one number, got {1 + len(more)}")
    return cast(value, self)


class _Lanes:
    """Numbers as lanes."""

    def __init__(self, lanes: Any) -> None:
        self.elements = lambda: list(lanes)


setattr(_dtype, "__call__", _converted)


def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition is true, else y."""
    if not isinstance(condition, Expr):
        return x if condition else y
    lanes = _lanes(select, condition, x, y)
    if lanes is not None:
        return lanes
    if is_size(condition) and is_size(x) and is_size(y) and not (current() and current().in_kernel):
        return Node("if_then_else", (condition, x, y))
    return Val(current_builder().select(condition, x, y))


def same_type(native: Any, *bounds: Any) -> list[Any]:
    """Loop bounds as int32, or all as int64 if one is wider."""
    values = [native.materialize(bound) for bound in bounds]
    for value in values:
        if "int" not in value.dtype:
            raise error(TypeError, f"a loop bound must be an integer, got {value.dtype}")
    wide = any(value.dtype in ("int64", "uint64", "uint32") for value in values)
    return [native.cast(value, "int64" if wide else "int32") for value in values]
