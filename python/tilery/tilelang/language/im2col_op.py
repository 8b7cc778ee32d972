"""Patches of images as rows of a matrix: what makes a convolution a product."""

from __future__ import annotations

from typing import Any

from ...core.ignored import ignore
from ...errors import error
from ..tracing.memory import Element, Memory, tile_op
from .loop import Parallel


def im2col(
    img: Memory,
    col: Memory,
    nhw_step: Any,
    c_step: Any,
    kernel: int,
    stride: int,
    dilation: int,
    pad: int,
    eviction_policy: str | None = None,
) -> None:
    """Tile (nhw_step, c_step) of the matrix whose rows are the places of a square kernel on images (N, H, W, C), place by place
    through an image, and whose columns are what the kernel covers there, (kernel, kernel, C). Outside an image: 0."""
    trace = tile_op("T.im2col")
    ignore("T.im2col", eviction_policy=eviction_policy)
    if not isinstance(img, Memory) or img.ndim != 4 or not isinstance(col, Memory) or col.ndim != 2 or col.is_global:
        raise error(ValueError, "T.im2col takes images (N, H, W, C) and a buffer of two dimensions")
    if min(kernel, stride, dilation) < 1 or pad < 0:
        raise error(ValueError, f"T.im2col: kernel {kernel}, stride {stride}, dilation {dilation} and pad {pad} make no patches")
    _, height, width, channels = img.shape
    rows, columns = ((size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1 for size in (height, width))

    def patch(indices: Any) -> None:
        i, j = indices
        place, covered = nhw_step * col.shape[0] + i, c_step * col.shape[1] + j
        y = place % (rows * columns) // columns * stride + covered // (kernel * channels) * dilation - pad
        x = place % columns * stride + covered // channels % kernel * dilation - pad
        col[i, j] = Element(img, [place // (rows * columns), y, x, covered % channels])

    Parallel(*col.shape).run(trace, patch, trace.line())

