"""What gate.py measures: launches in all languages, larger ones where they run on a GPU, and what surrounds a launch."""

from functools import partial
from pathlib import Path

import lane_kernels as lanes
import torch

import tilery.tileon.language as tl
from tilery import compat, tileon

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@tileon.jit
def softmax_down_columns(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    c = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    top = tl.full((COLUMNS,), float("-inf"), tl.float32)
    total = tl.zeros((COLUMNS,), tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)
        inside = (r < rows)[:, None] & (c < columns)[None, :]
        tile = tl.load(x + r[:, None] * columns + c[None, :], mask=inside, other=float("-inf"))
        above = tl.maximum(top, tl.max(tile, 0))
        total = total * tl.exp(top - above) + tl.sum(tl.exp(tile - above[None, :]), 0)
        top = above
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)
        inside = (r < rows)[:, None] & (c < columns)[None, :]
        at = r[:, None] * columns + c[None, :]
        tl.store(out + at, tl.exp(tl.load(x + at, mask=inside) - top[None, :]) / total[None, :], mask=inside)


@tileon.jit
def gelu_and_row_sum(x, out, sums, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    tile = tl.load(x + row * n + i, mask=i < n, other=0.0)
    tile = 0.5 * tile * (1.0 + tl.math.erf(tile * 0.7071067811865476))
    tl.store(out + row * n + i, tile, mask=i < n)
    tl.store(sums + row, tl.sum(tile, 0))


def rows_of(device):
    """{name: launch} on this device."""
    large = 4 if device != "cpu" else 1
    normal = partial(torch.randn, device=device)

    def half(*shape, dtype=torch.float16):
        return normal(*shape).to(dtype)

    found = {}
    rows = compat.load(EXAMPLES / "tileon" / "rows.py")
    x, y = normal(1 << 18), normal(1 << 18)
    found["vector add"] = partial(rows.add, x, y, torch.empty_like(x))
    for m, n in ((256 * large, 1000), (32 * large, 16384)):
        x, w, b = normal(m, n), normal(n), normal(n)
        out = torch.empty_like(x)
        found[f"softmax {m}x{n}"] = partial(rows.softmax, x, out)
        found[f"layer norm {m}x{n}"] = partial(rows.layer_norm, x, w, b, out)
        found[f"rms norm {m}x{n}"] = partial(rows.rms_norm, x, w, out)
    x = normal(512 * large, 300)
    blocks = {"ROWS": 32, "COLUMNS": 32}
    found["softmax down columns"] = partial(softmax_down_columns[(-(-300 // 32),)], x, torch.empty_like(x), *x.shape, **blocks)
    found["gelu with row sums"] = partial(
        gelu_and_row_sum[(512 * large,)], x, torch.empty_like(x), normal(512 * large), 300, BLOCK=512
    )
    matmul = compat.load(EXAMPLES / "tileon" / "matmul.py").matmul
    n = 384 * large
    for dtype in (torch.float32, torch.bfloat16):
        a, b, c = half(n, n, dtype=dtype), half(n, n, dtype=dtype), normal(n, n)
        for blocks in ((128, 256, 64), (64, 64, 32)):
            found[f"matmul {str(dtype)[6:]} in tiles of {blocks[0]}x{blocks[1]}"] = partial(matmul, a, b, c, blocks)
    a, b, c = normal(1, 2048), normal(2048, 2048), normal(1, 2048)
    found["matmul of one row"] = partial(matmul, a, b, c, (16, 64, 128))
    q, k, v = (half(1, 2 * large, 256 * large, 64) for _ in range(3))
    attention = compat.load(EXAMPLES / "tileon" / "attention.py").attention
    out = torch.empty_like(q)
    found["attention"] = partial(attention, q, k, v, out)
    found["attention, causal"] = partial(attention, q, k, v, out, True)
    logs = attention(q, k, v, out)
    backward = compat.load(EXAMPLES / "tileon" / "attention_backward.py").attention_backward
    gradients = [torch.empty_like(q) for _ in range(3)]
    found["attention backward"] = partial(backward, q, k, v, out, half(*q.shape), logs, *gradients)
    x = normal(64 * large, 1024)
    out, places = torch.empty_like(x), torch.randint(0, 1024, (1 << 14,), device=device)
    found["sort rows"] = partial(lanes.sort_rows[(64 * large,)], x, out, 1024)
    found["sums along rows"] = partial(lanes.sums_along_rows[(64 * large,)], x, out, 1024)
    found["scatter add"] = partial(lanes.scatter_add[(8,)], out, places, normal(1 << 14), 1 << 14, 2048)
    ninetoothed = compat.load(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    a, b, c = half(n, n), half(n, n), half(n, n)
    found["NineToothed: matmul"] = partial(ninetoothed, a, b, c)
    conv2d = compat.load(EXAMPLES / "ninetoothed" / "conv2d.py").conv2d
    image, filters, out = half(2 * large, 32, 16, 16), half(32, 32, 3, 3), half(2 * large, 32, 14, 14)
    found["NineToothed: convolution"] = partial(conv2d, image, filters, out)
    built = compat.load(EXAMPLES / "tilelang" / "matmul.py").matmul_kernel_builder(n, n, n, 128, 128, 32)
    found["TileLang: matmul"] = partial(built, a, b, c)
    x = normal(256 * large, 1024)
    found["TileLang: softmax"] = partial(compat.load(EXAMPLES / "tilelang" / "norms.py").softmax(256 * large, 1024, 4), x)
    small, other = normal(64), normal(64)
    found["launch"] = partial(rows.add, small, small, small)

    def two_tensors():
        rows.add(small, small, small)
        rows.add(other, other, other)

    found["launches with tensors in turn"] = two_tensors
    found["compiling"] = lambda: tileon.jit(gelu_and_row_sum.fn)[(1,)](x, x, small, 64, BLOCK=64)
    return found
