"""Values that many paths lead to: each step uses the one before it twice, so that sixty of them are 2^60 paths. Compiling looks
at each value once: a walk along all paths has no end."""

import pytest

from tilery import _native, tileon
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def floats(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    a = tl.load(x_ptr + i)
    t = a
    for j in range(n):
        for k in tl.static_range(N):
            a = tl.where(a > t, a * 0.5, a + t)
        t += tl.load(x_ptr + i + j)
    tl.store(o_ptr + i, a + t)


@tileon.jit
def offsets(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    b = i
    for k in tl.static_range(N):
        b = tl.where(b % 3 == 0, b // 2 + k, b + (b & 7))
    for j in range(n):
        tl.store(o_ptr + b + j * 64, tl.load(x_ptr + b % 64 + j * 64))


@tileon.jit
def masks(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    m = i < n
    v = tl.load(x_ptr + i)
    for k in tl.static_range(N):
        m = (m & (i > k)) | (m ^ (i < n - k))
    for j in range(n):
        tl.store(o_ptr + i, tl.load(x_ptr + i + j, mask=m, other=0.0) + v, mask=m)


@tileon.jit
def scalars(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    s = n
    for k in tl.static_range(N):
        s = tl.where(s > k, s // 2 + s % 3, s + s * 2)
    for j in range(s):
        tl.store(o_ptr + i * s + s, tl.load(x_ptr + i + j * s))


@tileon.jit
def products(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for j in range(n):
        a = tl.load(x_ptr + i[:, None] * 64 + i[None, :] + j * 4096).to(tl.float16)
        b = tl.load(x_ptr + i[:, None] * 64 + i[None, :] + 77 * j).to(tl.float16)
        for k in tl.static_range(N):
            a = tl.where(a > b, a * 0.5, a + b)
        acc = tl.dot(a, b, acc)
    tl.store(o_ptr + i[:, None] * 64 + i[None, :], acc)


@tileon.jit
def rows(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    a = tl.load(x_ptr + i[:, None] * 64 + i[None, :])
    for j in range(n):
        for k in tl.static_range(N):
            s = tl.sum(a, 1)
            a = tl.where(a > s[:, None], a - s[:, None], a * 0.5)
        a = a + tl.load(x_ptr + i[:, None] * 64 + i[None, :] + j)
    tl.store(o_ptr + i[:, None] * 64 + i[None, :], a)


@tileon.jit
def conds(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    a = tl.load(x_ptr + i)
    s = tl.sum(a)
    for j in range(n):
        for k in tl.static_range(N):
            if s > k:
                s = s * 0.5 + s
            else:
                s = s + s * k
        a += s
    tl.store(o_ptr + i, a)


@tileon.jit
def permuted(x_ptr, o_ptr, n, N: tl.constexpr):
    i = tl.arange(0, 32)
    a = tl.load(x_ptr + i[:, None] * 32 + i[None, :])
    for j in range(n):
        for k in tl.static_range(N):
            a = a + tl.trans(a) * 0.5
        a += tl.load(x_ptr + i[:, None] * 32 + i[None, :] + j)
    tl.store(o_ptr + i[:, None] * 32 + i[None, :], a)


@pytest.mark.parametrize("kernel", [offsets, products, floats, masks, rows, permuted, scalars, conds])
def test_compiling_ends(kernel):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", "N": "constexpr"}
    made = tileon.compile(tileon.compiler.ASTSource(kernel, signature, {"N": 60}), GPUTarget("cuda", 80, 32))
    for target in ("avx2", "avx512", "sm_90a"):
        assert _native.compile(made.module, target=target).image
