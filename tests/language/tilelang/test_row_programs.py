"""Programs on rows as libraries write them: casts to 8 bits, norms, the largest of a row, softmax, chunked states, transforms.
Against float64 or exactly."""

import pytest
import torch
from language import bounds

from tilery import tilelang
from tilery.tilelang import language as T

pytestmark = pytest.mark.usefixtures("engine")
UNIT = 2.0**-24


def test_cast_of_tokens_to_eight_bits():
    """Each group of a row is divided by its greatest magnitude over the greatest number of the type."""
    M, N, group, BM, most = 40, 256, 128, 8, 448.0

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float8_e4m3fn"), S: T.Tensor((M, N // group), "float32")):
        with T.Kernel(M // BM, N // group, threads=128) as (bx, by):
            x, y = T.alloc_fragment((BM, group), "float32"), T.alloc_fragment((BM, group), "float8_e4m3fn")
            top, scale = T.alloc_fragment((BM,), "float32"), T.alloc_fragment((BM,), "float32")
            T.copy(X[bx * BM, by * group], x)
            T.reduce_absmax(x, top, dim=1)
            for i in T.Parallel(BM):
                top[i] = T.max(top[i], 1e-4)
                scale[i] = top[i] / most
            for i, j in T.Parallel(BM, group):
                y[i, j] = T.clamp(x[i, j] / scale[i], -most, most)
            for i in T.Parallel(BM):
                S[bx * BM + i, by] = scale[i]
            T.copy(y, Y[bx * BM, by * group])

    x = torch.randn(M, N) * 10 ** torch.linspace(-3, 3, M)[:, None]
    y, s = torch.zeros(M, N, dtype=torch.float8_e4m3fn), torch.zeros(M, N // group)
    tilelang.compile(main)(x, y, s)
    scale = x.reshape(M, -1, group).abs().amax(-1).clamp(min=1e-4).double() / most
    bounds.within(s, (scale, bounds.FUNCTION * UNIT * scale))
    exact = (x.double().reshape(M, -1, group) / s.double()[..., None]).reshape(M, N)
    # A float of 3 bits of fraction, subnormal below 2^-6; the quotient was rounded before.
    spacing = torch.maximum(2.0 ** (exact.abs().clamp(min=2.0**-6).log2().floor() - 3), torch.tensor(2.0**-9).double())
    assert ((y.double() - exact).abs() <= spacing / 2 * (1 + 2.0**-20) + exact.abs() * bounds.FUNCTION * UNIT).all()


@pytest.mark.parametrize("N", [96, 1000])
def test_rms_norm_in_parts(N):
    M, BM, BN = 24, 8, 64

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), W: T.Tensor((N,), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M // BM, threads=128) as bx:
            x, squares = T.alloc_shared((BM, BN), "float32"), T.alloc_fragment((BM, BN), "float32")
            part, total = T.alloc_fragment((BM,), "float32"), T.alloc_fragment((BM,), "float32")
            T.clear(total)
            for k in T.serial(T.ceildiv(N, BN)):
                T.copy(X[bx * BM, k * BN], x)
                for i, j in T.Parallel(BM, BN):
                    squares[i, j] = x[i, j] * x[i, j]
                T.reduce_sum(squares, part, dim=1)
                for i in T.Parallel(BM):
                    total[i] += part[i]
            for i in T.Parallel(BM):
                total[i] = T.rsqrt(total[i] / N + 1e-6)
            for k in T.serial(T.ceildiv(N, BN)):
                T.copy(X[bx * BM, k * BN], x)
                for i, j in T.Parallel(BM, BN):
                    if k * BN + j < N:
                        x[i, j] *= total[i] * W[k * BN + j]
                T.copy(x, Y[bx * BM, k * BN])

    x, w, y = torch.randn(M, N), torch.randn(N), torch.zeros(M, N)
    tilelang.compile(main)(x, w, y)
    bounds.within(y, bounds.rms_norm(x, 1e-6, w))


def test_layer_norm_with_variance():
    M, N = 12, 200

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=128) as bx:
            x, d = T.alloc_fragment((1, N), "float32"), T.alloc_fragment((1, N), "float32")
            total, spread = T.alloc_fragment((1,), "float32"), T.alloc_fragment((1,), "float32")
            T.copy(X[bx, 0], x)
            T.reduce_sum(x, total, dim=1)
            for i, j in T.Parallel(1, N):
                x[i, j] -= total[i] / N
                d[i, j] = x[i, j] * x[i, j]
            T.reduce_sum(d, spread, dim=1)
            for i, j in T.Parallel(1, N):
                x[i, j] *= T.rsqrt(spread[i] / N + 1e-5)
            T.copy(x, Y[bx, 0])

    x, y = torch.randn(M, N) + 1, torch.zeros(M, N)
    tilelang.compile(main)(x, y)
    wide = x.double()
    right = (wide - wide.mean(1, keepdim=True)) / (wide.var(1, correction=0, keepdim=True) + 1e-5).sqrt()
    # The mean is off by N roundings of sums of magnitudes, the root by about N / 2 of its own.
    error = 2 * N * UNIT * (wide.abs().mean(1, keepdim=True) * 2 + right.abs())
    assert ((y.double() - right).abs() <= error).all()


@pytest.mark.parametrize("k", [1, 6])
def test_largest_of_a_row(k):
    """The greatest is taken k times; among equals the first."""
    M, N, BM = 20, 64, 4

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), V: T.Tensor((M, k), "float32"), W: T.Tensor((M, k), "int32")):
        with T.Kernel(M // BM, threads=128) as bx:
            x, top = T.alloc_fragment((BM, N), "float32"), T.alloc_fragment((BM,), "float32")
            where, first = T.alloc_fragment((BM, N), "int32"), T.alloc_fragment((BM,), "int32")
            T.copy(X[bx * BM, 0], x)
            for turn in T.serial(k):
                T.reduce_max(x, top, dim=1)
                for i, j in T.Parallel(BM, N):
                    where[i, j] = T.if_then_else(x[i, j] == top[i], j, N)
                T.reduce_min(where, first, dim=1)
                for i, j in T.Parallel(BM, N):
                    x[i, j] = T.if_then_else(j == first[i], -T.infinity("float32"), x[i, j])
                for i in T.Parallel(BM):
                    V[bx * BM + i, turn] = top[i]
                    W[bx * BM + i, turn] = first[i]

    x = torch.randint(-20, 20, (M, N)).float()  # with equals
    v, i = torch.zeros(M, k), torch.zeros(M, k, dtype=torch.int32)
    tilelang.compile(main)(x, v, i)
    order = (-x).argsort(dim=1, stable=True)[:, :k]
    assert torch.equal(i.long(), order) and torch.equal(v, x.gather(1, order))


def test_softmax_in_one_pass():
    M, N, BN = 10, 300, 64

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=128) as bx:
            x, top = T.alloc_fragment((BN,), "float32"), T.alloc_fragment((1,), "float32")
            most, total = T.alloc_fragment((1,), "float32"), T.alloc_fragment((1,), "float32")
            before, part = T.alloc_fragment((1,), "float32"), T.alloc_fragment((1,), "float32")
            T.fill(most, -T.infinity("float32"))
            T.clear(total)
            T.annotate_safe_value({X: -T.infinity("float32")})
            for k in T.serial(T.ceildiv(N, BN)):
                T.copy(X[bx, k * BN], x)
                T.reduce_max(x, top, dim=0)
                before[0] = most[0]
                most[0] = T.max(most[0], top[0])
                for j in T.Parallel(BN):
                    x[j] = T.exp(x[j] - most[0])
                T.reduce_sum(x, part, dim=0)
                total[0] = total[0] * T.exp(before[0] - most[0]) + part[0]
            for k in T.serial(T.ceildiv(N, BN)):
                T.copy(X[bx, k * BN], x)
                for j in T.Parallel(BN):
                    x[j] = T.exp(x[j] - most[0]) / total[0]
                T.copy(x, Y[bx, k * BN])

    x, y = torch.randn(M, N) * 4, torch.zeros(M, N)
    tilelang.compile(main)(x, y)
    exact, error = bounds.softmax(x)
    assert ((y.double() - exact).abs() <= 4 * error).all()  # rescalings: one exp for each part


def test_transform_of_hadamard():
    """Sums and differences of halves, quarters, ...: n log n instead of a product."""
    M, N = 6, 64
    levels = N.bit_length() - 1

    @T.prim_func
    def main(X: T.Tensor((M, N), "float32"), Y: T.Tensor((M, N), "float32")):
        with T.Kernel(M, threads=128) as bx:
            x, y = T.alloc_shared((N,), "float32"), T.alloc_shared((N,), "float32")
            T.copy(X[bx, 0], x)
            for level in T.serial(levels):
                for i in T.Parallel(N):
                    other = i ^ (1 << level)
                    y[i] = T.if_then_else((i >> level) % 2 == 0, x[i] + x[other], x[other] - x[i])
                T.copy(y, x)
            T.copy(x, Y[bx, 0])

    x, y = torch.randint(-4, 5, (M, N)).float(), torch.zeros(M, N)
    tilelang.compile(main)(x, y)
    matrix = torch.ones(1, 1)
    for _ in range(levels):
        matrix = torch.cat([torch.cat([matrix, matrix], 1), torch.cat([matrix, -matrix], 1)])
    assert torch.equal(y, x @ matrix)


def test_states_by_chunks():
    """h[t] = a[t] h[t - 1] + x[t]: within a chunk by products of decays, between chunks by the state."""
    seq, dim, B = 96, 16, 32

    @T.prim_func
    def main(A: T.Tensor((seq,), "float32"), X: T.Tensor((seq, dim), "float32"), H: T.Tensor((seq, dim), "float32")):
        with T.Kernel(1, threads=128):
            logs, x = T.alloc_shared((B,), "float32"), T.alloc_shared((B, dim), "float32")
            weights, h = T.alloc_shared((B, B), "float32"), T.alloc_fragment((B, dim), "float32")
            state = T.alloc_shared((dim,), "float32")
            T.clear(state)
            for n in T.serial(seq // B):
                for i in T.Parallel(B):
                    logs[i] = T.log2(A[n * B + i])
                T.cumsum(logs, dim=0)
                T.copy(X[n * B, 0], x)
                for i, j in T.Parallel(B, B):
                    weights[i, j] = T.if_then_else(i >= j, T.exp2(logs[i] - logs[j]), 0)
                T.gemm(weights, x, h, clear_accum=True)
                for i, j in T.Parallel(B, dim):
                    h[i, j] += T.exp2(logs[i]) * state[j]
                for j in T.Parallel(dim):
                    state[j] = h[B - 1, j]
                T.copy(h, H[n * B, 0])

    a, x = 2.0 ** -torch.randint(0, 2, (seq,)).float(), torch.randint(-8, 9, (seq, dim)).float()
    h = torch.zeros(seq, dim)
    tilelang.compile(main)(a, x, h)
    state, right, size, sizes = torch.zeros(dim).double(), [], torch.zeros(dim).double(), []
    for t in range(seq):
        state, size = a[t].double() * state + x[t].double(), a[t].double() * size + x[t].double().abs()
        right.append(state)
        sizes.append(size)
    # Powers of two are exact, also rounded to 11 bits on a GPU; sums of 32 products are rounded.
    assert ((h.double() - torch.stack(right)).abs() <= 3 * (B + 3) * UNIT * torch.stack(sizes)).all()


@pytest.mark.parametrize("M, G", [(70, 6), (64, 8)])
def test_exponents_packed_into_words(M, G):
    """A point's own variable, which loops and branches of the point change."""

    @T.prim_func
    def main(S: T.Tensor((M, G), "float32"), P: T.Tensor((T.ceildiv(G, 4), M), "uint32")):
        with T.Kernel(T.ceildiv(M, 64), T.ceildiv(G, 4), threads=64) as (bx, by):
            for i in T.Parallel(64):
                if bx * 64 + i < M:
                    word = T.alloc_var("uint32", 0)
                    for k in T.unroll(4):
                        if by * 4 + k < G:
                            exponent = T.reinterpret(S[bx * 64 + i, by * 4 + k], "uint32") >> T.uint32(23)
                            word = word | (exponent << T.cast(8 * k, "uint32"))
                    P[by, bx * 64 + i] = word

    s = torch.exp2(torch.randint(-20, 20, (M, G)).float())
    p = torch.zeros(-(-G // 4), M, dtype=torch.uint32)
    tilelang.compile(main)(s, p)
    exponents = (s.double().log2() + 127).long()
    for word in range(p.shape[0]):
        parts = [exponents[:, g] << 8 * (g % 4) for g in range(4 * word, min(4 * word + 4, G))]
        assert torch.equal(p[word].long(), torch.stack(parts).sum(0))


def test_hash_of_neighbours():
    """What a loop of a point carries is stored in each turn."""
    S, grams, mod = 150, 3, 509

    @T.prim_func
    def main(A: T.Tensor((S,), "int64"), B: T.Tensor((grams,), "int64"), C: T.Tensor((S, grams), "int32")):
        with T.Kernel(T.ceildiv(S, 64), threads=64) as bx:
            for i in T.Parallel(64):
                found = T.alloc_var("int64", 0)
                for g in T.serial(grams):
                    at = bx * 64 + i - g
                    found = T.bitwise_xor(found, T.if_then_else(at >= 0, A[T.max(at, 0)], T.int64(0)) * B[g])
                    if bx * 64 + i < S:
                        C[bx * 64 + i, g] = T.cast(T.floormod(found, T.int64(mod)), "int32")

    a, b = torch.randint(0, 100000, (S,)), torch.tensor([3, 1000003, 7919])
    c = torch.zeros(S, grams, dtype=torch.int32)
    tilelang.compile(main)(a, b, c)
    for i in range(S):
        found = 0
        for g in range(grams):
            found ^= (int(a[i - g]) if i >= g else 0) * int(b[g])
            assert c[i, g] == found % mod
