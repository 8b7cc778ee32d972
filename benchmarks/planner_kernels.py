"""Kernels for planner.py: a tile of known cost used in a loop, twice, by broadcasting, or as an index; and whole programs."""

from pathlib import Path

import torch

import tilery.tileon.language as tl
from tilery import compat, tileon

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@tileon.jit
def value(x, at, a, b, KIND: tl.constexpr):
    """The tile in question."""
    t = tl.load(x + at)
    if KIND == "half 3":
        t = t.to(tl.float32)
    elif KIND == "scaled 3":
        t = t * a
    elif KIND == "scaled and moved 4":
        t = t * a + b
    elif KIND == "clipped 5":
        t = tl.maximum(t * a + b, 0.0)
    elif KIND == "dequantised 5":
        t = (t.to(tl.float32) - b) * a
    elif KIND == "hard swish 7":
        t = t * tl.minimum(tl.maximum(t + b, 0.0), 6.0) * a
    elif KIND == "quartic 8":
        t = ((t * a + b) * t + a) * t + b
    elif KIND == "soft sign 9":
        t = t / (1.0 + tl.abs(t))
    elif KIND == "quintic 12":
        t = ((((t * a + b) * t + a) * t + b) * t + a) * t + b
    elif KIND == "rational 15":
        t = ((t * a + b) * t + a) * t / (t * t + 1.0)
    return t


INVARIANTS = "loaded 2", "strided 2", "half 3", "scaled 3", "scaled and moved 4", "clipped 5", "dequantised 5", "hard swish 7"
EXPRESSIONS = "clipped 5", "hard swish 7", "quartic 8", "soft sign 9", "quintic 12", "rational 15"
INDICES = "one division 20", "division and remainder 40", "three dimensions 80", "by constants 40"


@tileon.jit
def loop_kernel(x, w, out, a, b, count, stride, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    t = value(x, i * stride if KIND == "strided 2" else i, a, b, KIND)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(count):
        total += t * tl.load(w + k * BLOCK + i)
    tl.store(out + i, total)


def loop(kind, size, count=64):
    stride = 17
    x = torch.rand(size * stride)
    if kind.startswith("half"):
        x = x.half()
    if kind.startswith("dequantised"):
        x = (x * 100).to(torch.int8)
    w, out = torch.rand(count * size), torch.empty(size)
    return lambda: loop_kernel[(1,)](x, w, out, 0.7, 0.3, count, stride, KIND=kind, BLOCK=size)


@tileon.jit
def two_uses_kernel(x, out, a, b, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = value(x, at, a, b, KIND)
    tl.store(out + at, t * (1.0 / tl.sum(t, axis=0)))


def two_uses(kind, size, rows=64):
    x = torch.rand(rows * size)
    out = torch.empty_like(x)
    return lambda: two_uses_kernel[(rows,)](x, out, 0.7, 0.3, KIND=kind, BLOCK=size)


@tileon.jit
def strided_loop_kernel(x, w, out, count, stride: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    t = tl.load(x + i * stride)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(count):
        total += t * tl.load(w + k * BLOCK + i)
    tl.store(out + i, total)


def strided_loop(stride, size, count):
    x, w, out = torch.rand(size * stride), torch.rand(count * size), torch.empty(size)
    return lambda: strided_loop_kernel[(1,)](x, w, out, count, stride, BLOCK=size)


@tileon.jit
def strided_twice_kernel(x, out, stride: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    t = tl.load(x + tl.program_id(0) * BLOCK * stride + i * stride)
    tl.store(out + tl.program_id(0) * BLOCK + i, t * (1.0 / tl.sum(t, axis=0)))


def strided_twice(stride, size, rows=64):
    x, out = torch.rand(rows * size * stride), torch.empty(rows * size)
    return lambda: strided_twice_kernel[(rows,)](x, out, stride, BLOCK=size)


@tileon.jit
def gathered_twice_kernel(x, index, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    t = tl.load(x + tl.load(index + i))
    tl.store(out + i, t * (1.0 / tl.sum(t, axis=0)))


def gathered_twice(size, rows=64):
    x, out = torch.rand(rows * size), torch.empty(rows * size)
    index = torch.randperm(rows * size)
    return lambda: gathered_twice_kernel[(rows,)](x, index, out, BLOCK=size)


@tileon.jit
def broadcast_kernel(x, y, out, a, b, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    t = value(x, columns, a, b, KIND)
    tl.store(out + rows[:, None] * COLUMNS + columns[None, :], tl.load(y + rows)[:, None] * t[None, :])


def broadcast(kind, rows=256, columns=256):
    x, y, out = torch.rand(columns), torch.rand(rows), torch.empty(rows * columns)
    return lambda: broadcast_kernel[(1,)](x, y, out, 0.7, 0.3, KIND=kind, ROWS=rows, COLUMNS=columns)


@tileon.jit
def places(width, height, stride, KIND: tl.constexpr, BLOCK: tl.constexpr):
    """Where elements 0, 1, 2, ... of a picture lie whose rows are `stride` apart."""
    p = tl.arange(0, BLOCK)
    if KIND == "one division 20":
        return p // width * stride
    if KIND == "division and remainder 40":
        return p // width * stride + p % width
    if KIND == "by constants 40":
        return p // 28 * stride + p % 28
    return p // (width * height) * (height * stride) + p // width % height * stride + p % width


@tileon.jit
def index_in_loop_kernel(x, w, out, width, height, stride, plane, count, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = places(width, height, stride, KIND, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(count):
        total += tl.load(x + k * plane + at) * tl.load(w + k)
    tl.store(out + tl.arange(0, BLOCK), total)


def index_in_loop(kind, size=1024, count=64):
    width, height, stride = 28, 14, 32
    plane = size * 2
    x, w, out = torch.rand(count * plane), torch.rand(count), torch.empty(size)
    return lambda: index_in_loop_kernel[(1,)](x, w, out, width, height, stride, plane, count, KIND=kind, BLOCK=size)


@tileon.jit
def rows_kernel(x, out, rows, stride, count, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS) % rows, tl.arange(0, COLUMNS)
    at = r[:, None] * stride + c[None, :]
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for k in range(count):
        total += tl.load(x + k * COLUMNS + at)
    tl.store(out + tl.arange(0, ROWS)[:, None] * COLUMNS + c[None, :], total)


def rows_in_loop(columns, rows=32, count=16):
    stride = columns * count
    x, out = torch.rand(rows * stride), torch.empty(rows, columns)
    return lambda: rows_kernel[(1,)](x, out, rows - 5, stride, count, ROWS=rows, COLUMNS=columns)


@tileon.jit
def rows_twice_kernel(x, out, rows, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    r, c = tl.arange(0, ROWS) % rows, tl.arange(0, COLUMNS)
    at = r[:, None] * stride + c[None, :]
    t = tl.load(x + at)
    tl.store(out + at, t * (1.0 / tl.sum(t, axis=1))[:, None])


def rows_twice(rows=32, columns=512):
    x, out = torch.rand(rows * columns), torch.empty(rows, columns)
    return lambda: rows_twice_kernel[(1,)](x, out, rows, columns, ROWS=rows, COLUMNS=columns)


@tileon.jit
def index_twice_kernel(x, out, width, height, stride, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = places(width, height, stride, KIND, BLOCK) + tl.program_id(0) * (2 * BLOCK)
    t = tl.load(x + at)
    tl.store(out + at, t * (1.0 / tl.sum(t, axis=0)))


def index_twice(kind, size=1024, programs=16):
    width, height, stride = 28, 14, 32
    x, out = torch.rand(programs * size * 2), torch.empty(programs * size * 2)
    return lambda: index_twice_kernel[(programs,)](x, out, width, height, stride, KIND=kind, BLOCK=size)


def programs():
    """{name: a launch} of the example with row kernels."""
    rows = compat.load(EXAMPLES / "tileon" / "rows.py")
    found = {}
    for m, n in ((256, 1000), (256, 1024), (32, 16384)):
        x, w, b = torch.randn(m, n), torch.randn(n), torch.randn(n)
        out = torch.empty_like(x)
        found[f"softmax {m}x{n}"] = lambda x=x, out=out: rows.softmax(x, out)
        found[f"layer norm {m}x{n}"] = lambda x=x, w=w, b=b, out=out: rows.layer_norm(x, w, b, out)
        found[f"rms norm {m}x{n}"] = lambda x=x, w=w, out=out: rows.rms_norm(x, w, out)
    return found
