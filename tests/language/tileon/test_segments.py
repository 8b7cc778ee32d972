"""Rows of flattened indices that are summed, reflected, clamped, or walked by a loop over windows: segments between the places
where a quotient, a comparison or a side changes. Memory that nobody wrote holds NaN; sums have the bits of contiguous rows."""

import re

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def larger(a, i, b, j):
    swaps = (b > a) | ((b == a) & (j < i))
    return tl.where(swaps, b, a), tl.where(swaps, j, i)


@tileon.jit
def reductions(x, total, most, place, n, width, stride, skip, apart, BLOCK: tl.constexpr):
    """Of n numbers in rows of `width`, from `skip` on."""
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * apart + (i + skip) // width * stride + (i + skip) % width
    v = tl.load(x + at, mask=i < n, other=0.0)
    tl.store(total + tl.program_id(0), tl.sum(v, axis=0))
    w = tl.load(x + at, mask=i < n, other=-1000.0)
    tl.store(most + tl.program_id(0), tl.max(w, axis=0))
    _, where = tl.reduce((w, i), 0, larger)
    tl.store(place + tl.program_id(0), where)


@pytest.mark.parametrize("width", [1, 8, 9, 31, 49, 64, 65, 127, 1000, 5000])
def test_reductions_have_the_bits_of_contiguous_rows(width, device):
    rng = np.random.default_rng(width)
    for block in (96, 1000):
        for dtype in (torch.float32, torch.float16):
            n, skip = int(rng.integers(0, block + 1)), int(rng.integers(0, width))
            stride = width + int(rng.integers(0, 4))
            rows = (n + skip) // width + 1
            apart = rows * stride
            x = torch.full((3 * apart,), torch.nan, dtype=dtype, device="cpu")
            i = np.arange(n) + skip
            at = torch.from_numpy(i // width * stride + i % width)
            values = torch.from_numpy(rng.standard_normal((3, n))).to(dtype)
            for program in range(3):
                x[program * apart + at] = values[program]
            results = []
            for source, wide, step in ((x, width, stride), (values.contiguous().flatten(), 1 << 20, 1 << 20)):
                out = [torch.full((3,), 77, device="cpu").to(t).to(device) for t in (dtype, dtype, torch.int32)]
                start, between = (skip, apart) if source is x else (0, n)
                source = source if source.numel() else torch.zeros(1, dtype=dtype, device="cpu")
                reductions[(3,)](source.to(device), *out, n, wide, step, start, between, block)
                results.append([o.cpu() for o in out])
            for ours, flat in zip(*results, strict=True):
                assert torch.equal(ours, flat), (block, dtype, n, skip)
            wanted = values.double().sum(1)
            bound = n * torch.finfo(dtype).eps * values.double().abs().sum(1) + 1e-30
            assert bool(((results[0][0].double() - wanted).abs() <= bound).all())
            if n:
                assert torch.equal(results[0][1], values.max(1).values)
                assert torch.equal(results[0][2].long(), values.max(1).indices)


@tileon.jit
def sums_in_a_loop(x, out, n, width, stride, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + i // width * stride + i % width, mask=i < n, other=0.0)
    tl.store(out + tl.arange(0, BLOCK), total)


@pytest.mark.parametrize("width", [3, 8, 17, 64, 250, 3000])
def test_sums_of_tiles(width, device):
    for n in (0, 1, 255, 256, 257, 3000):
        for block in (16, 256):
            stride = width + 2
            x = torch.randint(-50, 50, ((n // width + 1) * stride,), device="cpu").float()
            i = torch.arange(n, device="cpu")
            flat = torch.zeros(-(-max(n, 1) // block) * block, device="cpu")
            flat[:n] = x[i // width * stride + i % width]
            out = torch.full((block,), torch.nan, device=device)
            sums_in_a_loop[(1,)](x.to(device), out, n, width, stride, block)
            assert torch.equal(out.cpu(), flat.reshape(-1, block).sum(0)), (n, block)


@tileon.jit
def pads(x, y, n, H, W, top, left, high, wide, FORM: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c, r, plane = at % wide - left, at // wide % high - top, at // (wide * high)
    if FORM == "abs, where":
        c, r = tl.abs(c), tl.abs(r)
        c = tl.where(c >= W, 2 * (W - 1) - c, c)
        r = tl.where(r >= H, 2 * (H - 1) - r, r)
    elif FORM == "two wheres":
        c = tl.where(c < 0, -c, tl.where(c < W, c, 2 * W - 2 - c))
        r = tl.where(r < 0, -r, tl.where(r < H, r, 2 * H - 2 - r))
    elif FORM == "nested abs":
        c = W - 1 - tl.abs(W - 1 - tl.abs(c))
        r = H - 1 - tl.abs(H - 1 - tl.abs(r))
    elif FORM == "clamp":
        c = tl.minimum(tl.maximum(c, 0), W - 1)
        r = tl.minimum(tl.maximum(r, 0), H - 1)
    elif FORM == "clamp from above":
        c = tl.maximum(tl.minimum(c, W - 1), 0)
        r = tl.where(r < 0, 0, tl.where(r > H - 1, H - 1, r))
    else:
        c = (c + W) % W
        r = (r + H) % H
    tl.store(y + at, tl.load(x + (plane * H + r) * W + c, mask=at < n), mask=at < n)


FORMS = {
    "abs, where": "reflect",
    "two wheres": "reflect",
    "nested abs": "reflect",
    "clamp": "replicate",
    "clamp from above": "replicate",
    "remainders": "circular",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [2, 9, 16, 40, 130])
def test_padding_at_edges(form, width, device):
    rng = np.random.default_rng(width)
    for dtype in (torch.float32, torch.int8):
        for block in (256,):
            height = int(rng.integers(2, 12))
            left, right = (int(v) for v in rng.integers(0, width, 2))
            top, bottom = (int(v) for v in rng.integers(0, height, 2))
            x = torch.from_numpy(rng.integers(-100, 100, (3, height, width))).to(dtype)
            wanted = F.pad(x.double(), (left, right, top, bottom), mode=FORMS[form]).to(dtype)
            y = torch.full_like(wanted, 77, device=device)
            pads[(tileon.cdiv(y.numel(), block),)](
                x.to(device), y, y.numel(), height, width, top, left, y.shape[1], y.shape[2], form, block
            )
            assert torch.equal(y.cpu(), wanted), (dtype, block, height)


@tileon.jit
def windows(x, w, o, n, C, H, W, KH, KW, UNROLLED: tl.constexpr, K: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row, channel = at % W, at // W % H, at // (W * H) % C
    plane = at // (W * H) * (W * H)
    total = tl.zeros((BLOCK,), tl.float32)
    if UNROLLED:
        for i in tl.static_range(K):
            for j in tl.static_range(K):
                r, c = row + i - K // 2, column + j - K // 2
                inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
                total += tl.load(w + channel * K * K + i * K + j) * tl.load(x + plane + r * W + c, mask=inside, other=0.0)
    else:
        for i in range(KH):
            for j in range(KW):
                r, c = row + i - KH // 2, column + j - KW // 2
                inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
                total += tl.load(w + channel * KH * KW + i * KW + j) * tl.load(x + plane + r * W + c, mask=inside, other=0.0)
    tl.store(o + at, total, mask=at < n)


@pytest.mark.parametrize("unrolled", [False, True])
@pytest.mark.parametrize("width", [1, 5, 8, 15, 30, 70])
def test_windows(width, unrolled, device):
    rng = np.random.default_rng(width)
    for kernel in (3,) if unrolled else (1, 3):
        for block in (1024,) if unrolled else (64, 1024):
            for dtype in (torch.float32,) if unrolled else (torch.float32, torch.float16):
                N, C, height = (int(v) for v in rng.integers(1, 5, 3))
                x = torch.from_numpy(rng.integers(-9, 9, (N, C, height, width))).to(dtype)
                w = torch.from_numpy(rng.integers(-9, 9, (C, 1, kernel, kernel))).to(dtype)
                wanted = F.conv2d(x.double(), w.double(), padding=kernel // 2, groups=C)
                o = torch.full(x.shape, torch.nan, device=device)
                windows[(tileon.cdiv(o.numel(), block),)](
                    x.to(device), w.to(device), o, o.numel(), C, height, width, kernel, kernel, unrolled, kernel, block
                )
                assert torch.equal(o.cpu().double(), wanted), (kernel, block, dtype)


@tileon.jit
def spread(x, y, n, W, apart, first, low, high, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    """Of each row of W its columns from `low` to `high`: every element FACTOR times, with its number among them."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = at // W, at % W
    moved = column + first
    value = tl.load(x + row // FACTOR * apart + moved // FACTOR, mask=at < n, other=0)
    tl.store(y + at, value + moved % FACTOR, mask=(at < n) & (column >= low) & (column < high))


@pytest.mark.parametrize("factor", [1, 2, 3, 7, 8, 9])
@pytest.mark.parametrize("width", [1, 7, 16, 33, 130])
def test_columns_that_are_repeated(factor, width, device):
    """Divisors of less than a vector among others; what no row has is not written."""
    rng = np.random.default_rng(width * 10 + factor)
    for dtype in (torch.int8, torch.float16, torch.float32, torch.int64):
        rows, first = int(rng.integers(1, 12)), int(rng.integers(0, factor))
        low, high = sorted(int(v) for v in rng.integers(-1, width + 2, 2))
        apart = (width + first) // factor + 2
        x = torch.from_numpy(rng.integers(-50, 50, (rows // factor + 1, apart))).to(dtype)
        row, moved = torch.arange(rows, device="cpu"), torch.arange(width, device="cpu") + first
        wanted = torch.full((rows, width), 77, dtype=dtype, device="cpu")
        values = x[row[:, None] // factor, (moved // factor)[None]] + (moved % factor).to(dtype)
        wanted[:, max(low, 0) : max(high, 0)] = values[:, max(low, 0) : max(high, 0)]
        for block in (64, 256):
            y = torch.full((rows * width + 64,), 77, dtype=dtype, device=device)
            spread[(tileon.cdiv(rows * width, block),)](
                x.to(device), y, rows * width, width, apart, first, low, high, factor, block
            )
            assert torch.equal(y[: rows * width].cpu(), wanted.flatten()), (dtype, block, low, high)
            assert (y[rows * width :] == 77).all(), (dtype, block)


@tileon.jit
def stores_products(a, b, o, width, apart, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    product = tl.dot(tl.load(a + m[:, None] * K + k[None, :]), tl.load(b + k[:, None] * N + n[None, :]))
    tl.store(o + m[:, None] * 1000 + (n // width * apart + n % width)[None, :], product)


@pytest.mark.parametrize("width", [3, 8, 16, 20, 40])
def test_rows_of_products_lie_in_segments_or_in_runs(width, device):
    """What is known of lanes in runs holds where rows are too short for segments, and nowhere else."""
    a, b = (torch.randint(-5, 5, shape, device="cpu").float() for shape in ((16, 16), (16, 64)))
    o = torch.full((16, 1000), 7.0, device=device)
    stores_products[(1,)](a.to(device), b.to(device), o, width, width + 5, 16, 64, 16)
    n = torch.arange(64, device="cpu")
    wanted = torch.full((16, 1000), 7.0, device="cpu")
    wanted[:, n // width * (width + 5) + n % width] = a @ b
    assert torch.equal(o.cpu(), wanted)


@tileon.jit
def places_of_places(x, y, o, first, w1, w2, w3, w4, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK).to(tl.int64)
    place = i // w1 * w2 + i // w2 * w3 + i // w3 * w4 + i % w1
    of_place = place // w4 * w1 + place // w3 * w2 + place // w1 + place % w4
    tl.store(first + place, i)
    tl.store(o + i, tl.load(x + of_place))
    sums = tl.cumsum(tl.load(y + i), 0)  # where `place` was
    tl.store(o + BLOCK + i, tl.load(x + of_place + 1) + sums)


@pytest.mark.parametrize("widths", [(10, 9, 20, 100), (100, 64, 20, 100), (100, 64, 1000, 9), (1000, 9, 20, 10)])
def test_stored_places_are_computed_of_what_is_in_memory_no_more(widths, device):
    w1, w2, w3, w4 = widths
    i = torch.arange(256, device="cpu")
    place = i // w1 * w2 + i // w2 * w3 + i // w3 * w4 + i % w1
    of_place = place // w4 * w1 + place // w3 * w2 + place // w1 + place % w4
    x = torch.randint(-50, 50, (int(of_place.max()) + 2,), device="cpu").float()
    y = -3 * i.float()
    o = torch.zeros(512, device=device)
    first = torch.zeros(int(place.max()) + 1, dtype=torch.int64, device=device)
    places_of_places[(1,)](x.to(device), y.to(device), o, first, w1, w2, w3, w4, 256)
    assert torch.equal(o.cpu(), torch.cat([x[of_place], x[of_place + 1] + y.cumsum(0)]))


@tileon.jit
def rows_of_sums(x, o, n, start, W, FROM: tl.constexpr, BLOCK: tl.constexpr):
    """The sum may wrap: it is no place."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = (start + tl.arange(FROM, FROM + BLOCK)) // W
    value = tl.load(x + at // W * W + at % W, mask=at < n, other=0)
    tl.store(o + at, tl.where(row > 3, value, row), mask=at < n)


@pytest.mark.parametrize("first", [0, 5])
@pytest.mark.parametrize("start", [0, -3, 2**31 - 512, 2**31 - 517, 2**31 - 511, 2**31 - 300, 2**31 - 1, -(2**31)])
def test_sums_that_wrap_amid_a_row(device, start, first):
    W, n = 67, 500
    x = torch.randint(100, 10000, (n,), dtype=torch.int32, device="cpu")
    out = torch.full((n + 16,), -77, dtype=torch.int32, device=device)
    found = rows_of_sums[(1,)](x.to(device), out, n, start, W, first, 512)
    sums = (start + first + np.arange(n) + 2**31) % 2**32 - 2**31
    row = torch.from_numpy(np.trunc(sums / W).astype(np.int32))
    assert torch.equal(out[:n].cpu(), torch.where(row > 3, x, row)) and (out[n:] == -77).all()
    if device == "cpu":
        assert re.search(rf"icmp slt i32 %\S+, {2**31 - 511 - first}", found.asm["llvm"]), "whether it wraps is asked once"
