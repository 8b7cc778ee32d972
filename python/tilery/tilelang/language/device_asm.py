"""The instructions of PTX that small device functions consist of, as the operations they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from tilery import _native

from ..tracing.dtypes import dtype as element_type
from ..tracing.memory import Element
from ..tracing.values import Expr, binary, cast
from .pointer import Pointer


class NotUnderstood(Exception):
    """What no operation is known for."""


class Hint:
    """What a cache is told."""


class Words:
    """Bits that were loaded, as numbers of one width, the lowest first."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = list(parts)
        self.width = element_type(self.parts[0].dtype).bits
        self.bits = self.width * len(self.parts)

    @staticmethod
    def joined(several: Sequence[Any]) -> Words:
        """The bits of several, one behind the other."""
        lists = [each.parts if isinstance(each, Words) else [each] for each in several]
        widths = {element_type(part.dtype).bits for parts in lists for part in parts}
        if len(widths) != 1:
            raise NotUnderstood("registers of several widths")
        return Words([part for parts in lists for part in parts])

    def elements(self, kind: Any) -> list[Any]:
        """The bits as numbers of a type."""
        from .tir.op import reinterpret

        kind = element_type(kind)
        if kind.bits == self.width:
            return [part if part.dtype == kind else reinterpret(part, kind) for part in self.parts]
        raw = [reinterpret(part, f"uint{self.width}") for part in self.parts]
        if kind.bits < self.width:
            shifts = range(0, self.width, kind.bits)
            pieces = [binary(">>", word, cast(shift, word.dtype)) if shift else word for word in raw for shift in shifts]
            return [reinterpret(cast(piece, f"uint{kind.bits}"), kind) for piece in pieces]
        each, wide = kind.bits // self.width, f"uint{kind.bits}"
        found = []
        for first in range(0, len(raw), each):
            word = cast(raw[first], wide)
            for place in range(1, each):
                word = binary("|", word, binary("<<", cast(raw[first + place], wide), cast(place * self.width, wide)))
            found.append(reinterpret(word, kind))
        return found

    def number(self, kind: str) -> Any:
        """The bits as one number, of a type or of their own."""
        numbers = self.elements(kind or f"uint{self.bits}")
        if len(numbers) != 1:
            raise NotUnderstood("a number of several registers")
        return numbers[0]

    def cut(self, count: int) -> list[Words]:
        """The bits in so many equal parts."""
        if len(self.parts) % count == 0:
            size = len(self.parts) // count
            return [Words(self.parts[k * size : (k + 1) * size]) for k in range(count)]
        return [Words([part]) for part in self.elements(f"uint{self.bits // count}")]


_TYPES = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TYPES |= {f"{kind}{bits}": f"{'' if kind == 's' else 'u'}int{bits}" for kind in "bus" for bits in (8, 16, 32, 64)}
_BINARY = {"add": "+", "sub": "-", "and": "&", "or": "|", "xor": "^", "min": "min", "max": "max", "mul": "*"}
_UNARY = {"ex2": "exp2", "lg2": "log2", "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sin", "cos": "cos", "tanh": "tanh"}
_NOTHING = re.compile(r"(prefetch|prefetchu|cp\.async\.bulk\.prefetch|applypriority)\b")
_ORDERED = {"volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "async", "bulk"}


def instructions(text: str, registers: dict[str, Any]) -> dict[str, Any]:
    """What the registers hold after the instructions."""
    registers = dict(registers)
    for instruction in _native.read_ptx(text):
        _instruction(instruction, registers)
    return registers


def _instruction(instruction: Any, registers: dict[str, Any]) -> None:
    name, words, operands = instruction.name, instruction.modifiers, instruction.operands
    mnemonic = ".".join((name, *words))
    kinds = [_TYPES[word] for word in words if word in _TYPES]
    if instruction.guarded:
        raise NotUnderstood(instruction.text)
    if _NOTHING.match(mnemonic):
        return
    if name == "createpolicy":
        registers[operands[0]] = Hint()
    elif name in ("ld", "st") and kinds and not _ORDERED & set(words) and "const" not in words and "param" not in words:
        _memory(name, words, kinds[-1], operands, registers)
    elif mnemonic.startswith("cp.async.c") and len(operands) >= 3 and operands[2].isdigit():
        sizes = [operand for operand in operands[3:] if not isinstance(registers.get(operand), Hint)]
        if sizes:
            raise NotUnderstood(instruction.text)
        store_words(_address(operands[0], registers), load_words(_address(operands[1], registers), 8 * int(operands[2])))
    elif kinds:
        sources = [_read(operand, registers) for operand in operands[1:]]
        registers[operands[0]] = _computed(instruction.text, name, words, kinds, sources)
    else:
        raise NotUnderstood(instruction.text)


def load_words(pointer: Any, bits: int) -> Words:
    """The bits that begin at an address."""
    if not isinstance(pointer, Pointer) or bits % pointer.element.dtype.bits:
        raise NotUnderstood("a load")
    return Words([element.read() for element in pointer.neighbours(bits // pointer.element.dtype.bits)])


def store_words(pointer: Any, words: Words) -> None:
    """Stores bits from an address on."""
    if not isinstance(pointer, Pointer) or words.bits % pointer.element.dtype.bits:
        raise NotUnderstood("a store")
    kind = pointer.element.dtype
    places: list[Element] = pointer.neighbours(words.bits // kind.bits)
    for element, value in zip(places, words.elements(kind)):
        element.store(value)


def _address(text: str, registers: dict[str, Any]) -> Any:
    place = text.strip("[] ")
    if place not in registers:
        raise NotUnderstood(text)
    return registers[place]


def _memory(name: str, words: Sequence[str], kind: str, operands: Sequence[str], registers: dict[str, Any]) -> None:
    count = next((int(word[1:]) for word in words if re.fullmatch(r"v[248]", word)), 1)
    bits = element_type(kind).bits
    if name == "ld":
        names = [part.strip() for part in operands[0].strip("{}").split(",")]
        held = load_words(_address(operands[1], registers), bits * count)
        for register, part in zip(names, held.cut(count)):
            registers[register] = part
        return
    values = [_read(part.strip(), registers) for part in operands[1].strip("{}").split(",")]
    if len(values) != count:
        raise NotUnderstood("st")
    store_words(_address(operands[0], registers), Words.joined([_bits(value, kind) for value in values]))


def _bits(value: Any, kind: str) -> Words:
    if isinstance(value, Words):
        return value
    return Words([value if isinstance(value, Expr) else cast(value, kind)])


def _read(text: str, registers: dict[str, Any]) -> Any:
    if text in registers:
        return registers[text]
    try:
        return int(text.rstrip("U"), 0)
    except ValueError:
        raise NotUnderstood(text) from None


def _computed(text: str, name: str, words: Sequence[str], kinds: Sequence[str], operands: Sequence[Any]) -> Any:
    from .. import language

    kind = kinds[-1]
    if len(kinds) > 1:
        raise NotUnderstood(text)
    values = [operand.number(kind) if isinstance(operand, Words) else cast(operand, kind) for operand in operands]
    if name in _UNARY and len(values) == 1:
        unary: Callable[[Any], Any] = getattr(language, _UNARY[name])
        return unary(values[0])
    if name == "rcp" and kind == "float32":
        return language.fast_rcp(values[0])
    if name == "mov" and len(values) == 1:
        return values[0]
    if name == "fma" and len(values) == 3:
        return language.ieee_fmaf(*values)
    if name in _BINARY and len(values) == 2 and not {"hi", "wide"} & set(words):
        return binary(_BINARY[name], *values)
    raise NotUnderstood(text)
