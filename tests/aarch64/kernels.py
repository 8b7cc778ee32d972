"""Kernels that say something about a processor: each `launch(debug, ...)` takes the tensors that test_kernels.py gives it."""

from tilery import ninetoothed, tilelang, tileon
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tilelang import language as T
from tilery.tileon import language as tl
from tilery.tileon.language.extra import libdevice


@tileon.jit
def _add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


def add(debug, x, y, out):
    _add[(4,)](x, y, out, x.numel(), BLOCK=256, debug=debug, sanitize_overflow=False)


@tileon.jit
def _mathematics(x, out, n, BLOCK: tl.constexpr, F: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(F, bitcast=True)
    tl.store(out + 0 * n + i, tl.exp(v), mask=i < n)
    tl.store(out + 1 * n + i, tl.log(v), mask=i < n)
    tl.store(out + 2 * n + i, tl.sin(v), mask=i < n)
    tl.store(out + 3 * n + i, tl.cos(v), mask=i < n)
    tl.store(out + 4 * n + i, libdevice.tanh(v), mask=i < n)
    tl.store(out + 5 * n + i, tl.erf(v), mask=i < n)
    tl.store(out + 6 * n + i, tl.sqrt(v), mask=i < n)
    tl.store(out + 7 * n + i, tl.rsqrt(v), mask=i < n)
    tl.store(out + 8 * n + i, tl.exp2(v), mask=i < n)
    tl.store(out + 9 * n + i, libdevice.pow(v, v * 0.5), mask=i < n)
    tl.store(out + 10 * n + i, tl.floor(v), mask=i < n)
    tl.store(out + 11 * n + i, libdevice.log1p(v), mask=i < n)


def mathematics(debug, x, out):
    _mathematics[(3,)](x, out, x.numel(), BLOCK=512, F=tl.float32 if x.element_size() == 4 else tl.float64, debug=debug)


@tileon.jit
def _softmax(x, out, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * columns + i, e / tl.sum(e, 0), mask=i < columns)


def softmax(debug, x, out):
    _softmax[(x.shape[0],)](x, out, x.shape[1], BLOCK=256, debug=debug)


@tileon.jit
def _layer_norm(x, weight, bias, out, columns, eps, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0).to(tl.float32)
    mean = tl.sum(v, 0) / columns
    apart = tl.where(i < columns, v - mean, 0)
    scale = 1 / tl.sqrt(tl.sum(apart * apart, 0) / columns + eps)
    y = apart * scale * tl.load(weight + i, mask=i < columns) + tl.load(bias + i, mask=i < columns)
    tl.store(out + row * columns + i, y, mask=i < columns)


def layer_norm(debug, x, weight, bias, out):
    _layer_norm[(x.shape[0],)](x, weight, bias, out, x.shape[1], 1e-5, BLOCK=256, debug=debug)


@tileon.jit
def _matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SUM: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), SUM)
    for k in range(0, K, BK):
        i = k + tl.arange(0, BK)
        left = tl.load(a + m[:, None] * K + i[None, :], mask=(m[:, None] < M) & (i[None, :] < K), other=0)
        right = tl.load(b + i[:, None] * N + n[None, :], mask=(i[:, None] < K) & (n[None, :] < N), other=0)
        total = tl.dot(left, right, total, out_dtype=SUM)
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def matmul(debug, a, b, c):
    (M, K), N = a.shape, b.shape[1]
    total = tl.int32 if not a.is_floating_point() else tl.float64 if a.element_size() == 8 else tl.float32
    _matmul[(tileon.cdiv(M, 32), tileon.cdiv(N, 32))](a, b, c, M, N, K, BM=32, BN=32, BK=16, SUM=total, debug=debug)


@tileon.jit
def _scan(x, sums, products, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=0)
    tl.store(sums + row * columns + i, tl.cumsum(v, 0), mask=i < columns)
    tl.store(products + row * columns + i, tl.cumprod(v, 0), mask=i < columns)


def scan(debug, x, sums, products):
    _scan[(x.shape[0],)](x, sums, products, x.shape[1], BLOCK=128, debug=debug)


@tileon.jit
def _sort(x, up, down, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(up + i, tl.sort(tl.load(x + i)))
    tl.store(down + i, tl.sort(tl.load(x + i), descending=True))


def sort(debug, x, up, down):
    _sort[(x.numel() // 256,)](x, up, down, BLOCK=256, debug=debug)


@tileon.jit
def _extremes(x, greatest, where, least, any_of, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + i, mask=i < columns, other=-100)
    tl.store(greatest + row, tl.max(v, 0))
    tl.store(where + row, tl.argmax(v, 0))
    tl.store(least + row, tl.min(tl.where(i < columns, v, 100), 0))
    tl.store(any_of + row, tl.xor_sum(v.to(tl.int32), 0))


def extremes(debug, x, greatest, where, least, any_of):
    _extremes[(x.shape[0],)](x, greatest, where, least, any_of, x.shape[1], BLOCK=128, debug=debug)


@tileon.jit
def _histogram(x, counts, greatest, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    tl.atomic_add(counts + v, 1, mask=i < n)
    tl.atomic_max(greatest + v % 4, v, mask=i < n)


def histogram(debug, x, counts, greatest):
    counts.zero_(), greatest.zero_()
    _histogram[(8,)](x, counts, greatest, x.numel(), BLOCK=128, debug=debug)


@tileon.jit
def _float_atomics(x, total, turns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total + tl.arange(0, BLOCK), tl.load(x + i))
    tl.atomic_cas(turns, 0, 1)
    tl.atomic_xchg(turns + 1, 7)


def float_atomics(debug, x, total, turns):
    total.zero_(), turns.zero_()
    _float_atomics[(x.numel() // 64,)](x, total, turns, BLOCK=64, debug=debug)


@tileon.jit
def _gather(x, index, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = tl.load(index + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + at, mask=at % 3 != 1, other=9), mask=i < n)


def gather(debug, x, index, out):
    _gather[(4,)](x, index, out, index.numel(), BLOCK=128, debug=debug)


@tileon.jit
def _convert(x, out, n, BLOCK: tl.constexpr, FROM: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    if FROM is not None:
        v = v.to(FROM, bitcast=True)
    tl.store(out + i, v.to(out.dtype.element_ty), mask=i < n)


FLOATS = {4: tl.float32, 8: tl.float64, 2: tl.float16}


def convert(debug, x, out):
    _convert[(4,)](x, out, x.numel(), BLOCK=512, FROM=None, debug=debug)


def convert_bits(debug, x, out):
    _convert[(4,)](x, out, x.numel(), BLOCK=512, FROM=FLOATS[x.element_size()], debug=debug)


def convert_bfloat16_bits(debug, x, out):
    _convert[(4,)](x, out, x.numel(), BLOCK=512, FROM=tl.bfloat16, debug=debug)


@tileon.jit
def _integers(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=1), tl.load(y + i, mask=i < n, other=1)
    b = tl.where(b == 0, 3, b).to(b.dtype)
    tl.store(out + 0 * n + i, a // b, mask=i < n)
    tl.store(out + 1 * n + i, a % b, mask=i < n)
    tl.store(out + 2 * n + i, a * b + (a ^ b), mask=i < n)
    tl.store(out + 3 * n + i, (a >> (b & 7)) | (a << (a & 3)), mask=i < n)
    tl.store(out + 4 * n + i, tl.minimum(a, b) - tl.maximum(a, 5), mask=i < n)


def integers(debug, x, y, out):
    _integers[(4,)](x, y, out, x.numel(), BLOCK=128, debug=debug, sanitize_overflow=False)


@tileon.jit
def _half(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=1), tl.load(y + i, mask=i < n, other=1)
    tl.store(out + 0 * n + i, a + b, mask=i < n)
    tl.store(out + 1 * n + i, a * b, mask=i < n)
    tl.store(out + 2 * n + i, tl.maximum(a, b) - tl.abs(a), mask=i < n)
    tl.store(out + 3 * n + i, tl.where(a < b, a, -b), mask=i < n)


def half(debug, x, y, out):
    _half[(4,)](x, y, out, x.numel(), BLOCK=128, debug=debug)


@tileon.jit
def _collatz(x, steps, BLOCK: tl.constexpr):
    at = tl.program_id(0)
    v, count = tl.load(x + at) + 5, 0
    while v > 1:
        if v % 2 == 0:
            v = v // 2
        else:
            v = 3 * v + 1
        count += 1
    tl.store(steps + at, count)


def collatz(debug, x, steps):
    _collatz[(x.numel(),)](x, steps, BLOCK=1, debug=debug)


@tileon.jit
def _turned(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tl.store(out + n[:, None] * M + m[None, :], tl.trans(tl.load(x + m[:, None] * N + n[None, :])))


def turned(debug, x, out):
    _turned[(1,)](x, out, M=x.shape[0], N=x.shape[1], debug=debug)


@tilelang.jit
def _gemm(m: int, n: int, k: int):
    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((k, n), "float16"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, 32), T.ceildiv(m, 32), threads=128) as (x, y):
            a, b = T.alloc_shared((32, 32), "float16"), T.alloc_shared((32, 32), "float16")
            c = T.alloc_fragment((32, 32), "float32")
            T.clear(c)
            for i in T.Pipelined(T.ceildiv(k, 32), num_stages=2):
                T.copy(A[y * 32, i * 32], a)
                T.copy(B[i * 32, x * 32], b)
                T.gemm(a, b, c)
            for i, j in T.Parallel(32, 32):
                c[i, j] = T.max(c[i, j], 0)
            T.copy(c, C[y * 32, x * 32])

    return main


def gemm(debug, a, b, c):
    kernel = _gemm(a.shape[0], b.shape[1], a.shape[1])
    kernel(a, b, c, debug=debug) if debug else kernel(a, b, c)


def _arrangement(x, y, scale, out):
    return x.tile((16, 32)), y.tile((16, 32)), scale, out.tile((16, 32))


def _application(x, y, scale, out):
    out = ntl.exp(-x * x) * scale + ntl.maximum(x, y)  # noqa: F841


_gauss = ninetoothed.make(_arrangement, _application, (Tensor(2), Tensor(2), Tensor(0), Tensor(2)))


def gauss(debug, x, y, out):
    _gauss(x, y, 0.75, out, debug=debug) if debug else _gauss(x, y, 0.75, out)


def bytes_product(debug, a, b, c):
    (M, K), N = a.shape, b.shape[1]
    blocks = dict(BM=64, BN=32, BK=64, SUM=tl.int32)
    _matmul[(tileon.cdiv(M, 64), tileon.cdiv(N, 32))](a, b, c, M, N, K, **blocks, debug=debug)


def updates(debug, x, counts, greatest):
    counts.zero_(), greatest.zero_()
    _histogram[(16,)](x, counts, greatest, x.numel(), BLOCK=64, debug=debug)
