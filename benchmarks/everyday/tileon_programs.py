"""Programs in the style of Triton's users, each beside torch: {name: (a launch of ours, torch's, our result)}."""

import torch
import torch.nn.functional as F

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def copy_rows(x, o, n, columns, stride, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + at, tl.load(x + at // columns * stride + at % columns, mask=at < n), mask=at < n)


@tileon.jit
def depthwise(x, w, o, n, C, H, W, K: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row, channel = at % W, at // W % H, at // (W * H) % C
    plane = at // (W * H) * (W * H)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in tl.static_range(K):
        for j in tl.static_range(K):
            r, c = row + i - K // 2, column + j - K // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
            weight = tl.load(w + channel * K * K + i * K + j)
            total += weight * tl.load(x + plane + r * W + c, mask=inside, other=0.0)
    tl.store(o + at, total, mask=at < n)


@tileon.jit
def depthwise_loop(x, w, o, n, C, H, W, K, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row, channel = at % W, at // W % H, at // (W * H) % C
    plane = at // (W * H) * (W * H)
    total = tl.zeros((BLOCK,), tl.float32)
    for i in range(K):
        for j in range(K):
            r, c = row + i - K // 2, column + j - K // 2
            inside = (r >= 0) & (r < H) & (c >= 0) & (c < W) & (at < n)
            weight = tl.load(w + channel * K * K + i * K + j)
            total += weight * tl.load(x + plane + r * W + c, mask=inside, other=0.0)
    tl.store(o + at, total, mask=at < n)


@tileon.jit
def reflect_pad(x, o, n, H, W, P, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wide, high = W + 2 * P, H + 2 * P
    column, row, plane = at % wide - P, at // wide % high - P, at // (wide * high)
    column, row = tl.abs(column), tl.abs(row)
    column = tl.where(column >= W, 2 * (W - 1) - column, column)
    row = tl.where(row >= H, 2 * (H - 1) - row, row)
    tl.store(o + at, tl.load(x + plane * H * W + row * W + column, mask=at < n), mask=at < n)


@tileon.jit
def clamp_pad(x, o, n, H, W, P, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    wide, high = W + 2 * P, H + 2 * P
    column, row, plane = at % wide - P, at // wide % high - P, at // (wide * high)
    column, row = tl.minimum(tl.maximum(column, 0), W - 1), tl.minimum(tl.maximum(row, 0), H - 1)
    tl.store(o + at, tl.load(x + plane * H * W + row * W + column, mask=at < n), mask=at < n)


@tileon.jit
def permute(x, o, n, A, B, C, D, BLOCK: tl.constexpr):
    """(A, B, C, D) to (A, C, B, D)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    d, b, c, a = at % D, at // D % B, at // (D * B) % C, at // (D * B * C)
    tl.store(o + at, tl.load(x + ((a * B + b) * C + c) * D + d, mask=at < n), mask=at < n)


@tileon.jit
def pool(x, o, n, H, W, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = at % W, at // W
    here = x + row * 2 * (2 * W) + column * 2
    first = tl.maximum(tl.load(here, mask=at < n), tl.load(here + 1, mask=at < n))
    second = tl.maximum(tl.load(here + 2 * W, mask=at < n), tl.load(here + 2 * W + 1, mask=at < n))
    tl.store(o + at, tl.maximum(first, second), mask=at < n)


@tileon.jit
def upsample(x, o, n, H, W, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    column, row = at % (2 * W), at // (2 * W) % (2 * H)
    plane = at // (4 * W * H)
    tl.store(o + at, tl.load(x + plane * H * W + row // 2 * W + column // 2, mask=at < n), mask=at < n)


@tileon.jit
def row_sums_flat(x, o, rows, columns, BLOCK: tl.constexpr):
    """Rows of a matrix whose own rows are halves of them: index // columns, index % columns."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, 2 * columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + i // columns * (rows * columns) + i % columns, mask=i < 2 * columns, other=0.0)
    tl.store(o + row, tl.sum(total, axis=0))


@tileon.jit
def channel_sums(x, o, N, C, HW, BLOCK: tl.constexpr):
    """Of (N, C, HW) along N and HW at once, as a batch norm."""
    channel = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N * HW, BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + (i // HW * C + channel) * HW + i % HW, mask=i < N * HW, other=0.0)
    tl.store(o + channel, tl.sum(total, axis=0))


@tileon.jit
def channel_sums_tile(x, o, C, HW, N: tl.constexpr, BLOCK: tl.constexpr):
    channel = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    v = tl.load(x + (i // HW * C + channel) * HW + i % HW, mask=i < N * HW, other=0.0)
    tl.store(o + channel, tl.sum(v, axis=0))


@tileon.jit
def row_cumsum(x, o, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at = tl.program_id(0) * columns + i
    tl.store(o + at, tl.cumsum(tl.load(x + at, mask=i < columns, other=0.0), 0), mask=i < columns)


@tileon.jit
def column_sums(x, o, rows, columns, R: tl.constexpr, C: tl.constexpr):
    c = tl.program_id(0) * C + tl.arange(0, C)
    total = tl.zeros((C,), tl.float32)
    for start in range(0, rows, R):
        r = start + tl.arange(0, R)
        v = tl.load(x + r[:, None] * columns + c[None, :], mask=(r < rows)[:, None] & (c < columns)[None, :], other=0.0)
        total += tl.sum(v, axis=0)
    tl.store(o + c, total, mask=c < columns)


@tileon.jit
def column_softmax(x, o, rows, columns, R: tl.constexpr, C: tl.constexpr):
    r, c = tl.arange(0, R), tl.program_id(0) * C + tl.arange(0, C)
    at = r[:, None] * columns + c[None, :]
    mask = (r < rows)[:, None] & (c < columns)[None, :]
    v = tl.load(x + at, mask=mask, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0)[None, :])
    tl.store(o + at, v / tl.sum(v, axis=0)[None, :], mask=mask)


@tileon.jit
def column_softmax_one(x, o, rows, columns, R: tl.constexpr):
    """A column a program."""
    r = tl.arange(0, R)
    at = r * columns + tl.program_id(0)
    v = tl.load(x + at, mask=r < rows, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + at, v / tl.sum(v, axis=0), mask=r < rows)


@tileon.jit
def histogram(x, o, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    counts = tl.histogram(tl.load(x + at, mask=at < n), BINS, mask=at < n)
    tl.atomic_add(o + tl.arange(0, BINS), counts)


@tileon.jit
def scatter_add(places, values, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + tl.load(places + at, mask=at < n, other=0), tl.load(values + at, mask=at < n), mask=at < n)


@tileon.jit
def search(edges, x, o, n, count, STEPS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n, other=0.0)
    low = tl.zeros((BLOCK,), tl.int32)
    high = low + count
    for _ in range(STEPS):
        middle = (low + high) // 2
        right = tl.load(edges + middle, mask=middle < count, other=float("inf")) < v
        low = tl.where(right & (low < high), middle + 1, low)
        high = tl.where(right, high, middle)
    tl.store(o + at, low.to(tl.int64), mask=at < n)


@tileon.jit
def matvec(x, w, o, K, N, BK: tl.constexpr, BN: tl.constexpr):
    """(1, K) x (K, N)."""
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    total = tl.zeros((BN,), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        v = tl.load(w + k[:, None] * N + c[None, :], mask=(k < K)[:, None] & (c < N)[None, :], other=0.0)
        total += tl.sum(v * tl.load(x + k, mask=k < K, other=0.0)[:, None], axis=0)
    tl.store(o + c, total, mask=c < N)


@tileon.jit
def gelu(x, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(tl.float32)
    tl.store(o + at, (0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))).to(o.dtype.element_ty), mask=at < n)


def programs():
    torch.manual_seed(0)
    found = {}

    def add(name, ours, theirs, result):
        found[name] = (ours, theirs, result)

    def blocks(n, block=1024):
        return ((n + block - 1) // block,)

    x = torch.randn(1000, 1024)
    o = torch.empty(1000, 900)
    add("rows of 900 cut out of 1024", lambda: copy_rows[blocks(o.numel())](x, o, o.numel(), 900, 1024, BLOCK=1024),
        lambda: x[:, :900].contiguous(), o)

    for K in (3, 5):
        image, w = torch.randn(2, 64, 56, 56), torch.randn(64, 1, K, K)
        r = torch.empty_like(image)
        for kernel in (depthwise, depthwise_loop):
            add(f"{kernel.__name__} {K}x{K}",
                lambda k=kernel, i=image, w=w, r=r, K=K: k[blocks(r.numel())](i, w, r, r.numel(), 64, 56, 56, K, BLOCK=1024),
                lambda i=image, w=w, K=K: F.conv2d(i, w, padding=K // 2, groups=64), r)

    planes = torch.randn(8, 250, 250)
    for name, kernel in (("reflect", reflect_pad), ("replicate", clamp_pad)):
        r = torch.empty(8, 256, 256)
        add(f"{name} padding", lambda k=kernel, r=r: k[blocks(r.numel())](planes, r, r.numel(), 250, 250, 3, BLOCK=1024),
            lambda name=name: F.pad(planes, (3, 3, 3, 3), mode=name), r)

    t = torch.randn(8, 64, 32, 64)
    r = torch.empty(8, 32, 64, 64)
    add("permutation 0213", lambda r=r: permute[blocks(r.numel())](t, r, r.numel(), 8, 64, 32, 64, BLOCK=1024),
        lambda: t.permute(0, 2, 1, 3).contiguous(), r)
    p = torch.randn(16, 224, 224)
    r = torch.empty(16, 112, 112)
    add("max pooling 2x2", lambda r=r: pool[blocks(r.numel())](p, r, r.numel(), 112, 112, BLOCK=1024),
        lambda: F.max_pool2d(p, 2), r)
    u = torch.randn(1, 16, 112, 112)
    r = torch.empty(1, 16, 224, 224)
    add("upsampling nearest", lambda r=r: upsample[blocks(r.numel())](u, r, r.numel(), 112, 112, BLOCK=1024),
        lambda: F.interpolate(u, scale_factor=2), r)

    halves = torch.randn(2, 512, 1000)
    r = torch.empty(512)
    add("sums of rows in two parts", lambda r=r: row_sums_flat[(512,)](halves, r, 512, 1000, BLOCK=512),
        lambda: halves.sum((0, 2)), r)
    b = torch.randn(8, 64, 1600)
    r = torch.empty(64)
    add("channel sums", lambda r=r: channel_sums[(64,)](b, r, 8, 64, 1600, BLOCK=1024), lambda: b.sum((0, 2)), r)
    tile = {"N": 8, "BLOCK": 16384}
    add("channel sums of one tile", lambda r=r: channel_sums_tile[(64,)](b, r, 64, 1600, **tile), lambda: b.sum((0, 2)), r)

    m = torch.randn(1024, 1000)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        mm = m.to(dtype)
        r = torch.empty_like(mm)
        add(f"row cumsum {str(dtype)[6:]}", lambda mm=mm, r=r: row_cumsum[(1024,)](mm, r, 1000, BLOCK=1024),
            lambda mm=mm: mm.cumsum(1), r)
    for R, C in ((32, 64), (64, 32), (128, 128), (8, 1024)):
        r = torch.empty(1000)
        add(f"column sums {R}x{C}", lambda r=r, R=R, C=C: column_sums[blocks(1000, C)](m, r, 1024, 1000, R=R, C=C),
            lambda: m.sum(0), r)
    for C in (8, 32, 64):
        r = torch.empty_like(m)
        add(f"column softmax 1024x{C}", lambda r=r, C=C: column_softmax[blocks(1000, C)](m, r, 1024, 1000, R=1024, C=C),
            lambda: m.softmax(0), r)
    r = torch.empty_like(m)
    add("column softmax one", lambda r=r: column_softmax_one[(1000,)](m, r, 1024, 1000, R=1024), lambda: m.softmax(0), r)

    for bins in (64, 256, 1024):
        v = torch.randint(0, bins, (1 << 20,), dtype=torch.int32)
        r = torch.zeros(bins, dtype=torch.int32)
        def ours(v=v, r=r, bins=bins):
            r.zero_()
            histogram[blocks(1 << 20, 4096)](v, r, 1 << 20, BINS=bins, BLOCK=4096)
        add(f"histogram {bins}", ours, lambda v=v, bins=bins: torch.bincount(v, minlength=bins), r)
    for dtype in (torch.float32, torch.bfloat16):
        places, values = torch.randint(0, 65536, (1 << 20,)), torch.randn(1 << 20).to(dtype)
        if dtype == torch.bfloat16:
            values = torch.ones(1 << 20, dtype=dtype)
        r = torch.zeros(65536, dtype=dtype)
        def ours(places=places, values=values, r=r):
            r.zero_()
            scatter_add[blocks(1 << 20)](places, values, r, 1 << 20, BLOCK=1024)
        add(f"scatter add {str(dtype)[6:]}", ours,
            lambda places=places, values=values, dtype=dtype: torch.zeros(65536, dtype=dtype).index_add_(0, places, values), r)
    edges, v = torch.randn(1000).sort().values, torch.randn(1 << 18)
    r = torch.empty(1 << 18, dtype=torch.int64)
    add("search", lambda r=r: search[blocks(1 << 18)](edges, v, r, 1 << 18, 1000, STEPS=10, BLOCK=1024),
        lambda: torch.searchsorted(edges, v), r)
    k, w = torch.randn(1, 2048), torch.randn(2048, 2048)
    for BK, BN in ((32, 64), (64, 128), (16, 256)):
        r = torch.empty(1, 2048)
        add(f"matvec {BK}x{BN}", lambda r=r, BK=BK, BN=BN: matvec[blocks(2048, BN)](k, w, r, 2048, 2048, BK=BK, BN=BN),
            lambda: k @ w, r)
    for dtype in (torch.float32, torch.bfloat16):
        g = torch.randn(1 << 20).to(dtype)
        r = torch.empty_like(g)
        add(f"gelu {str(dtype)[6:]}", lambda g=g, r=r: gelu[blocks(1 << 20)](g, r, 1 << 20, BLOCK=1024), lambda g=g: F.gelu(g), r)
    return found
