"""The hooks that rewritten code calls, with Python's own meaning as default. A language subclasses `Language` and overrides
what it means otherwise."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ..errors import error
from . import position
from .operators import BINARY
from .regions import Getter, Loop, Names, Putter, Regions
from .structure import Mismatch, Undefined
from .wording import did_you_mean

CONDITIONAL = "the conditional expression"  # the name of its value


def _usage(function: Callable[..., Any], message: str) -> str:
    """How to call a function, where Python says what is wrong with a call's arguments."""
    import inspect
    import re

    signature = inspect.signature(function)
    wrong = re.search(r"unexpected keyword argument '(\w+)'", message)
    near = did_you_mean(wrong[1], signature.parameters) if wrong else None
    plain = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    usage = f"its parameters: {function.__name__}{signature.replace(parameters=plain, return_annotation=signature.empty)}"
    return f"{near} {usage}" if near else usage


def _same(value: Any) -> Any:
    return value


class Range:
    """`range(...)` with a run-time bound, as a value of the language that may be named before it is looped over."""

    def __init__(self, lo: Any, hi: Any = None, step: Any = 1, **attributes: Any) -> None:
        self.lo: Any = 0 if hi is None else lo
        self.hi = lo if hi is None else hi
        self.step, self.attributes = step, attributes

    def __iter__(self) -> Iterator[int]:
        """In a comprehension, or wherever else a host sequence is needed: the bounds must be host ints."""
        bounds = (self.lo, self.hi, self.step)
        if not all(isinstance(b, int) for b in bounds):
            raise error(
                TypeError,
                "a range with a run-time bound is looped over by `for` only",
                hint="write a `for` statement, or make the bound known when the kernel is compiled",
            )
        return iter(range(*bounds))


class Language(Regions):
    def __init__(self, builder: Any) -> None:
        super().__init__(builder)
        # Callees with a meaning of their own, by identity. A language adds its own.
        self.callees: dict[Any, Callable[..., Any]] = {
            builtins.range: self.call_range,
            builtins.min: self.call_min,
            builtins.max: self.call_max,
            builtins.abs: abs,
            builtins.print: self.call_print,
            builtins.isinstance: self.call_isinstance,
            builtins.len: self.call_len,
            builtins.int: self.call_int,
            builtins.float: self.call_float,
            builtins.bool: self.call_bool,
            builtins.super: super,
        }

    # -- what a language tells (see also regions.py) -----------------------------------------------------------------
    def logical_not(self, value: Any) -> Any:
        raise NotImplementedError

    def logical_and(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def logical_or(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def helper(self, callee: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> types.FunctionType | None:
        """The function to trace inline when `callee` is called, or None to call it as it is."""
        return callee if isinstance(callee, types.FunctionType) and self.wants_inline(callee, args, kwargs) else None

    def wants_inline(self, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
        return False

    def loop_over(self, iterable: Any) -> Loop | None:
        """A Loop for what is to run at run time; None to unroll a host iterable."""
        if isinstance(iterable, Range):
            return Loop(iterable.lo, iterable.hi, iterable.step, iterable.attributes)
        return None

    # -- names -------------------------------------------------------------------------------------------------------
    def undefined(self, name: str) -> Undefined:
        return Undefined(name)

    def load(self, name: str, value: Any) -> Any:
        if isinstance(value, Undefined):
            if value.reason:
                raise error(value.kind, f"{value.reason}, and used in line {self.line()}", hint=value.hint)
            raise error(NameError, f"`{name}` is not defined: it is used before it has a value")
        return value

    def outside(self, name: str, value: Any) -> Any:
        """A name from outside the function, in a language that reads little of what is there (`narrow`)."""
        return value

    def assign(self, name: str, value: Any, old: Any) -> Any:
        """A name is given a value; returns what it holds from now on."""
        return value

    def bind(self, name: str, value: Any, old: Any) -> Any:
        """The target of a `for` or a `with` gets its value."""
        return value

    def annotated(self, name: str, annotation: Callable[[], Any], value: Any, old: Any) -> Any:
        """`name: annotation = value`; the annotation is a thunk."""
        return self.assign(name, value, old)

    def declared(self, name: str, annotation: Callable[[], Any], value: Any) -> Any:
        """`name: annotation` alone: what the name holds from now on. The annotation is a thunk."""
        return value

    def aug_assign(self, name: str, op: str, old: Any, value: Any) -> Any:
        return self.assign(name, self.binary(op, old, value), old)

    def binary(self, op: str, a: Any, b: Any) -> Any:
        return self.operate(op, a, b)

    def operate(self, op: str, a: Any, b: Any) -> Any:
        """An operator as the program writes it: Python asks `b` for the mirrored one where `a` does not know `b`."""
        return BINARY[op](a, b)

    def unpack(self, value: Any) -> Any:
        if self.is_value(value):
            raise error(TypeError, f"a value of type {self.b.type_of(value)} cannot be unpacked")
        return value

    # -- items and attributes ----------------------------------------------------------------------------------------
    def set_item(self, owner: Any, index: Any, value: Any) -> None:
        self.check_change(owner, f"a host {type(owner).__name__}")
        owner[index] = value

    def aug_item(self, owner: Any, index: Any, op: str, value: Any) -> None:
        self.set_item(owner, index, self.binary(op, owner[index], value))

    def del_item(self, owner: Any, index: Any) -> None:
        self.check_change(owner, f"a host {type(owner).__name__}")
        del owner[index]

    def set_attr(self, owner: Any, name: str, value: Any) -> None:
        self.check_change(owner, f"attribute `{name}` of a host object")
        setattr(owner, name, value)

    def aug_attr(self, owner: Any, name: str, op: str, value: Any) -> None:
        self.set_attr(owner, name, self.binary(op, getattr(owner, name), value))

    def del_attr(self, owner: Any, name: str) -> None:
        self.check_change(owner, f"attribute `{name}` of a host object")
        delattr(owner, name)

    def attribute(self, owner: Any, name: str) -> Any:
        """`owner.value`, `owner.type` or `owner.to`, which a language may give to host values that have none."""
        return getattr(owner, name)

    # -- control flow ------------------------------------------------------------------------------------------------
    def if_(
        self, test: Any, then: Callable[[], Any], other: Callable[[], Any], names: Names, get: Getter, put: Putter, at_end: bool
    ) -> Any:
        test = self.host(test)
        if not self.is_value(test):
            return then() if test else other()
        return self.run_if(self.condition(test), then, other, names, get, put, self.line(), at_end)

    def for_(
        self,
        iterable: Any,
        body: Callable[..., Any],
        names: Names,
        get: Getter,
        put: Putter,
        stopped: Callable[[], Any] | None,
        own: Names,
    ) -> Any:
        """own: the names of the loop's variables."""
        loop = self.loop_over(iterable)
        if loop is not None:
            return self.run_for(loop, body, names, get, put, self.line(), own)
        if self.is_value(iterable):
            raise error(TypeError, f"cannot loop over a value of type {self.b.type_of(iterable)}", hint="loop over range(...)")
        for item in iterable:
            body(item)
            if stopped is not None:
                free = self.host(stopped())
                if not self.is_value(free) and not free:
                    break
        return None

    def while_(
        self, test: Callable[[], Any], body: Callable[..., Any], names: Names, get: Getter, put: Putter, may_stop: bool
    ) -> None:
        return self.run_while(test, body, names, get, put, may_stop, self.line())

    def with_(self, manager: Any) -> Any:
        return manager

    def none_set(self, *flags: Any) -> Any:
        """Is no jump flag set? Flags are host bools until a run-time branch sets one."""
        symbolic = [f for f in flags if self.is_value(f)]
        if any(not self.is_value(f) and f for f in flags):
            return False
        if not symbolic:
            return True
        value = symbolic[0]
        for other in symbolic[1:]:
            value = self.logical_or(value, other)
        return self.logical_not(value)

    def return_(self, value: Any) -> Any:
        return value

    def end_reached(self) -> Any:
        """The result where a function that returns values elsewhere comes to its end."""
        return None

    def returned(self, value: Any) -> Any:
        """The function's result, on its way out."""
        if isinstance(value, Undefined):
            if value.reason:
                raise error(TypeError, value.reason, hint="every `return` must give the same type")
            return None
        return value

    def raising(self) -> None:
        if self.regions:
            region = self.regions[-1]
            raise error(
                RuntimeError,
                f"`raise` inside a run-time `{region.kind}` (line {region.place}) cannot run",
                hint="exceptions are raised at compile time only; use a compile-time condition",
            )

    def assert_(self, test: Any, message: Callable[[], Any] | None) -> Any:
        test = self.host(test)
        if self.is_value(test):
            return self.run_time_assert(test, str(message()) if message else "")
        if not test:
            raise error(AssertionError, str(message()) if message else "assertion failed at compile time")
        return None

    def run_time_assert(self, condition: Any, message: str) -> Any:
        raise error(TypeError, "this language has no run-time `assert`")

    # -- expressions -------------------------------------------------------------------------------------------------
    def and_(self, *operands: Callable[[], Any]) -> Any:
        return self._connected(operands, self.logical_and, True)

    def or_(self, *operands: Callable[[], Any]) -> Any:
        return self._connected(operands, self.logical_or, False)

    def _connected(self, operands: Sequence[Callable[[], Any]], join: Callable[[Any, Any], Any], goes_on: bool) -> Any:
        """goes_on: the value of a left side that leaves the result to the right one."""
        value = operands[0]()
        for operand in operands[1:]:
            if not self.is_value(self.host(value)):
                if bool(self.host(value)) is not goes_on:
                    return value
                value = operand()
            else:
                value, other = self.right_side(value, goes_on, operand)
                if not self.is_value(self.host(other)):
                    if bool(self.host(other)) is goes_on:
                        continue
                    return not goes_on
                value = join(value, other)
        return value

    def right_side(self, left: Any, holds: bool, right: Callable[[], Any]) -> tuple[Any, Any]:
        """A condition of run time, and what is asked only where it is `holds`. By default nothing is left out at run time."""
        return left, right()

    def not_(self, value: Any) -> Any:
        plain = self.host(value)
        return self.logical_not(plain) if self.is_value(plain) else not plain

    def compare(self, operators: Sequence[str], bits: str | None, first: Any, *thunks: Callable[[], Any]) -> Any:
        """`a < b <= c`: every operand once, from left to right. `bits`: an operator of bits between two of the comparisons."""
        left, result = first, None
        for op, thunk in zip(operators, thunks):
            if result is not None and self.is_value(self.host(result)):
                result, right = self.right_side(result, True, thunk)
            else:
                right = thunk()
            if thunk is not thunks[-1]:
                right = self.kept(right)
                self.check_chain(operators, bits, left, right)
            one = self.operate(op, left, right)
            result = one if result is None else self.and_(partial(_same, result), partial(_same, one))
            if not self.is_value(self.host(result)) and not self.host(result):
                return result
            left = right
        return result

    def check_chain(self, operators: Sequence[str], bits: str | None, left: Any, right: Any) -> None:
        """Refuses a chain of comparisons, of whose operands two are known, in a language that has none."""

    def kept(self, value: Any) -> Any:
        """A value that is used twice, and is one value."""
        return value

    def if_exp(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
        test = self.host(test)
        if not self.is_value(test):
            return then() if test else other()
        cell = [Undefined(CONDITIONAL)]

        def put(values: Sequence[Any]) -> None:
            cell[:] = values

        def run(branch: Callable[[], Any]) -> None:
            cell[0] = branch()

        self.run_if(
            self.condition(test),
            lambda: run(then),
            lambda: run(other),
            (CONDITIONAL,),
            lambda: tuple(cell),
            put,
            self.line(),
        )
        return self.load(CONDITIONAL, cell[0])

    # -- calls -------------------------------------------------------------------------------------------------------
    def call(self, callee: Any, /, *args: Any, **kwargs: Any) -> Any:
        try:
            own = self.callees.get(callee)
        except TypeError:
            own = None
        if own is not None:
            return own(*args, **kwargs)
        if isinstance(callee, types.FunctionType) and id(callee.__code__) in position.CODES:
            return callee(*args, **kwargs)
        if isinstance(callee, types.MethodType):  # a method of a host object is a helper whose first argument is known
            function = self.helper(callee.__func__, args, kwargs)
            if function is not None:
                return self.inline(function, (callee.__self__, *args), kwargs)
        function = self.helper(callee, args, kwargs)
        if function is not None:
            return self.inline(function, args, kwargs)
        if isinstance(callee, types.BuiltinMethodType):
            self.check_method(callee)
        try:
            result = callee(*args, **kwargs)
        except TypeError as e:
            ours = isinstance(callee, type) and callee.__module__.startswith("tilery.")
            here = e.__traceback__ is not None and e.__traceback__.tb_next is None
            if here and (ours or isinstance(callee, types.FunctionType)):  # the arguments do not fit its parameters
                raise error(TypeError, str(e).replace(".__init__()", "()", 1), hint=_usage(callee, str(e))) from None
            self._refuse_host_function(callee, (*args, *kwargs.values()))
            raise
        except ValueError:  # of an index that is asked for where there is no number
            self._refuse_host_function(callee, (*args, *kwargs.values()))
            raise
        return self.made(result) if isinstance(callee, type) and self.regions else result

    def choose(
        self, callee: Any, test: Any, then: Callable[[], Any], other: Callable[[], Any], /, *args: Any, **kwargs: Any
    ) -> Any:
        """A call of a function named `if_then_else`. One of ours does not look at the side that a known condition leaves out."""
        if not getattr(callee, "_is_lazy", False):
            return self.call(callee, test, then(), other(), *args, **kwargs)
        if not self.is_value(self.host(test)):
            taken = then() if self.host(test) else other()
            return self.call(callee, test, taken, taken, *args, **kwargs)
        return self.call(callee, *self.both_sides(test, then, other), *args, **kwargs)

    def choose_branch(
        self, callee: Any, test: Any, then: Callable[[], Any], other: Callable[[], Any], /, *args: Any, **kwargs: Any
    ) -> None:
        """The same where nobody uses what it gives: one of ours is a branch."""
        if getattr(callee, "_is_lazy", False):
            self.if_(test, then, other, (), tuple, lambda values: None, False)
        else:
            self.choose(callee, test, then, other, *args, **kwargs)

    def both_sides(self, test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> tuple[Any, Any, Any]:
        """A condition of run time, what a choice between two values gives where it holds, and where it does not."""
        return test, then(), other()

    def _refuse_host_function(self, callee: Any, args: Sequence[Any]) -> None:
        """What was wrong with a call of math.exp, torch.sin, np.tanh, ... with values of run time."""
        is_host = isinstance(callee, types.BuiltinFunctionType) or type(callee).__name__ == "ufunc"  # NumPy's
        if is_host and any(self.is_value(a) for a in args):
            raise error(
                TypeError,
                f"`{callee.__name__}` is a function of the host, which cannot compute with values of run time",
                hint="call a function of the kernel's language",
            ) from None

    def dropped(self, callee: Any, name: str) -> Any:
        """The callee of a call whose result nobody uses."""
        function = getattr(callee, "function", callee)
        reason = getattr(function, "_must_use_result", False)
        if reason:
            why, hint = (f" {reason}", None) if isinstance(reason, str) else ("", f"write `_ = {name}(...)` to drop it")
            raise error(ValueError, f"The result of {name} is not being used.{why}", hint)
        return callee

    def call_range(self, *args: Any) -> range | Range:
        if any(self.is_value(self.host(a)) for a in args):
            return Range(*(self.host(a) for a in args))
        return range(*(self.host(a) for a in args))

    def call_min(self, *args: Any, **kwargs: Any) -> Any:
        return self._extremum(builtins.min, self.minimum, args, kwargs)

    def call_max(self, *args: Any, **kwargs: Any) -> Any:
        return self._extremum(builtins.max, self.maximum, args, kwargs)

    def _extremum(
        self, host: Callable[..., Any], symbolic: Callable[[Any, Any], Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        items = list(args[0]) if len(args) == 1 and not self.is_value(args[0]) else list(args)
        if not any(self.is_value(self.host(i)) for i in items):
            return host(*args, **kwargs)
        value = items[0]
        for item in items[1:]:
            value = symbolic(value, item)
        return value

    def minimum(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def maximum(self, a: Any, b: Any) -> Any:
        raise NotImplementedError

    def call_print(self, *args: Any, **kwargs: Any) -> Any:
        if not self.dry:
            print(*args, **kwargs)

    def call_isinstance(self, value: Any, kind: Any) -> bool:
        return isinstance(value, kind)

    def call_len(self, value: Any) -> int:
        return len(value)

    def call_int(self, value: Any = 0, *args: Any) -> Any:
        return int(value, *args)

    def call_float(self, value: Any = 0.0) -> Any:
        return float(value)

    def call_bool(self, value: Any = False) -> Any:
        return bool(value)


__all__ = ["Language", "Loop", "Range", "Mismatch", "Undefined"]
