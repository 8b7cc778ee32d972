"""What a row of the table of functions says, and the sets of element types that rows name."""

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...errors import error

FLOAT8 = ("float8_e4m3fn", "float8_e5m2")
SINGLE = ("float32", "float64")
FLOATS = ("float16", "bfloat16", *SINGLE)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
NUMBERS = (*FLOATS, *INTEGERS, "bool")
ALL = (*FLOAT8, *NUMBERS)


class Result:
    """The element type of the result by that of the operands; the same type where nothing is said."""

    def __init__(self, meaning: str, types: Mapping[str, str] = MappingProxyType({})) -> None:
        self.meaning, self.types = meaning, dict(types)

    def of(self, dtype: str) -> str:
        return self.types.get(dtype, dtype)


_FLOAT32 = dict.fromkeys((*INTEGERS, "bool"), "float32")
SAME = Result("that of the operands")
FLOAT = Result("that of the operands; of integers float32", _FLOAT32)
QUOTIENT = Result("float64 of float64, else float32", {**_FLOAT32, "float16": "float32", "bfloat16": "float32"})
NUMBER = Result("that of the operands; of bool int32", {"bool": "int32"})
BOOL = Result("bool", dict.fromkeys(ALL, "bool"))


Types = tuple[str, ...] | None
_NAMES = re.compile(r"(\w+)(?:\(([^)]*)\))?")


class Takes:
    """The element types that an operand may have, by language; None: whatever the operation takes."""

    def __init__(self, tl: Types = None, libdevice: Types = None, T: Types = None) -> None:
        self.tl, self.libdevice, self.T = tl, libdevice, T


class Row:
    """One elementwise function.

    operands   their names; a language's own stand behind its name of the function, `clamp(x, min_val, max_val)`, and libdevice
               numbers them: arg0, arg1
    operation  of the builder ("math exp", "function erfinv"), or a function of (operations, *operands, *options) that composes
               some
    takes      the element types of operands (Takes); mixed ones promote as the language says
    result     a Result
    meaning    one sentence
    value      the exact result as an expression over the operands, for numbers: Python's, and the references of the tests
    options    {name: default} of compile-time parameters behind the operands; a tuple of words: one of them, usually the first
    ulps       the greatest error of a float32 or float64 result in units of the last place; 0.5: correctly rounded
    mixed      one operand of a type it takes is enough: the others are numbers that promote to it
    where      the condition under which the value is defined, as an expression over the operands and the `bits` of their type
    method     tiles have it as a method, too
    targets    what it runs on
    names      {language: the names it has there}"""

    def __init__(
        self,
        name: str,
        operands: str,
        operation: str | Callable[..., Any],
        takes: Takes,
        result: Result,
        meaning: str,
        value: str,
        *,
        options: Mapping[str, Any] | None = None,
        ulps: float = 2,
        where: str = "True",
        method: bool = False,
        mixed: bool = False,
        targets: Sequence[str] = ("cpu", "cuda"),
        **names: str,
    ) -> None:
        self.name, self.operation, self.takes, self.result, self.mixed = name, operation, takes, result, mixed
        self.meaning, self.value, self.options, self.ulps, self.method = meaning, value, options or {}, ulps, method
        self.where, self.targets, self.names = where, targets, names
        self.parameters = _words(operands)
        self.defaults = tuple(v[0] if isinstance(v, tuple) else v for v in self.options.values())

    def check(self, arguments: Sequence[Any]) -> None:
        """Refuses a word that an option does not know."""
        for (option, known), value in zip(self.options.items(), arguments[len(self.parameters) :]):
            if isinstance(known, tuple) and value not in known:
                raise error(ValueError, f"unknown {option} {value!r}", hint="known: " + ", ".join(map(repr, known)))

    def spelled(self, language: str) -> list[tuple[str, tuple[str, ...]]]:
        """[(name, names of its operands)] in a language."""
        usual = tuple(f"arg{k}" for k in range(len(self.parameters))) if language == "libdevice" else self.parameters
        return [(name, _words(own) if own else usual) for name, own in _NAMES.findall(self.names.get(language, ""))]

    def call(self, operations: Any, *arguments: Any) -> Any:
        """The result of the operation on operands and options that the language has prepared."""
        if not isinstance(self.operation, str):
            return self.operation(operations, *arguments)
        kind, _, op = self.operation.partition(" ")
        return getattr(operations, kind)(op, *arguments[: len(arguments) - len(self.options)])


class Written:
    """One function that is written out: `place` is the module it stands in, below `tilery`. Its signature and the first
    sentence of its docstring are the row's parameters and meaning."""

    def __init__(
        self,
        name: str,
        place: str,
        operation: str,
        takes: str,
        *,
        targets: Sequence[str] = ("cpu", "cuda"),
        **names: str,
    ) -> None:
        self.name, self.place, self.operation, self.takes = name, place, operation, takes
        self.targets, self.names = targets, names

    def spelled(self, language: str) -> list[tuple[str, tuple[str, ...]]]:
        """[(name, nothing)] in a language."""
        return [(name, ()) for name in self.names.get(language, "").split()]


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.replace(",", " ").split())
