"""What a kernel's Python means in Tileon and Triton, on top of the shared front end."""

import contextlib
import numbers
import types
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tilery import _native

from ...errors import error
from ...frontend import position
from ...frontend.jumps import RESULT, returns
from ...frontend.language import CONDITIONAL, Language, Range
from ...frontend.operators import COMPARISONS
from ...frontend.source import tree_of
from ...frontend.structure import Number, Undefined, is_number
from ..switches import switch
from ..unwritten import callers_level
from .creation import cast
from .debug import device_print
from .methods import tensor
from .per_lane import Choices
from .products import Products
from .types import constexpr, constexpr_type, int1, is_constant, is_constexpr, pointer_type, tuple_type, unwrap
from .value import activate, constant_of, own, require_operand, to_tensor, wrap

# What a program may keep in a global variable and does not read there under the name triton.
_DATA = (numbers.Number, str, list, dict, set)

_INSTEAD = {
    "unsupported operand type(s) for @": "write dot(a, b)",
    "unsupported operand type(s) for **": "multiply, or write libdevice.pow(x, y)",
}


class Blocks:
    """The front end's region protocol, giving out tensors."""

    def __init__(self, native: _native.Builder) -> None:
        self.native = native
        self.scratch_begin, self.scratch_discard = native.scratch_begin, native.scratch_discard
        self.if_begin, self.if_else = native.if_begin, native.if_else

    def type_of(self, value: Any) -> Any:
        return value.handle.type

    def placeholder(self, value: Any) -> tensor:
        return wrap(self.native.placeholder(value))

    def zero(self, type_: Any) -> Any:
        if type_.pointer:
            return wrap(self.native.int_to_pointer(self.native.full(type_.shape, 0, "int64"), type_.dtype))
        return wrap(self.native.convert(0, type_))

    def if_end(self, thens: list[Any], elses: list[Any]) -> list[Any]:
        return [wrap(v) for v in self.native.if_end(thens, elses)]

    def for_begin(self, lo: Any, hi: Any, step: Any, inits: list[Any], attributes: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        bounds = [self.native.materialize(b) for b in (lo, hi, step)]
        for bound in bounds:
            self.native.require_numbers(bound, "range")
            if bound.shape or bound.dtype.startswith(("float", "bfloat")):
                raise error(TypeError, f"the bounds of range must be integer scalars, got {bound.type}")
        narrow = all(b.dtype in ("int8", "int16", "int32", "uint8", "uint16", "bool") for b in bounds)
        bounds = [self.native.cast(b, "int32" if narrow else "int64") for b in bounds]
        counter, carried = self.native.for_begin(*bounds, inits, attributes)
        return wrap(counter), [wrap(v) for v in carried]

    def for_end(self, yields: list[Any]) -> list[Any]:
        return [wrap(v) for v in self.native.for_end(yields)]

    def while_begin(self, inits: list[Any]) -> list[Any]:
        return [wrap(v) for v in self.native.while_begin(inits)]

    def while_body(self, condition: Any) -> list[Any]:
        return [wrap(v) for v in self.native.while_body(condition)]

    def while_end(self, yields: list[Any]) -> list[Any]:
        return [wrap(v) for v in self.native.while_end(yields)]


class Tracer(Language):
    """One kernel being traced."""

    has_with = False
    refuses_chains = False  # of comparisons of tiles, whatever the program knows the language by?
    prefix = "tl"  # what programs call the language by, in hints
    constant_hint = "annotate the parameter with tl.constexpr, or the name: `N: tl.constexpr = ...`"

    def __init__(
        self,
        native: _native.Builder,
        debug: bool = False,
        products: Products = Products(),
        overflow: bool = False,
        narrow: bool = False,
    ) -> None:
        super().__init__(Blocks(native))
        self.keeps_frames = switch("TRITON_FRONT_END_DEBUGGING")
        self.narrow = narrow  # are programs refused that Triton refuses and Tileon takes?
        native.check_overflow(overflow)
        self.overflow = overflow  # does integer arithmetic assert that it does not overflow?
        self.native = native
        self.debug = debug
        self.products = products
        self.acts = False  # does the program more than its operations say: assert, print, wait?
        self.absent: list[str] = []  # the kernel's parameters that are None
        self.hints: Mapping[str, Any] = {}  # what the launch says beside the arguments

    @contextlib.contextmanager
    def wrapping(self) -> Iterator[None]:
        """Integer arithmetic that is meant to wrap, or that cannot say that it does."""
        checks, self.overflow = self.overflow, False
        self.native.check_overflow(False)
        yield
        self.overflow = checks
        self.native.check_overflow(checks)

    @contextlib.contextmanager
    def per_lane(self, lanes: int) -> Iterator[None]:
        """Within this branches and loops are those of each of a tile's elements; they may not touch memory."""
        blocks, self.b = self.b, Choices(self.b, lanes)
        yield
        self.b = blocks

    def touches_memory(self, what: str) -> None:
        if isinstance(self.b, Choices) and self.b.conditions:
            raise error(
                NotImplementedError,
                f"{what} inside a branch or loop of a function of map_elementwise",
                hint="load before it, or store what the function returns",
            )

    def _one_type(self, x: Any, y: Any) -> bool:
        if not isinstance(self.b, Choices):
            return super()._one_type(x, y)
        return to_tensor(x).dtype == to_tensor(y).dtype

    def _stays(self, type_: Any, after_type: Any) -> bool:
        return super()._stays(type_, after_type) or isinstance(self.b, Choices) and self._alike(type_, after_type)

    def _as_carried(self, value: Any, like: Any) -> Any:
        if isinstance(self.b, Choices) and not is_number(value) and self._alike(self.b.type_of(value), self.b.type_of(like)):
            return value
        return super()._as_carried(value, like)

    @staticmethod
    def _alike(type_: Any, other: Any) -> bool:
        """Are they the same but for their shape?"""
        return bool(type_.dtype == other.dtype and type_.pointer == other.pointer)

    # -- values ------------------------------------------------------------------------------------------------------
    def is_value(self, value: Any) -> bool:
        return isinstance(value, tensor)

    def host(self, value: Any) -> Any:
        return unwrap(value)

    def to_value(self, number: Number, like: Any = None) -> Any:
        return wrap(self.native.materialize(number) if like is None else self.native.convert(number, like))

    def takes(self, type_: Any, number: Number) -> bool:
        return not type_.pointer and not type_.shape and self.native.materialize(number).type == type_

    def outside(self, name: str, value: Any) -> Any:
        if type(value) is not tuple and not isinstance(value, _DATA) or switch("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS"):
            return value
        raise error(
            NameError,
            f"Cannot access global variable {name} from within a kernel: it is no tl.constexpr",
            hint=f"pass it as an argument, write `{name} = tl.constexpr(...)`, or set TRITON_ALLOW_NON_CONSTEXPR_GLOBALS=1",
        )

    def assign(self, name: str, value: Any, old: Any) -> Any:
        value = unwrap(value)
        return to_tensor(value) if is_number(value) else value

    def annotated(self, name: str, annotation: Callable[[], Any], value: Any, old: Any) -> Any:
        if is_constexpr(annotation()) and not (isinstance(unwrap(value), tensor) and unwrap(value).constant is None):
            return constant_of(value, f"`{name}`, annotated tl.constexpr,")
        return self.assign(name, value, old)

    def binary(self, op: str, a: Any, b: Any) -> Any:
        return super().binary(op, unwrap(a), unwrap(b))

    def operate(self, op: str, a: Any, b: Any) -> Any:
        operands = unwrap(a), unwrap(b)
        is_null_test = op in ("==", "!=") and any(x is None for x in operands)
        if op in COMPARISONS and not is_null_test and any(isinstance(x, tensor) for x in operands):
            for x in operands:
                if isinstance(x, tensor):
                    self.native.require_numbers(x, f"operator {op}")
                else:
                    require_operand(x, op)
        return super().operate(op, a, b)

    def check_chain(self, operators: Sequence[str], bits: str | None, left: Any, right: Any) -> None:
        """Triton has no chains. Those of other programs are Python's, but for one that nobody means: `a >= b & c < d`."""
        first, second = operators[:2]
        if self.narrow or self.refuses_chains and any(self.is_value(self.host(v)) for v in (left, right)):
            hint = f"write (a {first} b) & (b {second} c)" if bits is None else f"write (a {first} b) {bits} (c {second} d)"
            raise error(SyntaxError, "simultaneous multiple comparison is not supported", hint=f"{hint}, with the parentheses")
        if bits and self.is_value(self.host(right)):
            raise error(
                SyntaxError,
                f"`{bits}` binds before the comparisons beside it: this is a chain, a {first} (b {bits} c) {second} d",
                hint=f"write (a {first} b) {bits} (c {second} d), with the parentheses; give `b {bits} c` a name if it is meant",
            )

    def none_hint(self) -> str | None:
        """What to change where None stands for a number."""
        names = " and ".join(f"`{name}`" for name in self.absent)
        return f"{names} {'are' if len(self.absent) > 1 else 'is'} None: pass a number, or ask `is not None`" if names else None

    def advice(self, message: str) -> str | None:
        return next((hint for start, hint in _INSTEAD.items() if message.startswith(start)), None)

    def attribute(self, owner: Any, name: str) -> Any:
        plain = unwrap(owner)
        if plain is owner and (not is_constant(owner) or hasattr(owner, name)):
            return getattr(owner, name)
        if name == "to":
            return getattr(to_tensor(plain) if is_number(plain) else plain, name)
        return plain if name == "value" else tuple_type(plain) if isinstance(plain, tuple) else constexpr_type(plain)

    def condition(self, value: Any) -> Any:
        if value.numel == 1:
            value = value.item()
        kind = value.handle.type
        if kind.shape and not isinstance(self.b, Choices):
            raise error(
                ValueError,
                f"a condition must be a scalar, this one is {kind}",
                hint="reduce it (max, sum), or use `where` for a choice per element",
            )
        return self._truth(value)

    def _truth(self, value: Any) -> Any:
        """Is it not 0, or, of a pointer, not null?"""
        if isinstance(value.dtype, pointer_type):
            self.warn(
                "a pointer as a condition: it asks whether the address is null, not for the value that lies there; "
                "write tl.load(...) for that, or `is not None` for an argument that may be None"
            )
        return cast(value, int1)

    def describe(self, value: Any) -> str:
        const = isinstance(value, tensor) and isinstance(value.dtype, pointer_type) and value.dtype.const
        return ("const " if const else "") + super().describe(value)

    def difference(self, name: str, a: Any, b: Any, reason: str | None, line: int) -> str:
        text = super().difference(name, a, b, reason, line).removeprefix(f"`{name}` is ")
        if name == RESULT:
            return f"Return type mismatch: {text}"
        if name == CONDITIONAL:
            return f"Ternary expression with dynamic condition has inconsistent types: {text}"
        return f"Mismatched type for {name}: {text}"

    def end_reached(self) -> Any:
        """Nothing is promised of the result: a branch that returns a value gives the type."""
        return Undefined(RESULT)

    def logical_not(self, value: Any) -> Any:
        return wrap(self.native.unary("not", self._truth(value)))

    def logical_and(self, a: Any, b: Any) -> Any:
        return wrap(self.native.binary("and", self._truth(a), self._truth(b)))

    def logical_or(self, a: Any, b: Any) -> Any:
        return wrap(self.native.binary("or", self._truth(a), self._truth(b)))

    def minimum(self, a: Any, b: Any) -> Any:
        return wrap(self.native.binary("min", unwrap(a), unwrap(b)))

    def maximum(self, a: Any, b: Any) -> Any:
        return wrap(self.native.binary("max", unwrap(a), unwrap(b)))

    # -- calls -------------------------------------------------------------------------------------------------------
    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        if isinstance(callee, constexpr):
            callee = callee.value
        if "_semantic" in kwargs or hasattr(callee, "__triton_builtin__"):
            from .extern import with_state

            kwargs = with_state(callee, kwargs)
        trace = getattr(type(callee), "__tile_trace__", None)
        if trace is not None:
            return own(trace(callee, self, args, kwargs))
        return own(super().call(callee, *args, **kwargs))

    def wants_inline(self, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        module = function.__module__ or ""
        return not module.startswith("tilery.") and any(isinstance(a, tensor) for a in (*args, *kwargs.values()))

    def call_range(self, *args: Any) -> range | Range:
        return Range(*(unwrap(a) for a in args))

    def call_isinstance(self, value: Any, kind: Any) -> bool:
        if kind is constexpr:
            return not isinstance(value, tensor)
        return isinstance(value, kind)

    def call_len(self, value: Any) -> int:
        return value.shape[0] if isinstance(value, tensor) else len(value)

    def call_int(self, value: Any = 0, *args: Any) -> Any:
        value = unwrap(value)
        return wrap(self.native.cast(value, "int32")) if isinstance(value, tensor) else int(value, *args)

    def call_float(self, value: Any = 0.0) -> Any:
        value = unwrap(value)
        return wrap(self.native.cast(value, "float32")) if isinstance(value, tensor) else float(value)

    def call_bool(self, value: Any = False) -> Any:
        value = unwrap(value)
        return self._truth(value) if isinstance(value, tensor) else bool(value)

    def call_print(self, *args: Any, **kwargs: Any) -> Any:
        words = [a for a in args if isinstance(a, str)]
        return device_print(" ".join(words), *(a for a in args if not isinstance(a, str)))

    def run_time_assert(self, condition: Any, message: str) -> None:
        if self.debug:
            self.native.assert_true(condition, message or "assertion failed")


def inline(tracer: Any, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of tl, called from any language's trace: its body means what it means in Tileon."""
    if isinstance(tracer, Tracer):
        return tracer.inline(function, args, kwargs)
    guest = Tracer(tracer.native)
    with activate(guest):
        return tracer.adopt(guest.inline(function, [own(a) for a in args], {k: own(v) for k, v in kwargs.items()}))


def refuse_result(result: Any, function: Callable[..., Any], name: str, hint: str) -> None:
    """Of a kernel that was traced: nobody could take what it returns.

    :raises TypeError: at the kernel's first `return` with a value, if it returned one.
    """
    if result is None:
        return
    found = returns(tree_of(function).body)  # type: ignore[arg-type]
    first = min((r for r in found if r.value), key=lambda node: node.lineno)
    place = function.__code__.co_filename, first.lineno, first.col_offset + 1, name

    raise error(TypeError, f"kernel `{name}` returns a value", hint=hint, chain=[place])


def trace(
    function: Any,
    name: str,
    parameters: Sequence[tuple[str, Any, int, Any]],
    products: Products,
    debug: bool = False,
    hints: Mapping[str, Any] | None = None,
    overflow: bool = False,
    assemble: Callable[[list[Any]], Any] | None = None,
    narrow: bool = False,
) -> Any:
    """Traces a kernel. parameters: [(name, native Type or None, divisibility, compile-time value)]; a Type makes an argument.
    products: what they are where they do not say.
    hints: {name: value or None} for targets. overflow: integer arithmetic asserts that it fits its type.
    assemble: makes the function's arguments of the parameters' values. narrow: what Triton refuses is refused.
    Returns the module."""
    native = _native.Builder("triton")
    native.set_position(position.current)
    tracer = Tracer(native, debug, products, overflow, narrow)
    with native, activate(tracer):
        arguments = [(n, t, d) for n, t, d, _ in parameters if t is not None]
        handles = iter(native.begin_kernel(name, arguments))
        native.kernel_hints(hints)
        tracer.hints = hints or {}
        tracer.absent = [n for n, t, _, v in parameters if t is None and v is None]
        bound = [wrap(next(handles)) if t is not None else v for _, t, _, v in parameters]
        values = list(assemble(bound) if assemble else bound)
        code = function.__code__
        positional, names = code.co_argcount, code.co_varnames
        result = tracer.run(function, values[:positional], dict(zip(names[positional:], values[positional:])))
        refuse_result(result, function, name, "store it through a pointer instead")
        native.end_kernel()
        module = native.finish()
    if not tracer.acts and _native.reads_in_vain(module):
        text = f"kernel `{name}` reads memory and stores nothing: a launch changes nothing; write tl.store(pointer, value)"
        warnings.warn(text, RuntimeWarning, stacklevel=callers_level())
    return module
