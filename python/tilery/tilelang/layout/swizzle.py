"""Layouts of tiles in which the rows of a column lie in different banks of shared memory: units of 16 bytes are exchanged within
groups of 8, 4 or 2, by an exclusive or with the row."""

from __future__ import annotations

import enum
from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.dtypes import dtype
from .layout import Layout


class SwizzleMode(enum.IntEnum):
    """Bytes of the groups in which units are exchanged."""

    NONE = 0
    SWIZZLE_NONE = 0
    SWIZZLE_32B = 1
    SWIZZLE_64B = 2
    SWIZZLE_128B = 3

    def swizzle_byte_size(self) -> int:
        return 16 << self.value if self.value else 0


_NAMES = {8: "full", 4: "half", 2: "quarter"}


def make_linear_layout(buffer: Any) -> Layout:
    """Row by row, as the tile is."""
    return Layout(buffer.shape, lambda *indices: list(indices))


def exchanged_column(row: Any, column: Any, element: Any, group: int) -> Any:
    """The column where an element lies when units are exchanged in groups of so many."""
    unit = 128 // dtype(element).bits
    phase = row // (8 // group) % group
    return ((column // unit) ^ phase) * unit + column % unit


def _exchanged(buffer: Any, group: int) -> Layout:
    def place(*indices: Any) -> list[Any]:
        *outer, row, column = indices
        return [*outer, row, exchanged_column(row, column, buffer.dtype, group)]

    return Layout(buffer.shape, place)


def _units(buffer: Any, extent: int | None = None) -> int:
    """16-byte units of a row; 0 if it is no whole number of them."""
    shape = buffer.shape
    if len(shape) < 2 or not all(isinstance(size, int) for size in shape[-2:]):
        raise error(ValueError, f"a swizzled layout is for tiles of two known dimensions or more, got the shape {tuple(shape)}")
    size = (shape[-1] if extent is None else extent) * dtype(buffer.dtype).bits
    return 0 if size % 128 else size // 128


def _chosen(buffer: Any, units: int) -> Layout:
    for group in _NAMES:
        if units and units % group == 0:
            return _exchanged(buffer, group)
    return make_linear_layout(buffer)


def make_swizzled_layout(buffer: Any, k_major: bool = True, allow_pad: bool = True) -> Layout:
    """Groups as large as the rows allow, linear where they allow none; tiles are never padded."""
    ignore("tilelang.layout.make_swizzled_layout", k_major=k_major, allow_pad=allow_pad)
    return _chosen(buffer, _units(buffer))


def make_wgmma_swizzled_layout(buffer: Any, continuity: int | None = None, k_major: bool = True) -> Layout:
    """The same for Hopper's matrix instructions; continuity: elements of a row that lie side by side."""
    ignore("tilelang.layout.make_wgmma_swizzled_layout", k_major=k_major)
    return _chosen(buffer, _units(buffer, continuity))


def _bank(buffer: Any, group: int) -> Layout:
    units = _units(buffer)
    if not units or units % group:
        raise error(
            ValueError,
            f"rows of {buffer.shape[-1]} elements of {dtype(buffer.dtype)} have no {_NAMES[group]}-bank swizzle",
            hint=f"their bytes must be a multiple of {16 * group}",
        )
    return _exchanged(buffer, group)


def make_full_bank_swizzled_layout(buffer: Any) -> Layout:
    """Groups of 128 bytes."""
    return _bank(buffer, 8)


def make_half_bank_swizzled_layout(buffer: Any) -> Layout:
    """Groups of 64 bytes."""
    return _bank(buffer, 4)


def make_quarter_bank_swizzled_layout(buffer: Any) -> Layout:
    """Groups of 32 bytes."""
    return _bank(buffer, 2)
