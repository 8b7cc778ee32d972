"""Device functions that programs bring as text of CUDA C++ (T.import_source, `-include`): those that load, store, fetch ahead or
compute by single instructions are what they say, on every target; hints to caches fall away. Others are refused."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from tilery import _native

from ...errors import error
from ..tracing.dtypes import dtype as element_type
from ..tracing.values import Expr, Val, binary, cast, read
from . import device_functions
from .device_asm import NotUnderstood, Words, instructions, load_words, store_words
from .pointer import Pointer

_SCALARS = {
    "float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "bool": "bool",
    "long long": "int64", "unsigned long long": "uint64", "size_t": "uint64", "short": "int16", "unsigned short": "uint16",
    "char": "int8", "unsigned char": "uint8",
} | {f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}  # fmt: skip
_VECTORS = {"uint2": ("uint32", 2), "uint4": ("uint32", 4), "int2": ("int32", 2), "int4": ("int32", 4),
            "float2": ("float32", 2), "float4": ("float32", 4)}  # fmt: skip
_COMPARISONS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge}


def functions_of(text: str) -> dict[str, Any]:
    """The device functions of a text, by their names with their namespaces."""
    return {function.name: function for function in _native.read_cuda(text)}


def call(function: Any, dtype: Any, arguments: Sequence[Any]) -> Any:
    """What the function computes of numbers and addresses, in the type that the program names."""
    least = sum(parameter.value is None for parameter in function.parameters)
    if not least <= len(arguments) <= len(function.parameters):
        takes = f"{least} to {len(function.parameters)}" if least < len(function.parameters) else str(least)
        raise error(TypeError, f"{function.name} takes {takes} arguments, got {len(arguments)}")
    try:
        result = _called(function, arguments)
    except NotUnderstood as unknown:
        raise error(
            NotImplementedError,
            f"{function.name} is text of CUDA in which `{unknown}` is not understood",
            hint="write it with functions of T: text of another language cannot be compiled for every target",
        ) from None
    if result is None or str(dtype) == "handle":
        return None
    return cast(result.number(str(dtype)) if isinstance(result, Words) else result, dtype)


def _called(function: Any, arguments: Sequence[Any]) -> Any:
    if function.several:
        raise NotUnderstood("several functions of this name")
    if function.directive:
        raise NotUnderstood("#" + function.directive)
    values = [argument if isinstance(argument, Pointer) else read(argument) for argument in arguments]
    run = _Run(function, values)
    values += [run.value(parameter.value) for parameter in function.parameters[len(values) :]]
    for parameter, value in zip(function.parameters, values):
        kind = parameter.type
        if isinstance(value, Pointer) != kind.endswith("*") or (kind not in run.types and not kind.endswith("*")):
            raise NotUnderstood(f"{kind} {parameter.name}")
        run.declared[parameter.name] = kind
        run.values[parameter.name] = run.typed(value, kind)
    result = run.block(function.body)
    result = None if result is _NOTHING else result
    return run.typed(result, function.type) if function.type in run.types else result


_NOTHING = object()  # what `return;` gives


class _Run:
    """A function's statements, carried out one after another on the values of a kernel. Each kind of node has a method."""

    def __init__(self, function: Any, arguments: Sequence[Any]) -> None:
        self.values: dict[str, Any] = {}
        self.declared: dict[str, str] = {}
        self.types = dict(_SCALARS)
        for parameter, held in zip(function.parameters, arguments):
            if (kind := parameter.type.rstrip("*&")) in function.types and isinstance(held, (Pointer, Expr)):
                self.types[kind] = str(held.element.dtype if isinstance(held, Pointer) else held.dtype)

    def block(self, node: Any) -> Any:
        """The value that is returned; None: none is."""
        for statement in node.parts:
            result = self.value(statement)
            if statement.kind in ("return", "choose") and result is not None:
                return result
        return None

    def value(self, node: Any) -> Any:
        return getattr(self, f"_{node.kind}")(node)

    def typed(self, value: Any, kind: str) -> Any:
        scalar = self.types.get(kind)
        return cast(value, scalar) if scalar and isinstance(value, (Val, int, float)) else value

    def _unknown(self, node: Any) -> Any:
        raise NotUnderstood(node.text)

    # Statements.
    def _return(self, node: Any) -> Any:
        return self.value(node.parts[0]) if node.parts else _NOTHING

    def _choose(self, node: Any) -> Any:
        kind, comparison = node.words
        if kind not in self.types or comparison not in _COMPARISONS:
            raise NotUnderstood(node.text)
        size = element_type(self.types[kind]).bits // 8
        return self.block(node.parts[0 if _COMPARISONS[comparison](size, node.number) else 1])

    def _declare(self, node: Any) -> None:
        kind, name = node.words
        if name in self.declared or not (kind in self.types or kind in _VECTORS or kind == "auto"):
            raise NotUnderstood(node.text)  # it hides another one, or has a type of the program's
        self.declared[name] = kind
        if node.parts:
            self.values[name] = self.typed(self.value(node.parts[0]), kind)

    def _assign(self, node: Any) -> None:
        (name,) = node.words
        if name not in self.values:
            raise NotUnderstood(node.text)
        self.values[name] = self.typed(self.value(node.parts[0]), self.declared.get(name, "auto"))

    def _store(self, node: Any) -> None:
        value = self.value(node.parts[1])
        if not isinstance(value, Words):
            raise NotUnderstood(node.text)
        store_words(self.value(node.parts[0]), value)

    def _copy(self, node: Any) -> None:
        target, source = node.parts
        bits = 8 * node.number
        held = self.values.get(source.words[0]) if source.kind == "address" else load_words(self.value(source), bits)
        if isinstance(held, Val):
            held = Words([held])
        if not isinstance(held, Words) or held.bits != bits:
            raise NotUnderstood("memcpy")
        if target.kind == "address":
            self._set(target.words[0], held)
        else:
            store_words(self.value(target), held)

    def _set(self, name: str, held: Words) -> None:
        """Bits as what a variable's type makes of them."""
        kind = self.declared.get(name, "")
        self.values[name] = held if kind in _VECTORS else held.number(self.types.get(kind, ""))

    def _asm(self, node: Any) -> None:
        template, *constraints = node.words
        outputs, inputs = node.parts[: node.number], node.parts[node.number :]
        if any(letter.startswith("+") for letter in constraints[: len(outputs)]):
            raise NotUnderstood(template)
        given = {f"%{len(outputs) + k}": self.value(place) for k, place in enumerate(inputs)}
        results = instructions(template, given)
        vectors: dict[str, list[Any]] = {}
        for k, place in enumerate(outputs):
            if f"%{k}" not in results or place.kind not in ("name", "part"):
                raise NotUnderstood(template)
            vectors.setdefault(place.words[0], []).append(results[f"%{k}"])
        for name, held in vectors.items():
            kind = self.declared.get(name, "")
            if kind in _VECTORS and len(held) != _VECTORS[kind][1]:
                raise NotUnderstood(template)
            if kind in _VECTORS or isinstance(held[0], Words):
                self._set(name, Words.joined(held) if kind in _VECTORS else held[0])
            else:
                self.values[name] = held[0]

    # Expressions.
    def _name(self, node: Any) -> Any:
        if node.text not in self.values:
            raise NotUnderstood(node.text)
        return self.values[node.text]

    def _part(self, node: Any) -> Any:
        (name,) = node.words
        held = self.values.get(name)
        kind, count = _VECTORS.get(self.declared.get(name, ""), ("", 0))
        if not isinstance(held, Words) or node.number >= count:
            raise NotUnderstood(node.text)
        return held.cut(count)[node.number].number(kind)

    def _integer(self, node: Any) -> Any:
        return cast(node.number, node.words[0]) if node.words[0] else node.number

    def _float(self, node: Any) -> Any:
        return cast(node.number, node.words[0])

    def _static_cast(self, node: Any) -> Any:
        if node.words[0] not in self.types:
            raise NotUnderstood(node.text)
        return self.typed(self.value(node.parts[0]), node.words[0])

    def _reinterpret_cast(self, node: Any) -> Any:
        if not node.words[0].endswith("*"):
            raise NotUnderstood(node.text)
        return self.value(node.parts[0])

    def _load(self, node: Any) -> Any:
        (kind,) = node.words
        if kind not in _VECTORS and kind not in self.types:
            raise NotUnderstood(kind)
        part, count = _VECTORS[kind] if kind in _VECTORS else (self.types[kind], 1)
        words = load_words(self.value(node.parts[0]), element_type(part).bits * count)
        return words if count > 1 else words.number(part)

    def _call(self, node: Any) -> Any:
        (name,) = node.words
        operands = [self.value(part) for part in node.parts]
        if name in ("__cvta_generic_to_shared", "__cvta_generic_to_global") and operands and isinstance(operands[0], Pointer):
            return operands[0]
        if name == "__shfl_sync" and len(operands) == 3 and isinstance(operands[1], Expr):
            from .warp import shfl_sync

            return shfl_sync(operands[1], operands[2])
        function = device_functions.find(name)
        if function is None or any(isinstance(operand, (Pointer, Words)) for operand in operands):
            raise NotUnderstood(name)
        return function(*operands)

    def _binary(self, node: Any) -> Any:
        return binary(node.words[0], *_alike(node.text, *(self.value(part) for part in node.parts)))


def _alike(text: str, *operands: Any) -> list[Any]:
    """Operands in the type in which C computes: at least int, unsigned where one of the widest is, the wider float."""
    if any(isinstance(operand, (Pointer, Words)) for operand in operands):
        raise NotUnderstood(text)
    kinds = ["int32" if isinstance(operand, int) else str(operand.dtype) for operand in operands]
    kinds = ["int32" if kind in ("bool", "int8", "uint8", "int16", "uint16") else kind for kind in kinds]
    order = ["int32", "uint32", "int64", "uint64", "float32", "float64"]
    if any(kind not in order for kind in kinds):
        raise NotUnderstood(text)
    common = max(kinds, key=order.index)
    return [cast(operand, common) for operand in operands]
