"""Tiles of 8-bit floats that no arithmetic is made for: e4b8, e5b16 (no infinities, one NaN in the place of -0) and e4b15
(numbers only). They are bytes with a meaning: conversions decode and encode, anything else computes with their values in float16,
which has all of them."""

from __future__ import annotations

from typing import Any

from ...errors import error
from . import types
from .value import native, tensor, to_tensor, tracer, wrap

TYPES = {t.name: t for t in (types.float8e4b8, types.float8e4b15, types.float8e5b16)}


class coded(tensor):
    """A tile of codes (uint8) of the type `coding`."""

    __slots__ = ("codes", "coding")

    def __init__(self, codes: tensor, coding: types.dtype) -> None:
        with tracer().wrapping():
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


def _cast(value: Any, kind: types.dtype) -> tensor:
    return wrap(native().cast(value, kind, False))


def _bits(value: tensor, kind: types.dtype) -> tensor:
    return wrap(native().bitcast(value, kind))


def _where(condition: tensor, x: Any, y: Any) -> tensor:
    return wrap(native().select(condition, x, y))


def _layout(kind: types.dtype) -> tuple[int, int, bool]:
    """(bits of the mantissa, bias, whether 0x80 is NaN)"""
    return kind.fp_mantissa_width, kind.exponent_bias, kind.name != "fp8e4b15"


def decoded(codes: tensor, kind: types.dtype) -> tensor:
    """The values as float16."""
    mantissa, bias, has_nan = _layout(kind)
    codes = _cast(codes, types.uint32)
    size, sign = codes & 0x7F, (codes & 0x80) << 24
    normal = (size << (23 - mantissa)) + ((127 - bias) << 23)
    small = _bits(_cast(size, types.float32) * 2.0 ** (1 - bias - mantissa), types.uint32)
    bits = _where(size < (1 << mantissa), small, normal) | sign
    value = _bits(bits, types.float32)
    value = _where(codes == 0x80, float("nan"), value) if has_nan else value
    return _cast(value, types.float16)


def encoded(value: tensor, kind: types.dtype, toward_zero: bool) -> coded:
    """The nearest codes; what is greater than all numbers becomes the greatest one."""
    mantissa, bias, has_nan = _layout(kind)
    largest = 0x7F
    with tracer().wrapping():
        value = _cast(value, types.float32)
        bits = _bits(value, types.uint32)
        size = bits & 0x7FFFFFFF
        shift = 23 - mantissa
        rest = 0 if toward_zero else ((size >> shift) & 1) + ((1 << (shift - 1)) - 1)
        normal = ((size + rest) >> shift) - ((127 - bias) << mantissa)
        scaled = _bits(size, types.float32) * 2.0 ** (bias - 1 + mantissa)
        scaled = wrap(native().math("trunc" if toward_zero else "round_even", scaled))
        least = (128 - bias) << 23  # the bits of the smallest number that is no denormal
        codes = _where(size < least, _cast(scaled, types.uint32), normal)
        codes = _where(
            size >= ((127 - bias + (largest >> mantissa)) << 23 | (largest & ((1 << mantissa) - 1)) << shift), largest, codes
        )
        sign = (bits >> 24) & 0x80
        codes = _where(codes == 0, 0, codes | sign) if has_nan else codes | sign
        codes = _where(size > 0x7F800000, 0x80 if has_nan else largest, codes)
        return coded(_cast(codes, types.uint8), kind)


def convert(value: tensor, kind: types.dtype, toward_zero: bool, bitcast: bool) -> tensor:
    """A cast from or to such a type."""
    if isinstance(value, coded) and bitcast:
        return coded(value.codes, kind) if kind.name in TYPES else _bits(value.codes, kind)
    if kind.name not in TYPES:
        with tracer().wrapping():
            return wrap(native().cast(wrap(value.handle), kind, toward_zero))
    if not bitcast:
        return encoded(wrap(value.handle), kind, toward_zero)
    if value.dtype.primitive_bitwidth != 8:
        raise error(ValueError, f"cannot bitcast {value.dtype} to {kind}: the widths differ")
    return coded(_bits(value, types.uint8), kind)
