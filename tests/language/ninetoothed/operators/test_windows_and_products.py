"""Pooling, convolution, matrix products and attention."""

import functools
import math

import pytest
import torch
import torch.nn.functional as F
from language.ninetoothed.operators.arrangements import make, matmul, pooling

from tilery.ninetoothed import Symbol, Tensor
from tilery.ninetoothed import language as ntl


def largest(x, y):
    y = ntl.max(x, axis=1)  # noqa: F841


def average(x, count, y):
    y = ntl.sum(ntl.cast(x, ntl.float32), axis=1) / count  # noqa: F841


POOLS = [
    # kernel, strides, padding, dilation, ceil
    ((2, 2), (2, 2), (0, 0), (1, 1), False),
    ((3, 3), (2, 2), (0, 0), (1, 1), True),
    ((3, 2), (1, 2), (0, 0), (1, 1), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), False),
    ((2, 2), (1, 1), (0, 0), (2, 2), False),
    ((3, 3), (2, 2), (1, 1), (1, 1), True),
]


@pytest.mark.parametrize("kernel, strides, padding, dilation, ceil_mode", POOLS)
@pytest.mark.parametrize("shape", [(2, 3, 11, 9), (1, 1, 8, 8)])
def test_max_pool2d(shape, kernel, strides, padding, dilation, ceil_mode, device):
    x = torch.randn(shape, device=device)
    expected = F.max_pool2d(x, kernel, strides, padding, dilation, ceil_mode)
    y = torch.empty_like(expected)
    arrange = functools.partial(
        pooling, kernel=kernel, strides=strides, padding=padding, dilation=dilation, ceil_mode=ceil_mode
    )
    options = {"other": float("-inf")}
    make(arrange, largest, (Tensor(4, **options), Tensor(4)))(x, y)
    assert torch.equal(y, expected)


@pytest.mark.parametrize("kernel, strides, padding, dilation, ceil_mode", [p for p in POOLS if p[3] == (1, 1) and not p[4]])
def test_avg_pool2d(kernel, strides, padding, dilation, ceil_mode, device):
    x = torch.randn((2, 3, 11, 9), device=device)
    exact = F.avg_pool2d(x.double(), kernel, strides, padding, ceil_mode)
    y = torch.empty(exact.shape, device=device)

    def arrange(x, count, y):
        x, y = pooling(x, y, kernel, strides, padding, dilation, ceil_mode)
        return x, count, y

    make(arrange, average, (Tensor(4), Tensor(0), Tensor(4)))(x, float(math.prod(kernel)), y)
    torch.testing.assert_close(y.double(), exact, rtol=1e-5, atol=1e-6)


def product(a, b, c):
    total = ntl.zeros(c.shape, dtype=ntl.float32)
    for k in range(a.shape[0]):
        total = ntl.dot(a[k], b[k], total, input_precision="ieee")
    c = total  # noqa: F841


def product_plus(bias, a, b, beta, alpha, c):
    product(a, b, c)
    c = beta * bias + alpha * c


@pytest.mark.parametrize("m, n, k", [(33, 65, 17), (64, 32, 96), (1, 5, 3), (0, 8, 4), (8, 8, 0)])
def test_mm(m, n, k, device):
    a = torch.randn(2 * m, k, device=device)[::2]
    b, c = torch.randn(n, k, device=device).T, torch.empty(m, n, device=device)
    make(matmul, product, (Tensor(2), Tensor(2), Tensor(2)))(a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)


def test_addmm(device):
    bias, a, b = (torch.randn(s, device=device) for s in ((40, 50), (40, 30), (30, 50)))
    c = torch.empty(40, 50, device=device)

    def arrange(bias, a, b, beta, alpha, c):
        a, b, _ = matmul(a, b, c)
        return bias.tile((32, 32)), a, b, beta, alpha, c.tile((32, 32))

    tensors = (Tensor(2), Tensor(2), Tensor(2), Tensor(0), Tensor(0), Tensor(2))
    make(arrange, product_plus, tensors)(bias, a, b, 0.5, 2.0, c)
    exact = torch.addmm(bias.double(), a.double(), b.double(), beta=0.5, alpha=2.0)
    torch.testing.assert_close(c.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 3, 0])
def test_bmm(batch, device):
    a, b = torch.randn(batch, 20, 33, device=device), torch.randn(batch, 33, 40, device=device)
    c = torch.empty(batch, 20, 40, device=device)

    def arrange(a, b, c):
        c = c.tile((1, 16, 16))
        c.dtype = c.dtype.squeeze(0)
        a = a.tile((1, 16, 16)).tile((1, 1, -1)).expand((-1, -1, c.shape[2]))
        a.dtype = a.dtype.squeeze((0, 1))
        a.dtype.dtype = a.dtype.dtype.squeeze(0)
        b = b.tile((1, 16, 16)).tile((1, -1, 1)).expand((-1, c.shape[1], -1))
        b.dtype = b.dtype.squeeze((0, 2))
        b.dtype.dtype = b.dtype.dtype.squeeze(0)
        return a, b, c

    make(arrange, product, (Tensor(3), Tensor(3), Tensor(3)))(a, b, c)
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("stride, padding, dilation", [(1, 0, 1), (2, 1, 1), (1, 2, 2)])
def test_conv2d(stride, padding, dilation, device):
    n, c, h, w, k, r, s = 2, 3, 9, 8, 5, 3, 3
    x, filter = torch.randn(n, c, h, w, device=device), torch.randn(k, c, r, s, device=device)
    exact = F.conv2d(x.double(), filter.double(), stride=stride, padding=padding, dilation=dilation)
    y = torch.empty(exact.shape, device=device)

    def arrange(x, filter, y):
        x = x.pad(((0, 0), (0, 0), (padding, padding), (padding, padding)))
        x = x.tile(
            (1, *filter.shape[1:]),
            strides=(-1, -1, stride, stride),
            dilation=(1, 1, dilation, dilation),
            floor_mode=True,
        )
        x = x.squeeze(1)
        x.dtype = x.dtype.squeeze(0)
        x = x.ravel().flatten(end_dim=3).flatten(start_dim=1)
        filter = filter.flatten(start_dim=1).permute((1, 0))
        y = y.permute((0, 2, 3, 1)).flatten(end_dim=3)
        return matmul(x, filter, y, (16, 16, 16))

    options = {"shape_options": {"constexpr": True}}
    make(arrange, product, tuple(Tensor(4, **options) for _ in range(3)))(x, filter, y)
    torch.testing.assert_close(y.double(), exact, rtol=1e-5, atol=1e-4)


def attention(q, k, v, scale, causal, output):
    for head in range(q.shape[0]):
        query = ntl.cast(q[head], ntl.float32) * (scale * 1.4426950408889634)
        total = ntl.zeros((query.shape[0], v.dtype.shape[-1]), dtype=ntl.float32)
        highest = ntl.full((query.shape[0],), float("-inf"), dtype=ntl.float32)
        weight = ntl.full((query.shape[0],), 0.0, dtype=ntl.float32)
        for i in range(k.shape[0]):
            score = ntl.dot(query, ntl.trans(ntl.cast(k[i], ntl.float32)), input_precision="ieee")
            column = k[i].offsets(-2)[None, :]
            score = ntl.where(column < k.source.shape[-2], score, float("-inf"))
            if causal:
                row = q[head].offsets(-2)[:, None] + k.source.shape[-2] - q.source.shape[-2]
                score = ntl.where(row >= column, score, float("-inf"))
            now = ntl.maximum(highest, ntl.max(score, 1))
            share = ntl.exp2(score - now[:, None])
            factor = ntl.exp2(highest - now)
            weight = weight * factor + ntl.sum(share, 1)
            total = ntl.dot(share, ntl.cast(v[i], ntl.float32), total * factor[:, None], input_precision="ieee")
            highest = now
        output[head] = total / weight[:, None]


def arrange_attention(q, k, v, scale, causal, output, block_m=16, block_n=16):
    group = q.shape[-3] // k.shape[-3]

    def heads(t):
        t = t.tile((1, 1, block_m, -1)).tile((1, group, 1, 1))
        t.dtype = t.dtype.squeeze((0, 2, 3))
        t.dtype.dtype = t.dtype.dtype.squeeze((0, 1))
        return t

    own = heads(q)

    def keys(t):
        t = t.tile((1, 1, block_n, -1)).tile((1, 1, -1, -1)).expand((-1, -1, own.shape[-2], -1))
        t.dtype = t.dtype.squeeze((0, 1, 3))
        t.dtype.dtype = t.dtype.dtype.squeeze((0, 1))
        return t

    return own, keys(k), keys(v), scale, causal, heads(output)


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads, kv_heads, length, kv_length", [(4, 4, 33, 33), (6, 2, 20, 45), (4, 1, 1, 50)])
def test_attention_with_shared_heads(heads, kv_heads, length, kv_length, causal, dtype, device):
    q = torch.randn(2, heads, length, 32, device=device).to(dtype)
    k, v = (torch.randn(2, kv_heads, kv_length, 32, device=device).to(dtype) for _ in range(2))
    output = torch.empty_like(q)
    last = {"shape_options": (None, None, None, {"constexpr": True})}
    tensors = (*(Tensor(4, **last) for _ in range(3)), Tensor(0), Tensor(0, constexpr=True), Tensor(4, **last))
    make(arrange_attention, attention, tensors)(q, k, v, 32**-0.5, causal, output)
    mask = torch.ones(length, kv_length, dtype=torch.bool, device=device)
    mask = mask.tril(kv_length - length) if causal else mask
    group = heads // kv_heads
    exact = F.scaled_dot_product_attention(
        q.double(), k.double().repeat_interleave(group, 1), v.double().repeat_interleave(group, 1), attn_mask=mask
    )
    torch.testing.assert_close(output.double(), exact, rtol=2e-5, atol=1e-5 if dtype == torch.float32 else 2e-3)


def keep(slot, k, cache):
    row = slot
    cache[row] = k


def test_keys_go_into_a_cache(device):
    slots = torch.randperm(40, device=device)[:7]
    k, cache = torch.randn(7, 24, device=device), torch.zeros(40, 24, device=device)

    def arrange(slot, k, cache):
        k = k.tile((1, -1)).squeeze(1)
        k.dtype = k.dtype.squeeze(0)
        cache = cache.tile((1, -1)).tile((-1, -1)).squeeze(0).expand((k.shape[0],))
        cache.dtype = cache.dtype.squeeze(1)
        cache.dtype.dtype = cache.dtype.dtype.squeeze(0)
        return slot.tile((1,)), k, cache

    options = {"shape_options": {"constexpr": True}}
    make(arrange, keep, (Tensor(1), Tensor(2, **options), Tensor(2, **options)))(slots, k, cache)
    expected = torch.zeros_like(cache)
    expected[slots] = k
    assert torch.equal(cache, expected)


def test_products_of_chosen_sizes(device):
    """Block sizes of keywords, as libraries pass them."""
    sizes = [Symbol(name, constexpr=True) for name in ("BM", "BN", "BK")]
    a, b, c = torch.randn(50, 40, device=device), torch.randn(40, 30, device=device), torch.empty(50, 30, device=device)
    kernel = make(functools.partial(matmul, block=sizes), product, (Tensor(2), Tensor(2), Tensor(2)))
    for block in ((16, 16, 16), (64, 32, 8)):
        kernel(a, b, c, **dict(zip(("BM", "BN", "BK"), block)))
        torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=1e-5, atol=1e-4)
