"""Places of a tile's elements in which rows of a column lie in different banks of shared memory."""

from __future__ import annotations

from typing import Any

from ....layout import Layout, make_linear_layout
from ....layout.swizzle import exchanged_column
from ....tracing.dtypes import dtype as element_type


def get_swizzle_layout(
    row_idx: Any, col_idx: Any, row_size: int, dtype: Any, swizzle_bytes: int | None = None
) -> tuple[Any, Any]:
    """The place (row, column) of an element: 16-byte units of rows of 128 (else 64, else 32) bytes are exchanged by an
    exclusive or with the row."""
    bits = element_type(dtype).bits
    if swizzle_bytes is None:
        swizzle_bytes = next((size for size in (128, 64, 32) if row_size * bits % (8 * size) == 0), 0)
    if not swizzle_bytes or row_size * bits < 8 * swizzle_bytes:
        return row_idx, col_idx
    return row_idx, exchanged_column(row_idx, col_idx, dtype, swizzle_bytes // 16)


def make_mma_swizzle_layout(shared_buf: Any, is_smooth: bool = False) -> Layout:
    """The layout of a tile by get_swizzle_layout; a smooth one leaves elements where they are."""
    if is_smooth:
        return make_linear_layout(shared_buf)
    shape = shared_buf.shape
    return Layout(
        shape, lambda *indices: [*indices[:-2], *get_swizzle_layout(indices[-2], indices[-1], shape[-1], shared_buf.dtype)]
    )
