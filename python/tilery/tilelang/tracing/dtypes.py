"""Element types: strings that can also be called to convert a value."""

from ...errors import error

_BITS = {
    "bool": 8,
    "int8": 8,
    "int16": 16,
    "int32": 32,
    "int64": 64,
    "uint8": 8,
    "uint16": 16,
    "uint32": 32,
    "uint64": 64,
    "float8_e4m3fn": 8,
    "float8_e5m2": 8,
    "float16": 16,
    "bfloat16": 16,
    "float32": 32,
    "float64": 64,
}
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
}
_PYTHON = {int: "int32", float: "float32", bool: "bool"}


class dtype(str):
    """`T.float16` and its like: equal to its name; `T.float32(x)` converts x."""

    __slots__ = ()

    def __new__(cls, name):
        return str.__new__(cls, _canonical(name))

    @property
    def __tile_digest__(self):
        return str(self)

    @property
    def bits(self):
        return _BITS[str(self)]

    @property
    def bytes(self):
        return self.bits // 8

    itemsize = bytes

    def as_torch(self):
        import torch

        return getattr(torch, str(self))

    def __repr__(self):
        return f"T.{str(self)}"


def _canonical(name):
    if isinstance(name, dtype):
        return str(name)
    if isinstance(name, type) and name in _PYTHON:
        return _PYTHON[name]
    text = name if isinstance(name, str) else getattr(name, "name", None) or str(name)  # numpy's dtype has a name, torch's a str
    text = text.rpartition(".")[2]
    text = _OTHER_NAMES.get(text, text)
    if text not in _BITS:
        raise error(ValueError, f"unknown element type {name!r}", hint="known: " + ", ".join(_BITS))
    return text


def is_float(name):
    return "float" in name


def is_integer(name):
    return "int" in name


ALL = {name: dtype(name) for name in _BITS}
OTHERS = {name: dtype(name) for name in ("float", "double", "half", "int", "uint", "short", "long", "float8_e4m3")}
