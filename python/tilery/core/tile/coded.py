"""Tiles of 8-bit floats that no arithmetic is made for: e4b8, e5b16 (no infinities, one NaN in the place of -0) and e4b15
(numbers only). They are bytes with a meaning: conversions decode and encode, anything else computes with their values in float16,
which has all of them."""

from __future__ import annotations

from typing import Any

from ...errors import error
from . import types
from .value import native, tensor, to_tensor, wrap

TYPES = {t.name: t for t in (types.float8e4b8, types.float8e4b15, types.float8e5b16)}


class coded(tensor):
    """A tile of codes (uint8) of the type `coding`."""

    __slots__ = ("codes", "coding")

    def __init__(self, codes: tensor, coding: types.dtype) -> None:
        super().__init__(decoded(codes, coding).handle)
        self.codes, self.coding = codes, coding

    @property
    def dtype(self) -> Any:
        return self.coding


class coded_pointer:
    """An address, or a tile of them, of codes: `base` points to bytes. Loads give tiles of `coding`, stores encode."""

    __tile_fields__ = ("base", "coding")

    def __init__(self, base: tensor, coding: types.dtype) -> None:
        self.base, self.coding = base, coding

    @property
    def dtype(self) -> types.pointer_type:
        return types.pointer_type(self.coding)

    @property
    def type(self) -> types.dtype:
        return types.block_type(self.dtype, self.shape) if self.shape else self.dtype

    @property
    def shape(self) -> list[int]:
        return self.base.shape

    def _moved(self, base: tensor) -> coded_pointer:
        return coded_pointer(base, self.coding)

    def __add__(self, offset: Any) -> coded_pointer:
        return self._moved(self.base + offset)

    __radd__ = __add__

    def __sub__(self, offset: Any) -> coded_pointer:
        return self._moved(self.base - offset)

    def __getitem__(self, index: Any) -> coded_pointer:
        return self._moved(self.base[index])

    def to(self, dtype: types.dtype, fp_downcast_rounding: str | None = None, bitcast: bool = False) -> Any:
        """The same address as one of other elements, or as an integer."""
        return getattr(self.base, "to")(dtype, fp_downcast_rounding, bitcast)

    def encode(self, value: Any) -> tensor:
        """The codes of what is stored."""
        value = to_tensor(value)
        same = isinstance(value, coded) and value.coding == self.coding
        return (value if same else encoded(value, self.coding, False)).codes


for _method in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):  # refused as of any address
    setattr(coded_pointer, _method, lambda self, other, name=_method: getattr(self.base, name)(other))


# What the builder's functions call them.
_NAMES = {"fp8e4b8": "float8_e4m3fnuz", "fp8e5b16": "float8_e5m2fnuz", "fp8e4b15": "float8_e4b15"}


def decoded(codes: tensor, kind: types.dtype) -> tensor:
    """The values as float16."""
    return wrap(native().cast(native().function(f"decode_{_NAMES[kind.name]}", codes), types.float16))


def encoded(value: tensor, kind: types.dtype, toward_zero: bool) -> coded:
    """The nearest codes; what is greater than all numbers becomes the greatest one."""
    step = "encode_rz" if toward_zero else "encode"
    return coded(wrap(native().function(f"{step}_{_NAMES[kind.name]}", value)), kind)


def convert(value: tensor, kind: types.dtype, toward_zero: bool, bitcast: bool) -> tensor:
    """A cast from or to such a type."""
    if isinstance(value, coded) and bitcast:
        return coded(value.codes, kind) if kind.name in TYPES else wrap(native().bitcast(value.codes, kind))
    if kind.name not in TYPES:
        return wrap(native().cast(wrap(value.handle), kind, toward_zero))
    if not bitcast:
        return encoded(wrap(value.handle), kind, toward_zero)
    if value.dtype.primitive_bitwidth != 8:
        raise error(ValueError, f"cannot bitcast {value.dtype} to {kind}: the widths differ")
    return coded(wrap(native().bitcast(value, types.uint8)), kind)
