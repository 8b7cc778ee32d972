"""inline_asm_elementwise: the common instructions of PTX, each as the operation it is, so that every target runs them."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import error
from ..functions import device
from ..ignored import ignore
from . import per_lane, shape
from .device import ROWS as _DEVICE
from .elementwise import Operations as f
from .types import unwrap
from .value import constant_of, native, tensor, to_tensor, tracer, wrap

_TYPES = {"pred": "bool", "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64"}
_TYPES |= {f"{kind}{bits}": f"{'' if kind == 's' else 'u'}int{bits}" for kind in "bus" for bits in (8, 16, 32, 64)}
_REGISTERS = {"r": "uint32", "f": "float32", "h": "uint16", "l": "uint64", "d": "float64", "c": "uint16", "b": "bool"}
_BINARY = {"add": "+", "sub": "-", "rem": "%", "and": "&", "or": "|", "xor": "^", "min": "min", "max": "max"}
_UNARY = {"ex2": "exp2", "lg2": "log2", "sqrt": "sqrt", "rsqrt": "rsqrt", "sin": "sin", "cos": "cos", "tanh": "tanh"}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}
_BITS = {row.name: row.operation for row in (*device.ROWS, *_DEVICE) if row.name in ("popc", "clz", "brev", "byte_perm")}
_ROUNDINGS = {"rni": "round_even", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}


def _width(dtype: str) -> int:
    return 1 if dtype == "bool" else int(re.sub(r"\D", "", dtype.replace("bfloat", "")))


def _as(value: tensor, dtype: str) -> tensor:
    """The bits of a register, or its lower ones, as a type."""
    have, want = _width(value.handle.dtype), _width(dtype)
    if value.handle.dtype == dtype or want == 1:
        return f.cast(value, dtype)
    if have == want:
        return f.bitcast(value, dtype)
    whole = f.bitcast(value, f"uint{have}") if have > 1 else f.cast(value, "uint32")
    return _as(f.cast(whole, f"uint{want}"), dtype)


class _Program:
    """The instructions, run on tiles in place of registers."""

    def __init__(self, lanes: int) -> None:
        self.lanes = lanes
        self.registers: dict[str, tensor] = {}
        self.guard: tensor | None = None  # of the instruction: where it is false it does nothing

    def read(self, text: str, dtype: str) -> tensor:
        text = text.strip()
        if text[:1] == "!" and dtype == "bool":
            return f.unary("not", self.read(text[1:], "bool"))
        if text in self.registers:
            return _as(self.registers[text], dtype)
        number: Any
        if re.fullmatch(r"0[fF][0-9a-fA-F]{8}", text):
            number = struct.unpack(">f", bytes.fromhex(text[2:]))[0]
        elif re.fullmatch(r"0[dD][0-9a-fA-F]{16}", text):
            number = struct.unpack(">d", bytes.fromhex(text[2:]))[0]
        else:
            try:
                number = int(text.rstrip("U"), 0)
            except ValueError:
                try:
                    number = float(text)
                except ValueError:
                    what = f"`{text}` in the assembly is neither a register that has a value nor a number"
                    raise error(ValueError, what) from None
        if isinstance(number, int) and "int" in dtype:
            number &= (1 << _width(dtype)) - 1
            return f.bitcast(wrap(native().full([self.lanes], number, f"uint{_width(dtype)}")), dtype)
        return wrap(native().full([self.lanes], number, dtype))

    def run(self, text: str) -> None:
        text = re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
        text = re.sub(r"\.reg\s+\.\w+\s+[^;]*;", " ", text)
        for statement in text.split(";"):
            words = statement.lstrip("{} \t\n").split()  # braces that begin a statement are those of a block
            if words and words[0][0] == "@":
                self.guarded(words[0][1:], " ".join(words[1:]))
            elif words:
                self.instruction(" ".join(words))

    def guarded(self, predicate: str, text: str) -> None:
        """An instruction that is carried out where a predicate holds; elsewhere its results stay what they were."""
        before = dict(self.registers)
        self.guard = self.read(predicate, "bool")
        self.instruction(text)
        for name, new in self.registers.items():
            if name in before and new is not before[name]:
                self.registers[name] = f.select(self.guard, new, _as(before[name], new.handle.dtype))
        self.guard = None

    def instruction(self, text: str) -> None:
        mnemonic, _, rest = text.partition(" ")
        name, *words = mnemonic.split(".")
        operands = [part.strip() for part in re.findall(r"\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*", rest) if part.strip()]
        kinds = [_TYPES[word] for word in words if word in _TYPES]
        try:
            result = self.value(name, words, kinds, operands)
        except (KeyError, IndexError):
            result = NotImplemented
        if result is NotImplemented:
            raise error(
                NotImplementedError,
                f"the instruction `{text}` of inline_asm_elementwise is not understood",
                hint="write it with functions of tl: they compile for every target",
            )
        if result is not None and operands[0] != "_":
            self.registers[operands[0]] = result

    def value(self, name: str, words: Sequence[str], kinds: Sequence[str], operands: Sequence[str]) -> Any:
        kind = kinds[-1]
        if name in ("ld", "st"):
            return self.memory(name, kind, operands)
        if name == "mov" and (asked := self.special(operands[1])) is not None:
            return asked
        if name == "mov" and (operands[0][0] == "{" or operands[1][0] == "{"):
            return self.moved(kind, operands)
        if name == "cvt":
            return self.converted(kinds[0], kind, words, operands[1])
        sources = operands[1:]
        if name == "setp":
            return self.compared(words, kind, operands)
        if name == "selp":
            return f.select(self.read(sources[2], "bool"), self.read(sources[0], kind), self.read(sources[1], kind))
        if name in ("shl", "shr"):
            amount = f.cast(self.read(sources[1], "uint32"), kind)
            return f.binary("<<" if name == "shl" else ">>", self.read(sources[0], kind), amount)
        if name == "lop3":
            return self.looked_up([self.read(s, kind) for s in sources[:3]], int(sources[3], 0))
        return self.arithmetic(name, words, kind, [self.read(s, kind) for s in sources])

    def compared(self, words: Sequence[str], kind: str, operands: Sequence[str]) -> tensor | None:
        """setp: the result of a comparison, combined with a predicate if there is one; of `p|q` the second is the contrary."""
        x, y = (self.read(s, kind) for s in operands[1:3])
        name = words[0].rstrip("u")
        unordered = f.binary("or", f.math("isnan", x), f.math("isnan", y)) if "float" in kind else None
        if name in ("num", "nan"):
            holds = f.unary("not", unordered) if name == "num" else unordered
        else:
            holds = f.binary(_COMPARE[name], x, y)
            if unordered is not None:
                ordered = f.unary("not", unordered)
                holds = f.binary("or", holds, unordered) if words[0] != name else f.binary("and", holds, ordered)
        results = [holds, f.unary("not", holds)]
        if len(operands) > 3:
            other = self.read(operands[3], "bool")
            results = [f.binary({"and": "and", "or": "or", "xor": "!="}[words[1]], r, other) for r in results]
        for target, result in zip(operands[0].split("|"), results):
            self.registers[target.strip()] = result
        return None

    def special(self, name: str) -> tensor | None:
        """What the machine or the launch says, in all lanes; None: the name is none of these."""
        register, _, axis = name.partition(".")
        if name == "%globaltimer":
            value = native().clock()
        elif name == "%smid":
            value = native().processor()
        elif register in ("%ctaid", "%nctaid") and axis in ("x", "y", "z"):
            ask = native().program_id if register == "%ctaid" else native().num_programs
            value = ask("xyz".index(axis))
        else:
            return None
        return shape.broadcast_to(shape.reshape(f.bitcast(wrap(value), f"uint{_width(value.dtype)}"), [1]), [self.lanes])

    def arithmetic(self, name: str, words: Sequence[str], kind: str, x: list[tensor]) -> Any:
        integer = "int" in kind
        if name in ("mul", "mad", "fma") and "wide" in words:
            wide = kind.replace("32", "64").replace("16", "32")
            product = f.binary("*", f.cast(x[0], wide), f.cast(x[1], wide))
            return NotImplemented if name == "mad" else product
        if name == "mul":
            return f.binary("mulhi" if "hi" in words else "*", x[0], x[1])
        if name in ("mad", "fma"):
            product = f.binary("mulhi" if "hi" in words else "*", x[0], x[1])
            return f.binary("+", product, x[2]) if integer else f.math("fma", *x)
        if name == "div":
            return f.binary("//" if integer else "div_rn", *x)
        simple: dict[str, Callable[..., Any]] = {
            "mov": lambda a: a,
            "neg": lambda a: f.unary("-", a),
            "abs": lambda a: f.unary("abs", a),
            "not": lambda a: f.unary("not" if kind == "bool" else "~", a),
            "rcp": lambda a: f.binary("div_rn", 1.0, a),
            "copysign": lambda a, b: f.math("copysign", b, a),
            "popc": lambda a: _as(_BITS["popc"](f, a), "uint32"),
            "clz": lambda a: _as(_BITS["clz"](f, a), "uint32"),
            "brev": lambda a: _BITS["brev"](f, a),
            "prmt": lambda a, b, s: _as(_BITS["byte_perm"](f, a, b, s), kind),
            "shf": lambda a, b, c: self.funnel(a, b, c, words),
        }
        if name in simple:
            return simple[name](*x)
        return f.math(_UNARY[name], *x) if name in _UNARY else f.binary(_BINARY[name], *x)

    def funnel(self, low: tensor, high: tensor, amount: tensor, words: Sequence[str]) -> tensor:
        amount = f.cast(f.binary("&", amount, 31) if "wrap" in words else f.binary("min", amount, 32), "uint64")
        both = f.binary("|", f.binary("<<", f.cast(high, "uint64"), 32), f.cast(low, "uint64"))
        if "l" in words:
            return f.cast(f.binary(">>", f.binary("<<", both, amount), 32), "uint32")
        return f.cast(f.binary(">>", both, amount), "uint32")

    def looked_up(self, x: Sequence[tensor], table: int) -> tensor:
        result = self.read("0", x[0].handle.dtype)
        for row in range(8):
            if table >> row & 1:
                term = None
                for place, value in zip((4, 2, 1), x):
                    factor = value if row & place else f.unary("~", value)
                    term = factor if term is None else f.binary("&", term, factor)
                result = f.binary("|", result, term)
        return result

    def converted(self, to: str, kind: str, words: Sequence[str], source: str) -> tensor:
        x = self.read(source, kind)
        rounding = next((_ROUNDINGS[word] for word in words if word in _ROUNDINGS), None)
        if rounding and "float" in kind:
            x = f.math(rounding, x)
        narrows = "float" in kind and "float" in to and _width(to) < _width(kind)
        return f.cast(x, to, "rz" in words and narrows)

    def moved(self, kind: str, operands: Sequence[str]) -> Any:
        """Parts of a register, or a register of parts."""
        target, source = operands
        names = [n.strip() for n in (target if target[0] == "{" else source).strip("{}").split(",")]
        bits = _width(kind) // len(names)
        if target[0] == "{":
            whole = self.read(source, kind)
            for place, name in enumerate(names):
                self.registers[name] = f.cast(f.binary(">>", whole, place * bits), f"uint{bits}")
            return None
        parts = [f.binary("<<", f.cast(self.read(n, f"uint{bits}"), kind), k * bits) for k, n in enumerate(names)]
        return _joined(parts)

    def memory(self, name: str, kind: str, operands: Sequence[str]) -> Any:
        place = next(o for o in operands if o[0] == "[")
        tracer().touches_memory(name)
        pointer = wrap(native().int_to_pointer(self.read(place.strip("[]"), "uint64"), kind))
        if name == "ld":
            return wrap(native().load(pointer, self.guard, None))
        native().store(pointer, self.read(operands[1], kind), self.guard)
        return None


def _joined(parts: Sequence[tensor]) -> tensor:
    whole = parts[0]
    for part in parts[1:]:
        whole = f.binary("|", whole, part)
    return whole


def _inputs(value: tensor, pack: int, constraint: str) -> list[tensor]:
    """The registers of `pack` consecutive elements."""
    if value.handle.is_pointer:
        value = wrap(native().bitcast(native().pointer_to_int(value), "uint64"))
    bits = max(_width(value.handle.dtype), 8)
    columns = per_lane.columns(value, pack)
    register = _REGISTERS[constraint]
    if bits >= 32 or pack == 1 or _width(register) == bits:
        return [_as(c, register) for c in columns]
    each = 32 // bits
    wide = [f.cast(_as(c, f"uint{bits}"), "uint32") for c in columns]
    shifted = [f.binary("<<", c, bits * (k % each)) for k, c in enumerate(wide)]
    return [_joined(shifted[k : k + each]) for k in range(0, pack, each)]


def inline_asm_elementwise(
    asm: str, constraints: str, args: Sequence[Any], dtype: Any, is_pure: bool, pack: int
) -> Any:
    """The elements that a piece of PTX computes of those of the arguments, `pack` consecutive ones at a time. The common
    instructions are understood, on every target."""
    ignore("tl.inline_asm_elementwise", is_pure=unwrap(is_pure))
    pack = constant_of(pack, "inline_asm_elementwise's pack")
    kinds = [unwrap(k) for k in (dtype if isinstance(unwrap(dtype), (tuple, list)) else (dtype,))]
    letters = [c.strip().lstrip("=&") for c in unwrap(constraints).split(",") if c.strip()]
    values = [to_tensor(a) for a in args]
    sizes: list[int] = []
    for value in values:
        sizes = list(native().broadcast(value, wrap(native().full(sizes, 0, "int32")))[0].shape)
    lanes = math.prod(sizes)
    if lanes % pack:
        raise error(ValueError, f"a tile of {lanes} elements cannot be taken {pack} at a time")
    counts = [max(pack * max(k.primitive_bitwidth, 8) // 32, 1) if k.primitive_bitwidth < 32 else pack for k in kinds]
    program, number = _Program(lanes // pack), sum(counts)
    for value in values:
        flat = shape.ravel(shape.broadcast_to(value, sizes)) if sizes else shape.reshape(value, [1])
        if number >= len(letters) or letters[number] not in _REGISTERS:
            what = f"constraint {number} of {unwrap(constraints)!r} names no register"
            raise error(ValueError, what, hint="known: r, f, h, l, d")
        for register in _inputs(flat, pack, letters[number]):
            program.registers[f"${number}"] = register
            number += 1
    program.run(unwrap(asm))
    outputs, number = [], 0
    for kind, count in zip(kinds, counts):
        registers = [program.read(f"${number + k}", _REGISTERS[letters[number]]) for k in range(count)]
        number += count
        bits, name = max(kind.primitive_bitwidth, 8), kind.__tile_dtype__
        each = pack // count
        columns = []
        for k in range(pack):
            register = registers[k // each]
            columns.append(_as(f.binary(">>", register, bits * (k % each)) if each > 1 else register, name))
        whole = per_lane.interleaved(columns)
        outputs.append(shape.reshape(whole, sizes))
    return tuple(outputs) if isinstance(unwrap(dtype), (tuple, list)) else outputs[0]
