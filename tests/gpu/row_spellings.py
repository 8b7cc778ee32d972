"""Loops over rows and pieces of rows in the spellings of their users. Each function launches one kernel over x (rows, n)."""

import tileon
import tileon.language as tl


@tileon.jit
def moving_pointer(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    columns = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + columns, mask=columns < n - start, other=0.0)
        x_ptr += BLOCK
    tl.store(out_ptr + row, tl.sum(total, axis=0))


@tileon.jit
def counted_pieces(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    for piece in tl.range(0, tl.cdiv(n, BLOCK), num_stages=3):
        columns = piece * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=-float("inf"))
        largest = tl.maximum(largest, tl.max(x, axis=0))
    tl.store(out_ptr + row, largest)


@tileon.jit
def place_of_largest(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    largest = -float("inf")
    place = 0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=-float("inf"))
        here, at = tl.max(x, axis=0, return_indices=True)
        place = tl.where(here > largest, start + at, place)
        largest = tl.maximum(largest, here)
    tl.store(out_ptr + row, place)


@tileon.jit
def welford(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = 0.0
    deviation = 0.0
    count = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
        here = tl.minimum(n - start, BLOCK).to(tl.float32)
        own = tl.sum(x, axis=0) / here
        centred = tl.where(mask, x - own, 0.0)
        step = own - mean
        deviation += tl.sum(centred * centred, axis=0) + step * step * count * here / (count + here)
        count += here
        mean += step * here / count
    tl.store(out_ptr + row, deviation / n)


@tileon.jit
def two_inputs(x_ptr, y_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
        y = tl.load(y_ptr + columns, mask=mask, other=1.0)
        total += tl.sum(x * y, axis=0)
    tl.store(out_ptr + row, total)


@tileon.jit
def backwards(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = 0.0
    for piece in range(0, tl.cdiv(n, BLOCK)):
        columns = (tl.cdiv(n, BLOCK) - 1 - piece) * BLOCK + tl.arange(0, BLOCK)
        total = 0.5 * total + tl.sum(tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0), axis=0)
    tl.store(out_ptr + row, total)


@tileon.jit
def by_block_pointer(x_ptr, out_ptr, rows, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    block = tl.make_block_ptr(x_ptr, (rows, n), (stride, 1), (row, 0), (1, BLOCK), (1, 0))
    total = 0.0
    for start in range(0, n, BLOCK):
        total += tl.sum(tl.load(block, boundary_check=(1,), padding_option="zero"))
        block = tl.advance(block, (0, BLOCK))
    tl.store(out_ptr + row, total)


@tileon.jit
def dealt_rows(x_ptr, y_ptr, out_ptr, rows, stride, n, BLOCK: tl.constexpr):
    columns = tl.arange(0, BLOCK)
    mask = columns < n
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
        y = tl.load(y_ptr + row)
        tl.store(out_ptr + row * stride + columns, x * y - tl.sum(x, axis=0) / n, mask=mask)


@tileon.jit
def nested(x_ptr, out_ptr, rows, stride, n, BLOCK: tl.constexpr):
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        total = 0.0
        for start in range(0, n, BLOCK):
            columns = start + tl.arange(0, BLOCK)
            total += tl.sum(tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0), axis=0)
        tl.store(out_ptr + row, total)


@tileon.jit
def in_place(x_ptr, stride, n, seed, BLOCK: tl.constexpr):
    """Scaled by the sum of squares, with some elements dropped."""
    row = tl.program_id(0)
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
        squares += x * x
    scale = tl.rsqrt(tl.sum(squares, axis=0))
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
        kept = tl.rand(seed, columns) > 0.25
        tl.store(x_ptr + row * stride + columns, tl.where(kept, x * scale, 0.0), mask=columns < n)


@tileon.jit
def twice_by_pointers(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    here = x_ptr + tl.program_id(0) * stride + lanes
    total = 0.0
    for i in range(0, tl.cdiv(n, BLOCK)):
        total += tl.sum(tl.load(here, mask=lanes < n - i * BLOCK, other=0.0), axis=0)
        here += BLOCK
    here = x_ptr + tl.program_id(0) * stride + lanes
    there = out_ptr + tl.program_id(0) * stride + lanes
    for i in range(0, tl.cdiv(n, BLOCK)):
        mask = lanes < n - i * BLOCK
        tl.store(there, tl.load(here, mask=mask, other=0.0) - total, mask=mask)
        here += BLOCK
        there += BLOCK


@tileon.jit
def twice_by_block_pointers(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * stride
    here = tl.make_block_ptr(x_ptr + start, (n,), (1,), (0,), (BLOCK,), (0,))
    total = 0.0
    for _ in range(0, n, BLOCK):
        total += tl.sum(tl.load(here, boundary_check=(0,), padding_option="zero"), axis=0)
        here = tl.advance(here, (BLOCK,))
    here = tl.make_block_ptr(x_ptr + start, (n,), (1,), (0,), (BLOCK,), (0,))
    there = tl.make_block_ptr(out_ptr + start, (n,), (1,), (0,), (BLOCK,), (0,))
    for _ in range(0, n, BLOCK):
        tl.store(there, tl.load(here, boundary_check=(0,), padding_option="zero") - total, boundary_check=(0,))
        here, there = tl.advance(here, (BLOCK,)), tl.advance(there, (BLOCK,))


@tileon.jit
def two_rows_twice(x_ptr, y_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    """y has the same strides."""
    row = tl.program_id(0)
    product = 0.0
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
        product += tl.sum(x * tl.load(y_ptr + row * stride + columns, mask=columns < n, other=0.0), axis=0)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        y = tl.load(y_ptr + row * stride + columns, mask=columns < n, other=0.0)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
        tl.store(out_ptr + row * stride + columns, y - product * x, mask=columns < n)


@tileon.jit
def twice_backwards(x_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    """The last piece comes first again, and what is not there counts."""
    here = x_ptr + tl.program_id(0) * stride
    total = 0.0
    pieces = tl.cdiv(n, BLOCK)
    for i in range(0, pieces):
        columns = i * BLOCK + tl.arange(0, BLOCK)
        total += tl.sum(tl.load(here + columns, mask=columns < n, other=2.0), axis=0)
    later = 0.0
    for i in range(0, pieces):
        columns = (pieces - 1 - i) * BLOCK + tl.arange(0, BLOCK)
        x = tl.load(here + columns, mask=columns < n, other=2.0)
        later = later * 0.5 + tl.sum(x, axis=0)
        tl.store(out_ptr + tl.program_id(0) * stride + columns, x - total + later, mask=columns < n)


@tileon.jit
def whole_rows_backwards(x_ptr, stride, N: tl.constexpr, BLOCK: tl.constexpr):
    """In place."""
    here = x_ptr + tl.program_id(0) * stride
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for i in range(0, tl.cdiv(N, BLOCK)):
        columns = i * BLOCK + tl.arange(0, BLOCK)
        total += tl.load(here + columns, mask=columns < N, other=0.0)
    mean = tl.sum(total, axis=0) / N
    for i in range(0, tl.cdiv(N, BLOCK)):
        columns = (tl.cdiv(N, BLOCK) - 1) * BLOCK - i * BLOCK + tl.arange(0, BLOCK)
        tl.store(here + columns, tl.load(here + columns, mask=columns < N) - mean, mask=columns < N)


@tileon.jit
def three_passes(x_ptr, weights_ptr, out_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
    mean = tl.sum(total, axis=0) / n
    squares = tl.zeros((BLOCK,), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0)
        centred = tl.where(columns < n, x - mean, 0.0)
        squares += centred * centred
    scale = tl.rsqrt(tl.sum(squares, axis=0) / n)
    for start in range(0, n, BLOCK):
        columns = start + tl.arange(0, BLOCK)
        mask = columns < n
        x = tl.load(x_ptr + row * stride + columns, mask=mask, other=0.0)
        tl.store(out_ptr + row * stride + columns, (x - mean) * scale * tl.load(weights_ptr + columns, mask=mask), mask=mask)


@tileon.jit
def sum_and_largest(x_ptr, sums_ptr, largest_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=0.0).to(tl.float32)
    tl.store(sums_ptr + row, tl.sum(x, axis=0))
    tl.store(largest_ptr + row, tl.max(tl.where(columns < n, x, float("-inf")), axis=0))


@tileon.jit
def place_in_row(x_ptr, places_ptr, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * stride + columns, mask=columns < n, other=float("-inf")).to(tl.float32)
    tl.store(places_ptr + row, tl.argmax(x, axis=0))
