"""What programs add to tiles under a lock, as where a gradient is the sum of what many programs multiply: on Hopper it takes
the block path, each element added in one step. Integers small enough that no sum is rounded, whatever the order."""

import re

import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl


@tileon.jit
def add(at, value, mask, lock):
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    before = tl.load(at, mask=mask, other=0.0)
    tl.store(at, value + before, mask=mask)
    tl.atomic_xchg(lock, 0)


@tileon.jit
def gradient(A, W, S, B, C, LOCKS, M, N, K, sm, MASKED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Programs of rows and of parts of k; each multiplies what it has computed of its part by all columns, block by block."""
    rows, deep = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BK + tl.arange(0, BK)
    numbers = rows % M
    a = tl.load(A + numbers[:, None] * K + deep[None, :], mask=deep[None, :] < K, other=0.0)
    w = tl.load(W + tl.arange(0, BK)[:, None] * BK + tl.arange(0, BK)[None, :])
    powers = tl.dot(a, w) + tl.load(S + numbers)[:, None]
    a = tl.exp2(tl.minimum(tl.maximum(powers, -1.0), 1.0)).to(tl.bfloat16)
    for n in range(0, tl.cdiv(N, BN)):
        columns = n * BN + tl.arange(0, BN)
        b = tl.load(B + deep[:, None] * N + columns[None, :], mask=(deep[:, None] < K) & (columns[None, :] < N), other=0.0)
        product = tl.dot(a, b).to(C.dtype.element_ty)
        inside = columns[None, :] < N
        if MASKED:
            inside = inside & (rows[:, None] < M)
        add(C + numbers[:, None] * sm + columns[None, :], product, inside, LOCKS + n)


def launched(device, dtype, m, n, k, masked=True):
    """(module, what is added to, what it should be)."""
    a, w, b = (torch.randint(-1, 2, shape, device=device).to(torch.bfloat16) for shape in ((m, k), (64, 64), (k, n)))
    start = torch.randint(-2, 3, (m,), device=device).float()
    memory = torch.full((m, n + 8), float("nan"), device=device).to(dtype)  # a row's end is nobody's
    c = memory[:, :n]
    c.copy_(torch.randint(-9, 10, (m, n), device=device))
    parts = torch.nn.functional.pad(a.double(), (0, -k % 64)).view(m, -1, 64) @ w.double()
    parts = (parts + start.double()[:, None, None]).clamp(-1, 1).exp2()
    exact = c.double() + parts.flatten(1)[:, :k] @ b.double()
    locks = torch.zeros(-(-n // 64), dtype=torch.int32, device=device)
    grid = (-(-m // 128), -(-k // 64))
    compiled = gradient[grid](a, w, start, b, c, locks, m, n, k, memory.stride(0), masked, BM=128, BN=64, BK=64)
    assert memory[:, n:].isnan().all()
    assert (locks == 0).all()
    return compiled.module, c, exact


@pytest.mark.parametrize("target", ["sm_90a", "sm_80"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_takes_the_path(dtype, target, assemble):
    compiled = _native.compile(launched("cpu", dtype, 256, 256, 128)[0], disjoint=True, texts=True, target=target)
    quick = target == "sm_90a" or dtype != torch.bfloat16  # else no instruction adds such numbers
    assert (": blocks consumers=" in compiled.plan) == quick, compiled.plan
    assert (".cas" in compiled.asm) != quick
    text = assemble(compiled.asm, target)
    assert not quick or "0 bytes spill stores, 0 bytes spill loads" in text
    assert "C75" not in text


def test_factors_in_front_of_a_loop_are_computed_once():
    module = launched("cpu", torch.float32, 256, 256, 128)[0]
    asm = _native.compile(module, disjoint=True, texts=True, target="sm_90a").asm
    product = asm.rindex("wgmma.mma_async")
    behind = re.findall(r"bra(?:\.uni)?\s+(\$\w+);", asm[product:])
    step = max(at for at in (asm.index(f"{label}:") for label in behind) if at < product)
    assert 0 < asm.rindex("ex2.approx", 0, product) < step


def test_rows_that_may_meet_keep_the_lock():
    module = launched("cpu", torch.float32, 256, 256, 128, masked=False)[0]
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ".cas" in compiled.asm


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(256, 256, 128), (1, 8, 64), (130, 72, 200), (100, 520, 328), (384, 64, 512)], ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16], ids=str)
def test_is_right(dtype, shape):
    if dtype == torch.bfloat16:  # whose sums must stay below 256
        shape = (*shape[:2], 16)
    _, c, exact = launched("cuda", dtype, *shape)
    assert (c.double() == exact).all()


@pytest.mark.gpu
def test_rows_that_begin_again_are_added_once():
    """All lanes of one place store the same sum."""
    _, c, exact = launched("cuda", torch.float32, 64, 64, 64, masked=False)
    assert (c.double() == exact).all()
