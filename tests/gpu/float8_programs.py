"""Conversions between 8-bit floats and f32, with what programs have around them."""

import triton
import triton.language as tl


@triton.jit
def narrow(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MOST: tl.constexpr, HOW: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    if HOW == "computed":
        x = x * 1.5
    if HOW == "limited":
        x = tl.minimum(tl.maximum(x, -MOST), MOST)
    if HOW == "limited within":
        x = tl.maximum(tl.minimum(x, MOST / 2), -MOST / 2)
    if HOW == "limited beyond":
        x = tl.minimum(tl.maximum(x, -MOST * 1.1), MOST * 1.1)
    if HOW == "chosen":
        x = tl.where(x > MOST, MOST, x)
        x = tl.where(x < -MOST, -MOST, x)
    if HOW == "chosen otherwise":  # what is too small is another number than the least
        x = tl.where(x < -MOST, MOST, x)
    if HOW == "chosen by others":
        x = tl.where(x + 1000 < -MOST, -MOST, x)
    tl.store(out_ptr + i, x.to(out_ptr.dtype.element_ty), mask=i < n)


@triton.jit
def widen(x_ptr, out_ptr, y_ptr, rows, BLOCK: tl.constexpr, HOW: tl.constexpr):
    """Rows of 256 bytes, of which some are left out as a whole."""
    row, column = tl.arange(0, BLOCK)[:, None], tl.arange(0, 256)[None, :]
    there = row < rows
    x = tl.load(x_ptr + row * 256 + column)
    x = tl.where(there, x.to(tl.int8, bitcast=True), 56).to(x_ptr.dtype.element_ty, bitcast=True)
    wide = x.to(tl.float32)
    if HOW == "as it is":
        tl.store(out_ptr + row * 256 + column, wide.to(tl.int32, bitcast=True))
    elif HOW == "magnitude":
        tl.store(out_ptr + row * 256 + column, tl.abs(wide).to(tl.int32, bitcast=True))
    elif HOW == "both":
        tl.store(out_ptr + row * 256 + column, wide.to(tl.int32, bitcast=True))
        tl.store(y_ptr + row * 256 + column, wide * 2.0)
    else:
        tl.store(y_ptr + row * 256 + column, tl.where(row % 2 == 0, wide * 2.0, wide + wide))
