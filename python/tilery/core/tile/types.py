"""Element types, pointer and block types, compile-time constants."""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ...errors import error
from ...frontend.operators import ARITHMETIC, BINARY, COMPARISONS

if TYPE_CHECKING:
    from tilery import _native

# Triton's short name -> (our name or None if it has no arithmetic here, bits)
_TYPES: dict[str, tuple[str | None, int]] = {
    "void": (None, 0),
    "int1": ("bool", 1),
    "int8": ("int8", 8),
    "int16": ("int16", 16),
    "int32": ("int32", 32),
    "int64": ("int64", 64),
    "uint8": ("uint8", 8),
    "uint16": ("uint16", 16),
    "uint32": ("uint32", 32),
    "uint64": ("uint64", 64),
    "fp16": ("float16", 16),
    "bf16": ("bfloat16", 16),
    "fp32": ("float32", 32),
    "fp64": ("float64", 64),
    "fp8e4nv": ("float8_e4m3fn", 8),
    "fp8e5": ("float8_e5m2", 8),
    "fp8e4b8": (None, 8),
    "fp8e4b15": (None, 8),
    "fp8e5b16": (None, 8),
}
# Names of integers in signatures -> ours
INTEGERS = {f"{s}{bits}": f"{word}{bits}" for s, word in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}
CODED = frozenset(("fp8e4b8", "fp8e4b15", "fp8e5b16"))  # tiles of these are bytes with a meaning (coded.py)
_BY_NATIVE: dict[str | None, dtype] = {}
# Short name -> (bits of the mantissa that are stored, bias of the exponent)
_FLOATS: dict[str, tuple[int, int]] = {
    "fp8e4b15": (3, 15),
    "fp8e4nv": (3, 7),
    "fp8e4b8": (3, 8),
    "fp8e5": (2, 15),
    "fp8e5b16": (2, 16),
    "fp16": (10, 15),
    "bf16": (7, 127),
    "fp32": (23, 127),
    "fp64": (52, 1023),
}


class dtype:
    """An element type; one object per type."""

    __tile_structure__ = True
    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = list(_FLOATS)
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name: str) -> None:
        if name not in _TYPES:
            raise ValueError(f"unknown element type {name!r}")
        self.name = name
        self.__tile_dtype__, self.primitive_bitwidth = _TYPES[name]
        self.itemsize = (self.primitive_bitwidth + 7) // 8
        self.int_bitwidth = self.primitive_bitwidth
        if name in _FLOATS:
            self.fp_mantissa_width, self.exponent_bias = _FLOATS[name]
        elif name != "void":
            self.int_signedness = self.SIGNEDNESS.SIGNED if name in self.SINT_TYPES else self.SIGNEDNESS.UNSIGNED

    @property
    def scalar(self) -> dtype:
        return self

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        """Is this the short name of an element type?"""
        return type_str in _TYPES

    def kind(self) -> dtype.KIND:
        """Boolean, integral or floating."""
        return self.KIND.BOOLEAN if self.is_bool() else self.KIND.INTEGRAL if self.is_int() else self.KIND.FLOATING

    def get_int_max_value(self) -> int:
        return (1 << (self.int_bitwidth - self.is_int_signed())) - 1

    def get_int_min_value(self) -> int:
        return -(1 << (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    def is_void(self) -> bool:
        return self.name == "void"

    def is_const(self) -> bool:
        return False

    @property
    def cache_key_part(self) -> str:
        return self.name

    def codegen_name(self) -> str:
        """The name after `tl.`."""
        long = {"fp": "float", "bf": "bfloat"}
        return self.name if self.name not in _FLOATS else long[self.name[:2]] + self.name[2:]

    @property
    def __tile_digest__(self) -> str:
        return self.name

    def is_floating(self) -> bool:
        return self.name.startswith(("fp", "bf"))

    def is_standard_floating(self) -> bool:
        return self.name in ("fp16", "bf16", "fp32", "fp64")

    def is_fp8(self) -> bool:
        return self.name.startswith("fp8")

    def is_fp16(self) -> bool:
        return self.name == "fp16"

    def is_bf16(self) -> bool:
        return self.name == "bf16"

    def is_fp64(self) -> bool:
        return self.name == "fp64"

    def is_int(self) -> bool:
        return self.name.startswith(("int", "uint"))

    def is_bool(self) -> bool:
        return self.name == "int1"

    def is_int_signed(self) -> bool:
        return self.name.startswith("int") and self.name != "int1"

    def is_int_unsigned(self) -> bool:
        return self.name.startswith("uint") or self.name == "int1"

    def is_ptr(self) -> bool:
        return False

    def is_block(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        other = unwrap(other)
        return isinstance(other, dtype) and type(self) is type(other) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"

    def __str__(self) -> str:
        return self.name


class pointer_type(dtype):
    """The type of an address of elements of `element_ty`."""

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False) -> None:
        if address_space != 1:
            message = f"address_space is {address_space!r}: pointers of a program are to global memory"
            raise error(NotImplementedError, message, hint="leave address_space at 1")
        self.element_ty, self.const = element_ty, const
        self.name = f"pointer<{element_ty}>"
        self.primitive_bitwidth, self.itemsize = 64, 8

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    def __eq__(self, other: object) -> bool:
        return isinstance(other, pointer_type) and self.element_ty == other.element_ty

    __hash__ = dtype.__hash__


class block_type(dtype):
    """The type of a tile."""

    def __init__(self, element_ty: dtype, shape: Iterable[int]) -> None:
        self.element_ty, self.shape = element_ty, tuple(shape)
        self.name = f"<{list(self.shape)}, {element_ty}>"

    @property
    def __tile_dtype__(self) -> str | None:  # type: ignore[override]  # a cast to a tile's type is one to its elements'
        return self.element_ty.__tile_dtype__

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    @property
    def numel(self) -> int:
        total = 1
        for size in self.shape:
            total *= size
        return total

    def is_block(self) -> bool:
        return True

    def is_int(self) -> bool:
        return self.element_ty.is_int()

    def is_floating(self) -> bool:
        return self.element_ty.is_floating()

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def __eq__(self, other: object) -> bool:
        return isinstance(other, block_type) and self.element_ty == other.element_ty and self.shape == other.shape

    __hash__ = dtype.__hash__


for _name in (*dtype.SINT_TYPES, *dtype.UINT_TYPES, *_FLOATS):  # is_int32(), is_fp8e5(), ...
    if not hasattr(dtype, f"is_{_name}"):
        setattr(dtype, f"is_{_name}", lambda self, name=_name: self.name == name)

void, int1 = dtype("void"), dtype("int1")
int8, int16, int32, int64 = dtype("int8"), dtype("int16"), dtype("int32"), dtype("int64")
uint8, uint16, uint32, uint64 = dtype("uint8"), dtype("uint16"), dtype("uint32"), dtype("uint64")
float16, bfloat16, float32, float64 = dtype("fp16"), dtype("bf16"), dtype("fp32"), dtype("fp64")
float8e4nv, float8e5 = dtype("fp8e4nv"), dtype("fp8e5")
float8e4b8, float8e4b15, float8e5b16 = dtype("fp8e4b8"), dtype("fp8e4b15"), dtype("fp8e5b16")
pi32_t = pointer_type(int32)
_BY_NATIVE.update({t.__tile_dtype__: t for t in list(globals().values()) if type(t) is dtype and t.__tile_dtype__})


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of so many bits; of one bit int1."""
    bits, kind = unwrap(bitwidth), "int" if unwrap(signed) or unwrap(bitwidth) == 1 else "uint"
    if bits not in (1, 8, 16, 32, 64):
        raise ValueError(f"Unsupported bitwidth {bits} and signedness {signed}")
    return dtype(f"{kind}{bits}")


def of_native(type_: _native.Type) -> dtype:
    """The element type of a native type (a pointer type for addresses)."""
    element = _BY_NATIVE[type_.dtype]
    return pointer_type(element, const=type_.const) if type_.pointer else element


def _constant(value: Any) -> Any:
    """The result of an operator of a constexpr: another one, unless a run-time value took part."""
    return constexpr(value) if is_constant(value) else value


def is_constant(value: Any) -> bool:
    """Is this a compile-time value of the language?"""
    return value is None or isinstance(value, (bool, int, float, str, tuple, dtype))


def _binary(symbol: str, reverse: bool) -> Callable[[Any, Any], Any]:
    function = BINARY[symbol]
    if reverse:
        return lambda self, other: _constant(function(unwrap(other), self.value))
    return lambda self, other: _constant(function(self.value, unwrap(other)))


class constexpr:
    """A compile-time value; also the annotation that makes a parameter one. Its operators give compile-time values."""

    __tile_structure__ = True

    def __init__(self, value: Any) -> None:
        self.value = unwrap(value)

    @property
    def __tile_digest__(self) -> Any:
        return self.value

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __float__(self) -> float:
        return float(self.value)

    def __int__(self) -> int:
        return int(self.value)

    def __hash__(self) -> int:
        return hash(self.value)

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    @property
    def type(self) -> constexpr_type:
        return constexpr_type(self.value)

    def logical_and(self, other: Any) -> constexpr:
        return constexpr(self.value and unwrap(other))

    def logical_or(self, other: Any) -> constexpr:
        return constexpr(self.value or unwrap(other))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "value":
            raise AttributeError(name)
        return getattr(self.value, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[index]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"


for _symbol, _name in ARITHMETIC.items():
    setattr(constexpr, f"__r{_name}__", _binary(_symbol, True))
for _symbol, _name in (ARITHMETIC | COMPARISONS).items():
    setattr(constexpr, f"__{_name}__", _binary(_symbol, False))


class constexpr_type(dtype):
    """The type of a compile-time value."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.name = f"constexpr_type[{value}]"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, constexpr_type) and type(self.value) is type(other.value) and self.value == other.value

    __hash__ = dtype.__hash__


class tuple_type(dtype):
    """The type of a tuple."""

    def __init__(self, types: Any) -> None:
        self.types = tuple(getattr(t, "type", None) or constexpr_type(t) for t in types)
        self.name = f"[{', '.join(t.name for t in self.types)}]"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.types)

    def __getitem__(self, index: Any) -> Any:
        return self.types[index]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, constexpr_type) and isinstance(other.value, tuple):
            other = tuple_type(other.value)
        return isinstance(other, tuple_type) and self.types == other.types

    __hash__ = dtype.__hash__


class const:
    """Annotation of a pointer that is only read."""


def unwrap(value: Any) -> Any:
    """A constexpr's value; anything else as it is."""
    while isinstance(value, constexpr):
        value = value.value
    return value


def str_to_ty(name: str, c: Any = None) -> Any:
    """The type of tl that a signature's text names: "*fp32", "i32", "constexpr"."""
    if name.startswith("*"):
        return pointer_type(str_to_ty(name.lstrip("*k")), const=name.startswith("*k"))
    if name == "constexpr":
        return constexpr_type(c)
    return dtype({"i1": "int1", "u1": "int1", "B": "int1", **INTEGERS}.get(name, name))


__all__ = [
    "bfloat16",
    "block_type",
    "const",
    "constexpr",
    "constexpr_type",
    "dtype",
    "float16",
    "float32",
    "float64",
    "float8e4b15",
    "float8e4b8",
    "float8e4nv",
    "float8e5",
    "float8e5b16",
    "get_int_dtype",
    "int1",
    "int16",
    "int32",
    "int64",
    "int8",
    "pi32_t",
    "pointer_type",
    "str_to_ty",
    "tuple_type",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
    "void",
]


def is_constexpr(annotation: Any) -> bool:
    """Is this annotation tl.constexpr (also as text, under `from __future__ import annotations`)?"""
    if isinstance(annotation, str):
        return annotation.strip("\"' ").rpartition(".")[2] == "constexpr"
    return annotation is constexpr or isinstance(annotation, constexpr)
