"""Element types: strings that can also be called to convert a value."""

from __future__ import annotations

import importlib
import re
from typing import Any

from ...errors import error
from ...frontend.wording import did_you_mean

_TYPES = (
    "bool int4 int8 int16 int32 int64 uint4 uint8 uint16 uint32 uint64 float4_e2m1fn float4_e2m1_unpacked float6_e2m3fn "
    "float6_e3m2fn float8_e3m4 float8_e4m3 float8_e4m3b11fnuz float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz "
    "float8_e8m0fnu float16 bfloat16 tfloat32 float32 float64 handle"
).split()
_UNSAID = {"bool": 8, "float4_e2m1_unpacked": 8, "handle": 64}
_BITS = {name: _UNSAID.get(name) or int(re.findall(r"\d+", name)[0]) for name in _TYPES}
_OTHER_NAMES = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "int": "int32",
    "uint": "uint32",
    "short": "int16",
    "long": "int64",
    "float8_e4m3": "float8_e4m3fn",
    "bf16": "bfloat16",
    "fp16": "float16",
    "fp32": "float32",
    "ptr": "handle",
}
_PYTHON = {int: "int32", float: "float32", bool: "bool"}
# What holds values of types that the machine has not: tf32 is a float32 whose last 13 bits are 0.
_HELD_AS = {"tfloat32": "float32", "handle": "int64"}  # an address is a number
# Types of which values can be stored and computed with.
STORED = frozenset(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16 bfloat16 tfloat32 float32 "
    "float64 handle".split()
)
# Types whose bits lie in bytes, and whose values are of another type (coded.py).
CODED = frozenset("int4 uint4 float4_e2m1fn float4_e2m1_unpacked float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split())
_LANES = re.compile(r"(.+?)x(\d+)")


def _parts(name: str) -> re.Match[str]:
    """Of the name of a vector's type: that of a lane and their number."""
    found = _LANES.fullmatch(name)
    assert found is not None, name
    return found


class dtype(str):
    """`T.float16` and its like: equal to its name; `T.float32(x)` converts x. `T.float32x2` is a type of 2 lanes."""

    __slots__ = ()

    def __new__(cls, name: Any) -> dtype:
        return str.__new__(cls, _canonical(name))

    @property
    def __tile_digest__(self) -> str:
        return str(self)

    @property
    def lanes(self) -> int:
        return 1 if self in _BITS else int(_parts(self)[2])

    @property
    def element(self) -> dtype:
        """The type of one lane."""
        return self if self in _BITS else dtype(_parts(self)[1])

    @property
    def bits(self) -> int:
        """Bits of one lane."""
        return _BITS[str(self.element)]

    @property
    def bytes(self) -> int:
        """Bytes of all lanes."""
        return (self.bits * self.lanes + 7) // 8

    itemsize = bytes

    @property
    def pack(self) -> int:
        """Elements of a byte, of types of 4 bits; else 1."""
        return 2 if self.bits == 4 and self.lanes == 1 else 1

    @property
    def stored_in_bytes(self) -> bool:
        """Is its memory of bytes that torch has another type for?"""
        return self in CODED or (self.bits == 4 and self.lanes == 2)

    @property
    def storage(self) -> Any:
        """The type that memory of this one has for the compiler."""
        if self.stored_in_bytes:
            return "uint8"
        if self not in STORED:
            raise error(
                NotImplementedError,
                f"memory of type {self} is not supported",
                hint="pack its values into integers: T.uint8 and shifts",
            )
        return _HELD_AS.get(str(self), str(self))

    def as_torch(self) -> Any:
        """What torch stores this type in; types of 4 bits come in pairs."""
        import torch

        if self.bits == 4 and self.lanes == 2:
            return self.element.as_torch()
        if self.lanes > 1 or self == "handle":
            raise error(ValueError, f"torch has no type for {self}")
        other = {"tfloat32": "float32", "int4": "int8", "uint4": "uint8", "float4_e2m1_unpacked": "uint8"}
        if self == "float4_e2m1fn":
            return getattr(torch, "float4_e2m1fn_x2", torch.int8)
        found = getattr(torch, other.get(str(self), str(self)), None)
        if found is None:
            raise error(ValueError, f"torch has no type for {self}")
        return found

    def __repr__(self) -> str:
        return f"T.{str(self)}"


def _canonical(name: Any) -> str:
    if isinstance(name, dtype):
        return str(name)
    if isinstance(name, type) and name in _PYTHON:
        return _PYTHON[name]
    if isinstance(name, type):
        name = name.__name__  # numpy's classes of numbers
    text = name if isinstance(name, str) else getattr(name, "name", None) or str(name)  # numpy's dtype has a name, torch's a str
    text = text.rpartition(".")[2]
    text = _OTHER_NAMES.get(text, text)
    if text not in _BITS:
        lanes = _LANES.fullmatch(text)
        if lanes and lanes[2] in _LANE_COUNTS and lanes[1] in NAMES:
            return f"{_OTHER_NAMES.get(lanes[1], lanes[1])}x{lanes[2]}"
        hint = did_you_mean(text, _BITS) or "known: " + ", ".join(_BITS)
        raise error(ValueError, f"unknown element type {name!r}", hint=hint)
    return text


def names_of(library: str) -> dict[Any, str]:
    """The names of the types that a library has: python, numpy or torch."""
    if library == "python":
        return dict(_PYTHON)
    module = importlib.import_module(library)
    found = {getattr(module, name): name for name in _BITS if hasattr(module, name)}
    if library == "numpy":
        found |= {module.dtype(kind): name for kind, name in found.items()}
    return found


def is_float(name: str) -> bool:
    return "float" in name


def is_integer(name: str) -> bool:
    return "int" in name


_LANE_COUNTS = ("2", "4", "8", "16", "32", "64")
_UNNAMED = ("handle", "bf16", "fp16", "fp32", "ptr")
NAMES = tuple(name for name in (*_BITS, *_OTHER_NAMES) if name not in _UNNAMED)


def is_vector(name: str) -> bool:
    """Is it the name of a type of several lanes?"""
    lanes = _LANES.fullmatch(name)
    return lanes is not None and lanes[1] in NAMES and lanes[2] in _LANE_COUNTS
