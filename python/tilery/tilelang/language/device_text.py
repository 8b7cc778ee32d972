"""Device functions that programs bring as text of CUDA C++ (T.import_source, `-include`): those that load, store, fetch ahead or
compute by single instructions are what they say, on every target; hints to caches fall away. Others are refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import error
from ..tracing.dtypes import dtype as element_type
from ..tracing.values import Expr, Val, binary, cast, read
from . import device_functions
from .device_asm import NotUnderstood, Words, instructions, load_words, store_words
from .pointer import Pointer

_HEAD = re.compile(
    r"(?:template\s*<(?P<template>[^>]*)>\s*)?(?:(?:static|extern\s*\"C\"|inline|__forceinline__|__inline__)\s+)*__device__\s+"
    r"(?P<type>[\w:<>*&\s]+?)\s*\b(?P<name>\w+)\s*\((?P<parameters>[^()]*)\)\s*\{"
)
_SCALARS = {
    "float": "float32", "double": "float64", "int": "int32", "unsigned": "uint32", "unsigned int": "uint32", "bool": "bool",
    "long long": "int64", "unsigned long long": "uint64", "size_t": "uint64", "short": "int16", "unsigned short": "uint16",
    "char": "int8", "unsigned char": "uint8",
} | {f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}  # fmt: skip
_VECTORS = {"uint2": ("uint32", 2), "uint4": ("uint32", 4), "int2": ("int32", 2), "int4": ("int32", 4),
            "float2": ("float32", 2), "float4": ("float32", 4)}  # fmt: skip
_QUALIFIERS = re.compile(r"\b(?:const|volatile|__restrict__|static|inline|__forceinline__|__inline__|__noinline__)\b")


@dataclass(frozen=True)
class Function:
    """A function of the text: its type and parameters as they are written, and its body."""

    name: str
    type: str
    parameters: tuple[tuple[str, str], ...]
    body: str
    template: str | None
    defaults: tuple[str | None, ...] = ()
    several: bool = False  # functions of this name: which one is meant hangs on the types


def functions_of(text: str) -> dict[str, Function]:
    """The device functions of a text, by their names with their namespaces."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^[ \t]*#[ \t]*(if|ifdef|ifndef|else|elif|endif)\b[^\n]*", r"\n@\1;", text, flags=re.M)
    text = re.sub(r"^[ \t]*#[^\n]*", "", text, flags=re.M)
    found: dict[str, Function] = {}
    spaces: list[tuple[str, int]] = []
    for match in re.finditer(r"namespace\s+([\w:]+)\s*\{|" + _HEAD.pattern, text):
        spaces = [(name, end) for name, end in spaces if end > match.start()]
        end = _closing(text, match.end() - 1)
        if match[1]:
            spaces.append((match[1], end))
            continue
        parts = [part.partition("=") for part in match["parameters"].split(",") if part.strip() not in ("", "void")]
        parameters = [_parameter(part) for part, _, _ in parts]
        defaults = tuple(value.strip() or None for _, _, value in parts)
        name = "::".join([*(name for name, _ in spaces), match["name"]])
        body = text[match.end() : end]
        several = name in found
        found[name] = Function(name, _plain(match["type"]), tuple(parameters), body, match["template"], defaults, several)
    return found


def _closing(text: str, place: int) -> int:
    """Where the brace that opens at a place is closed."""
    depth = 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|[{}]', text[place:]):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if not depth and match[0] == "}":
            return place + match.start()
    return len(text)


def _plain(kind: str) -> str:
    return " ".join(_QUALIFIERS.sub(" ", kind).replace("std::", "").split()).replace(" *", "*")


def _parameter(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"(.*?)(\w+)\s*", text.strip(), re.S)
    return (_plain(found[1]), found[2]) if found else (text.strip(), "")


def call(function: Function, dtype: Any, arguments: Sequence[Any]) -> Any:
    """What the function computes of numbers and addresses, in the type that the program names."""
    least = sum(default is None for default in function.defaults)
    if not least <= len(arguments) <= len(function.parameters):
        takes = f"{least} to {len(function.parameters)}" if least < len(function.parameters) else str(least)
        raise error(TypeError, f"{function.name} takes {takes} arguments, got {len(arguments)}")
    try:
        result = _called(function, dtype, arguments)
    except NotUnderstood as unknown:
        raise error(
            NotImplementedError,
            f"{function.name} is text of CUDA in which `{unknown}` is not understood",
            hint="write it with functions of T: text of another language cannot be compiled for every target",
        ) from None
    if result is None or str(dtype) == "handle":
        return None
    return cast(result.number(str(dtype)) if isinstance(result, Words) else result, dtype)


def _called(function: Function, dtype: Any, arguments: Sequence[Any]) -> Any:
    if function.several:
        raise NotUnderstood("several functions of this name")
    if directive := re.search(r"@(\w+);", function.body):
        raise NotUnderstood("#" + directive[1])
    given = [argument if isinstance(argument, Pointer) else read(argument) for argument in arguments]
    values = {name: value for (_, name), value in zip(function.parameters, given)}
    run = _Run(function, values, dtype)
    for (kind, name), default in list(zip(function.parameters, function.defaults))[len(arguments) :]:
        values[name] = run.value(default or "")
    for kind, name in function.parameters:
        if isinstance(values[name], Pointer) != kind.endswith("*") or (kind not in run.types and not kind.endswith("*")):
            raise NotUnderstood(f"{kind} {name}")
        run.declared[name] = kind
        values[name] = run.typed(values[name], kind)
    result = run.block(function.body)
    result = None if result is _NOTHING else result
    return run.typed(result, function.type) if function.type in run.types else result


_NOTHING = object()  # what `return;` gives


class _Run:
    """A function's statements, carried out one after another on the values of a kernel."""

    def __init__(self, function: Function, values: dict[str, Any], dtype: Any) -> None:
        self.values = values
        self.types = dict(_SCALARS)
        if function.template:
            names = re.findall(r"(?:typename|class)\s+(\w+)", function.template)
            for kind, name in function.parameters:
                held = values[name]
                if kind.rstrip("*&") in names and isinstance(held, (Pointer, Expr)):
                    self.types[kind.rstrip("*&")] = str(held.element.dtype if isinstance(held, Pointer) else held.dtype)
        self.declared: dict[str, str] = {}

    def block(self, text: str) -> Any:
        """The value that is returned; None: none is."""
        for statement in _statements(text):
            if chosen := re.match(r"if\s+constexpr\s*\(", statement):
                statement = self._chosen(statement, chosen.end() - 1)
                if (result := self.block(statement)) is not None:
                    return result
            elif statement.startswith("return"):
                rest = statement[len("return") :].strip()
                return self.value(rest) if rest else _NOTHING
            else:
                self.statement(statement)
        return None

    def _chosen(self, text: str, place: int) -> str:
        """The side of an `if constexpr` that is taken, by the size of a type."""
        end = _matching(text, place)
        sized = re.fullmatch(r"sizeof\s*\(\s*(\w+)\s*\)\s*(==|<=|>=|<|>|!=)\s*(\d+)", text[place + 1 : end].strip())
        if not sized or sized[1] not in self.types:
            raise NotUnderstood(text[: end + 1])
        size = element_type(self.types[sized[1]]).bits // 8
        holds = {"==": size == int(sized[3]), "!=": size != int(sized[3]), "<": size < int(sized[3]), ">": size > int(sized[3]),
                 "<=": size <= int(sized[3]), ">=": size >= int(sized[3])}[sized[2]]  # fmt: skip
        first = text.index("{", end)
        if text[end + 1 : first].strip():
            raise NotUnderstood(text[: first + 1])
        after = _closing(text, first)
        if holds:
            return text[first + 1 : after]
        other = re.match(r"\s*else\s*\{", text[after + 1 :])
        return text[after + 1 + other.end() : _closing(text, after + other.end())] if other else ""

    def statement(self, text: str) -> None:
        if not text or text.startswith("static_assert"):
            return
        if asm := re.match(r"(?:asm|__asm__)\s*(?:volatile|__volatile__)?\s*\(", text):
            return self._asm(text[asm.end() : text.rindex(")")])
        if copied := re.fullmatch(r"(?:__builtin_)?memcpy\s*\((.*),\s*(\d+)\s*\)", text, re.S):
            to, source = (part.strip() for part in _split(copied[1], ","))
            size = int(copied[2])
            held = self.values.get(source[1:].strip()) if source[0] == "&" else load_words(self.value(source), 8 * size)
            return self._copied(to[1:].strip() if to[0] == "&" else self.value(to), held, size)
        if stored := re.fullmatch(r"\*\s*reinterpret_cast\s*<[^>]*>\s*\(([^()]*)\)\s*=(.*)", text, re.S):
            value = self.value(stored[2])
            if not isinstance(value, Words):
                raise NotUnderstood(text)
            return self._copied(self.value(stored[1]), value, value.bits // 8)
        declared = re.fullmatch(r"((?:[\w:]+\s+)+)(\w+)\s*(?:=(?!=)(.*))?", text, re.S)
        assigned = re.fullmatch(r"(\w+)\s*=(?!=)(.*)", text, re.S)
        if text.startswith("static ") or (declared and declared[2] in self.declared):
            raise NotUnderstood(text)  # it outlives the call, or hides another one
        if declared and (kind := _plain(declared[1])) and (kind in self.types or kind in _VECTORS or kind == "auto"):
            self.declared[declared[2]] = kind
            if declared[3]:
                self.values[declared[2]] = self.typed(self.value(declared[3]), kind)
        elif assigned and assigned[1] in self.values:
            self.values[assigned[1]] = self.typed(self.value(assigned[2]), self.declared.get(assigned[1], "auto"))
        else:
            self.value(text)

    def typed(self, value: Any, kind: str) -> Any:
        scalar = self.types.get(kind)
        return cast(value, scalar) if scalar and isinstance(value, (Val, int, float)) else value

    def _copied(self, target: Any, value: Any, size: int) -> None:
        if isinstance(value, Val):
            value = Words([value])
        if not isinstance(value, Words) or value.bits != 8 * size:
            raise NotUnderstood("memcpy")
        if isinstance(target, str):
            kind = self.declared.get(target, "")
            self.values[target] = value if kind in _VECTORS else value.number(self.types.get(kind, ""))
        elif isinstance(target, Pointer):
            store_words(target, value)
        else:
            raise NotUnderstood("memcpy")

    def _asm(self, text: str) -> None:
        pieces = re.findall(r'"((?:\\.|[^"\\])*)"', text[: _outside(text, ":")])
        template = "".join(pieces).replace("\\n", "\n").replace("\\t", " ")
        parts = _split(text[_outside(text, ":") + 1 :], ":") if _outside(text, ":") < len(text) else []
        outputs = _operands(parts[0]) if parts else []
        inputs = _operands(parts[1]) if len(parts) > 1 else []
        if any(letter.startswith("+") for letter, _ in outputs):
            raise NotUnderstood(template)
        given = {f"%{len(outputs) + k}": self.value(place) for k, (_, place) in enumerate(inputs)}
        results = instructions(template, given)
        vectors: dict[str, list[Any]] = {}
        for k, (_, place) in enumerate(outputs):
            name, _, part = place.partition(".")
            if f"%{k}" not in results:
                raise NotUnderstood(template)
            vectors.setdefault(name, []).append(results[f"%{k}"])
        for name, held in vectors.items():
            kind = self.declared.get(name, "")
            if kind in _VECTORS:
                if len(held) != _VECTORS[kind][1]:
                    raise NotUnderstood(template)
                self.values[name] = Words.joined(held)
            else:
                self.values[name] = held[0].number(self.types.get(kind, "")) if isinstance(held[0], Words) else held[0]

    def value(self, text: str) -> Any:
        text = text.strip()
        if text in self.values:
            return self.values[text]
        part = re.fullmatch(r"(\w+)\s*\.\s*([xyzw])", text)
        if part and isinstance(held := self.values.get(part[1]), Words) and self.declared.get(part[1]) in _VECTORS:
            kind, count = _VECTORS[self.declared[part[1]]]
            if "xyzw".index(part[2]) < count:
                return held.cut(count)["xyzw".index(part[2])].number(kind)
        if re.fullmatch(r"-?(0[xX][\da-fA-F]+|[1-9]\d*|0)[uUlL]*", text):
            return _integer(text)
        if re.fullmatch(r"-?(\d+\.\d*|\.\d+)(e[-+]?\d+)?[fF]?", text):
            return cast(float(text.rstrip("fF")), "float32" if text[-1] in "fF" else "float64")
        if text.startswith("(") and _matching(text, 0) == len(text) - 1:
            return self.value(text[1:-1])
        if turned := re.match(r"(?:static_cast|reinterpret_cast)\s*<([^>]*)>\s*\(", text):
            if _matching(text, turned.end() - 1) == len(text) - 1:
                if not (_plain(turned[1]).endswith("*") if text[0] == "r" else _plain(turned[1]) in self.types):
                    raise NotUnderstood(text)
                return self.typed(self.value(text[turned.end() : -1]), _plain(turned[1]))
        if loaded := re.fullmatch(r"\*\s*reinterpret_cast\s*<([^>]*)>\s*\(([^()]*)\)", text):
            return self._loaded(_plain(loaded[1]).rstrip("*"), self.value(loaded[2]))
        if called := re.match(r"([\w:]+)\s*\(", text):
            if _matching(text, called.end() - 1) == len(text) - 1:
                return self._called(called[1], [self.value(part) for part in _split(text[called.end() : -1], ",")])
        for operators in (("+", "-"), ("*",)):
            if (found := _last(text, operators)) is not None:
                if not text[found + 1 :].strip():
                    raise NotUnderstood(text)
                x, y = self.value(text[:found]), self.value(text[found + 1 :])
                return binary(text[found], *_alike(text, x, y))
        raise NotUnderstood(text)

    def _loaded(self, kind: str, pointer: Any) -> Any:
        if kind in _VECTORS:
            part, count = _VECTORS[kind]
        elif kind in self.types:
            part, count = self.types[kind], 1
        else:
            raise NotUnderstood(kind)
        words = load_words(pointer, element_type(part).bits * count)
        return words if count > 1 else words.number(part)

    def _called(self, name: str, operands: list[Any]) -> Any:
        if name in ("__cvta_generic_to_shared", "__cvta_generic_to_global") and isinstance(operands[0], Pointer):
            return operands[0]
        if name == "__shfl_sync" and len(operands) == 3 and isinstance(operands[1], Expr):
            from .warp import shfl_sync

            return shfl_sync(operands[1], operands[2])
        function = device_functions.find(name)
        if function is None or any(isinstance(operand, (Pointer, Words)) for operand in operands):
            raise NotUnderstood(name)
        return function(*operands)


def _integer(text: str) -> Any:
    """An integer as C types it; those of int stay plain numbers."""
    digits = re.sub("[uUlL]", "", text)
    number, suffix = int(digits, 0), text[len(digits) :].lower()
    hexadecimal = "x" in digits.lower()
    if abs(number) >= 2**63 or (number < 0 and suffix) or (hexadecimal and abs(number) >= 2**31 and (number < 0 or not suffix)):
        raise NotUnderstood(text)  # types that hang on more than the digits
    if not suffix and abs(number) < 2**31:
        return number
    wide = "l" in suffix or abs(number) >= 2 ** (32 if "u" in suffix else 31)
    return cast(number, f"{'u' if 'u' in suffix else ''}int{64 if wide else 32}")


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


def _statements(text: str) -> Iterable[str]:
    """The statements of a block; one with braces up to its last one."""
    place = 0
    while place < len(text):
        begin = re.match(r"[\s;]*", text[place:]).end() + place  # type: ignore[union-attr]
        if begin >= len(text):
            return
        if re.match(r"if\s+constexpr", text[begin:]):
            end = _closing(text, text.index("{", begin)) + 1
            while other := re.match(r"\s*else\s*\{", text[end:]):
                end = _closing(text, end + other.end() - 1) + 1
        else:
            end = begin + _outside(text[begin:], ";")
        yield text[begin:end].strip()
        place = end


def _scan(text: str) -> Iterable[tuple[int, str, int]]:
    """Each character outside of strings, with its place and how deep it stands in brackets."""
    depth = 0
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|.', text, re.S):
        depth -= match[0] in (")", "}", "]")
        yield match.start(), match[0], depth
        depth += match[0] in ("(", "{", "[")


def _outside(text: str, mark: str) -> int:
    """Where a mark first stands outside of brackets (`::` is none); the end if nowhere."""
    for place, char, depth in _scan(text):
        if char == mark and depth == 0 and not (mark == ":" and ("::" in text[place : place + 2] and _names(text, place))):
            return place
    return len(text)


def _names(text: str, place: int) -> bool:
    """Do two colons stand between names, not between the empty parts of an asm statement?"""
    return bool(re.match(r"\w", text[place + 2 : place + 3]) and re.search(r"\w$", text[:place]))


def _split(text: str, mark: str) -> list[str]:
    parts = []
    while (end := _outside(text, mark)) < len(text):
        parts.append(text[:end])
        text = text[end + 1 :]
    return [*parts, text]


def _matching(text: str, place: int) -> int:
    for at, char, depth in _scan(text[place:]):
        if char == ")" and depth == 0:
            return place + at
    return -1


def _last(text: str, operators: Sequence[str]) -> int | None:
    found = [place for place, char, depth in _scan(text) if char in operators and depth == 0 and text[:place].strip()]
    return found[-1] if found else None


def _operands(text: str) -> list[tuple[str, str]]:
    """The constraints and places of an asm statement's operands."""
    found = []
    for part in _split(text, ","):
        match = re.fullmatch(r'\s*"([^"]*)"\s*\((.*)\)\s*', part, re.S)
        if match:
            found.append((match[1], match[2].strip()))
        elif part.strip():
            raise NotUnderstood(part.strip())
    return found
