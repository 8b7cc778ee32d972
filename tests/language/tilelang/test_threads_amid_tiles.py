"""Threads that unpack, scale or copy amid a block's products: on GPUs what they fill becomes a loop over it, where elements,
loops and parts of a thread's number count through it as digits."""

import os

import pytest
import torch

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.tracing.program import usual_layouts


@tilelang.jit(out_idx=[2])
def unpacked(m, n, k, rows, columns, depth, threads, bits=4, dtype="float16", order="pairs", what="number", wide=8, stages=2):
    """A @ D^T, D unpacked by threads, `wide` elements each: element e of a row is in byte e // per ("pairs"), or in byte
    e % bytes of its thread's ("halves"). what: less the thread's first element ("minus first"), plus a part of its number
    ("thread")."""
    per = 8 // bits
    own = wide // per  # bytes
    mask = (1 << bits) - 1
    sums = "int32" if dtype == "int8" else "float32"

    @T.prim_func
    def main(A: T.Tensor((m, k), dtype), B: T.Tensor((n, k // per), "uint8"), C: T.Tensor((m, n), sums)):
        with T.Kernel(T.ceildiv(n, columns), T.ceildiv(m, rows), threads=threads) as (bx, by):
            a = T.alloc_shared((rows, depth), dtype)
            b = T.alloc_shared((columns, depth // per), "uint8")
            d = T.alloc_shared((columns, depth), dtype)
            byte, number = T.alloc_local([own], "uint8"), T.alloc_local([wide], dtype)
            c = T.alloc_fragment((rows, columns), sums)
            tx = T.get_thread_binding()
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=stages):
                T.copy(A[by * rows, step * depth], a)
                T.copy(B[bx * columns, step * depth // per], b)
                for i in T.serial(columns * depth // (threads * wide)):
                    for v in T.vectorized(0, own):
                        at = i * threads * own + tx * own + v
                        byte[v] = b[at // (depth // per), at % (depth // per)]
                    for v in T.serial(0, wide):
                        if order == "pairs":
                            number[v] = T.cast((byte[v // per] >> T.cast(v % per * bits, "uint8")) & mask, dtype)
                        else:
                            number[v] = T.cast((byte[v % own] >> T.cast(v // own * bits, "uint8")) & mask, dtype)
                    for v in T.vectorized(0, wide):
                        at = i * threads * wide + tx * wide + v
                        if what == "number":
                            d[at // depth, at % depth] = number[v]
                        elif what == "minus first":
                            d[at // depth, at % depth] = number[v] - number[0]
                        else:
                            d[at // depth, at % depth] = number[v] + T.cast(tx % 4, dtype)
                T.gemm(a, d, c, transpose_B=True)
            T.copy(c, C[by * rows, bx * columns])

    return main


def exact(a, packed, depth, threads, bits, order, what, wide):
    n, per = packed.shape[0], 8 // bits
    own = wide // per
    k = packed.shape[1] * per
    groups = packed.reshape(n, k // wide, own)
    parts = torch.stack([groups >> (bits * p) & ((1 << bits) - 1) for p in range(per)])
    numbers = parts.permute(1, 2, 3, 0) if order == "pairs" else parts.permute(1, 2, 0, 3)
    numbers = numbers.reshape(n, k // wide, wide).double()
    if what == "minus first":
        numbers = numbers - numbers[..., :1]
    if what == "thread":
        row, group = torch.arange(n)[:, None], torch.arange(k // wide)[None]
        flat = row * (depth // wide) + group % (depth // wide)
        numbers = numbers + (flat % threads % 4)[..., None].to(a.device)
    return a.double() @ numbers.reshape(n, k).T


TILES = [  # m, n, k, rows, columns, depth, threads
    (128, 128, 128, 128, 128, 32, 128),
    (200, 136, 160, 128, 64, 32, 128),  # the last tiles are parts
    (64, 96, 192, 64, 96, 48, 96),  # digits of three
    (70, 64, 128, 64, 64, 64, 256),
    (100, 50, 64, 32, 32, 32, 32),
]


def check(device, tile, **how):
    m, n, k, _, _, depth, threads = tile
    dtype = how.get("dtype", "float16")
    bits = how.get("bits", 4)
    a = torch.randint(-8, 8, (m, k), device=device).to(getattr(torch, dtype))
    packed = torch.randint(0, 256, (n, k * bits // 8), device=device, dtype=torch.uint8)
    c = unpacked(*tile, **how)(a, packed)
    usual = {"order": "pairs", "what": "number", "wide": 8} | {x: y for x, y in how.items() if x in ("order", "what", "wide")}
    assert torch.equal(c.double(), exact(a, packed, depth, threads, bits, **usual))


@pytest.mark.gpu
@pytest.mark.parametrize("tile", TILES, ids=str)
@pytest.mark.parametrize("order", ["pairs", "halves"])
@pytest.mark.parametrize("what", ["number", "minus first", "thread"])
def test_orders(device, tile, order, what):
    check(device, tile, order=order, what=what)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int8"])
@pytest.mark.parametrize("bits, wide", [(4, 8), (4, 4), (2, 16), (1, 16), (2, 8)])
def test_types(device, dtype, bits, wide):
    check(device, TILES[0], dtype=dtype, bits=bits, wide=wide)
    check(device, TILES[3], dtype=dtype, bits=bits, wide=wide, stages=0)


@tilelang.jit(out_idx=[2])
def copied(m, n, k, rows, columns, depth, threads, wide, bounded, group=16):
    """(A * scales) @ B^T: threads bring A, eight or fewer elements each, scale it, and take the result away."""

    @T.prim_func
    def main(A: T.Tensor((m, k), "float16"), B: T.Tensor((n, k), "float16"), C: T.Tensor((m, n), "float32")):
        with T.Kernel(T.ceildiv(n, columns), T.ceildiv(m, rows), threads=threads) as (bx, by):
            a, b = T.alloc_shared((rows, depth), "float16"), T.alloc_shared((columns, depth), "float16")
            result, c = T.alloc_shared((rows, columns), "float32"), T.alloc_fragment((rows, columns), "float32")
            own = T.alloc_local([wide], "float16")
            tx = T.get_thread_binding()
            T.clear(c)
            for step in T.Pipelined(T.ceildiv(k, depth), num_stages=2):
                T.copy(B[bx * columns, step * depth], b)
                for i in T.serial(rows * depth // (threads * wide)):
                    for v in T.vectorized(wide):
                        at = (i * threads + tx) * wide + v
                        row, column = by * rows + at // depth, step * depth + at % depth
                        own[v] = T.if_then_else(row < m, A[row, column], 0) if bounded else A[row, column]
                    for v in T.vectorized(wide):
                        at = (i * threads + tx) * wide + v
                        a[at // depth, at % depth] = own[v] * T.cast(at % depth // group + 1, "float16")
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, result)
            for i in T.serial(rows * columns // threads):
                row, column = (i * threads + tx) // columns, (i * threads + tx) % columns
                if by * rows + row < m:
                    C[by * rows + row, bx * columns + column] = result[row, column] + 1

    return main


@pytest.mark.gpu
@pytest.mark.parametrize(
    "m, n, k, rows, columns, depth, threads, wide, bounded",
    [
        (128, 128, 64, 128, 128, 32, 128, 8, False),
        (128, 128, 64, 128, 128, 32, 128, 8, True),
        (200, 64, 96, 64, 64, 32, 128, 4, True),
        (64, 64, 64, 64, 64, 64, 256, 2, False),
        (64, 64, 64, 64, 64, 64, 256, 2, True),
        (50, 96, 96, 48, 96, 48, 96, 8, True),
    ],
)
def test_copies(device, m, n, k, rows, columns, depth, threads, wide, bounded):
    a, b = (torch.randint(-4, 5, (size, k), device=device).half() for size in (m, n))
    c = copied(m, n, k, rows, columns, depth, threads, wide, bounded)(a, b)
    scales = torch.arange(k, device=device) % depth // 16 + 1
    assert torch.equal(c.double(), (a * scales).double() @ b.double().T + 1)


def sums(value, step):
    for _ in range(40):
        value = step(value)
    return value


@tilelang.jit
def many_paths(X):
    """X @ X^T of 64 x 32, where places and elements are sums of themselves, 2^40 paths each."""
    X: T.Tensor((64, 32), "float16")
    C = T.empty((64, 64), "float32")
    with T.Kernel(1, threads=128):
        x, y = T.alloc_shared((64, 32), "float16"), T.alloc_shared((64, 32), "float16")
        own, c = T.alloc_local([4], "float16"), T.alloc_fragment((64, 64), "float32")
        tx = T.get_thread_binding()
        T.copy(X, x)
        T.clear(c)
        for i in T.serial(4):
            for v in T.vectorized(4):
                at = (i * 128 + tx) * 4 + v
                place = sums(at, lambda n: n + n - n)
                own[v] = x[place // 32, place % 32]
            for v in T.serial(4):
                number = sums(own[v], lambda x: x * T.float16(0.5) + x * T.float16(0.5))
                y[((i * 128 + tx) * 4 + v) // 32, (tx * 4 + v) % 32] = number
        T.gemm(x, y, c, transpose_B=True)
        T.copy(c, C)
    return C


@pytest.mark.gpu
def test_many_paths(device):
    x = torch.randint(-4, 5, (64, 32), device=device).half()
    assert torch.equal(many_paths(x).double(), x.double() @ x.double().T)


@pytest.mark.skipif(bool(os.environ.get("TILERY_EMULATE")), reason="looks at the plan alone")
@pytest.mark.parametrize("bits, dtype, depth", [(4, "float16", 32), (2, "bfloat16", 64), (4, "bfloat16", 64)])
def test_plan(bits, dtype, depth):
    kernel = unpacked(512, 512, 512, 128, 128, depth, 128, bits=bits, dtype=dtype)
    module = kernel.traced(usual_layouts(kernel.prim_func.params)).module
    code = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in code.plan, code.plan
