"""Weights packed into bytes and words along K: several lanes take one element, of which no more is read than there is."""

import pytest
import torch
from language.tileon.test_every_second import at_the_end_of_a_page

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def unpacked(packed, out, n, first, BITS: tl.constexpr, IN: tl.constexpr, BLOCK: tl.constexpr):
    """`first`: a number that only the launch knows, so that groups of lanes may begin anywhere."""
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    word = tl.load(packed + k // IN).to(tl.int32)
    tl.store(out + k, (word >> (k % IN * BITS)) & ((1 << BITS) - 1))
    moved = k + first
    word = tl.load(packed + moved // IN, mask=moved < n, other=0).to(tl.int32)
    tl.store(out + n + k, (word >> (moved % IN * BITS)) & ((1 << BITS) - 1), mask=moved < n)


@tileon.jit
def product(a, packed, scales, c, M, N, K, BITS: tl.constexpr, IN: tl.constexpr, GROUP: tl.constexpr, BM: tl.constexpr,
            BN: tl.constexpr, BK: tl.constexpr, MASKED: tl.constexpr):  # fmt: skip
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m < M)[:, None] & (k < K)[None, :], other=0.0)
        place = packed + n[None, :] * (K // IN) + (k // IN)[:, None]
        if MASKED:
            words = tl.load(place, mask=(n < N)[None, :] & (k < K)[:, None], other=0).to(tl.int32)
        else:
            words = tl.load(place).to(tl.int32)
        weights = (words >> (k % IN * BITS)[:, None]) & ((1 << BITS) - 1)
        scale = tl.load(scales + n * (K // GROUP) + start // GROUP, mask=n < N, other=0.0)
        weights = (weights.to(tl.float32) - (1 << BITS) / 2) * scale[None, :]
        total += tl.dot(x, weights.to(x.dtype))
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m < M)[:, None] & (n < N)[None, :])


PACKED = [(4, 2, torch.uint8), (2, 4, torch.uint8), (4, 8, torch.int32), (8, 4, torch.int32)]


def packed_of(numbers, bits, count, dtype):
    parts = numbers.view(*numbers.shape[:-1], -1, count)
    words = sum(parts[..., i].long() << (bits * i) for i in range(count))
    return words.to(torch.uint8) if dtype == torch.uint8 else (words - (words >> 31 << 32)).to(torch.int32)


@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("first", [0, 1, 5])
@pytest.mark.parametrize("bits, count, dtype", PACKED)
def test_unpacked(device, bits, count, dtype, first):
    n = 512
    numbers = torch.randint(0, 1 << bits, (n,))
    words = packed_of(numbers, bits, count, dtype)
    words, memory = at_the_end_of_a_page(words) if device == "cpu" else (words.to(device), None)
    out = torch.full((2 * n,), -1, dtype=torch.int32, device=device)
    unpacked[(n // 128,)](words, out, n, first, bits, count, 128)
    assert torch.equal(out[:n].cpu().long(), numbers)
    assert torch.equal(out[n : 2 * n - first].cpu().long(), numbers[first:])
    assert (out[2 * n - first :] == -1).all()
    del words
    assert memory is None or len(memory)


@pytest.mark.pairs
@pytest.mark.usefixtures("on_the_cpu")
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("M, masked", [(1, False), (13, True), (40, False)])
@pytest.mark.parametrize("bits, count, kind", PACKED)
def test_products(device, bits, count, kind, M, masked, dtype):
    N, K, group = (70 if masked else 64), 192, 64
    numbers = torch.randint(0, 1 << bits, (N, K))
    a, scales = torch.randn(M, K).to(dtype), torch.rand(N, K // group) / 8
    words = packed_of(numbers, bits, count, kind).flatten()
    words, memory = at_the_end_of_a_page(words) if device == "cpu" else (words.to(device), None)
    c = torch.full((M * N + 64,), -77.0, device=device)
    grid = (-(-M // 16), -(-N // 32))
    launch = (a.to(device), words, scales.to(device), c, M, N, K, bits, count, group, 16, 32, 64, masked)
    product[grid](*launch)
    weights = ((numbers - (1 << bits) / 2).float() * scales.repeat_interleave(group, 1)).to(dtype).double()
    exact, sizes = a.double() @ weights.t(), a.double().abs() @ weights.abs().t()
    assert (c[M * N :] == -77.0).all()
    assert ((c[: M * N].cpu().double().view(M, N) - exact).abs() <= sizes * K * 2.0**-23 + 2.0**-30).all()
    del words, launch
    assert memory is None or len(memory)
