"""Products whose kernels tell others what they have written, or wait for what others write: what orders that in a GPU's code."""

import pytest
import torch

from tilery import _native, tileon
from tilery.tileon import language as tl


@tileon.jit
def told(a, b, c, flags, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, ks = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + (k + ks)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty))
    tl.atomic_xchg(flags + tl.program_id(0), 1, sem="release", scope="sys")


@tileon.jit
def waiting(a, b, c, flags, K, N, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, ks = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    while tl.atomic_cas(flags + tl.program_id(0), 1, 0, sem="acquire", scope="sys") != 1:
        pass
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
        y = tl.load(b + (k + ks)[:, None] * N + columns[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty))


@tileon.jit
def waiting_for_tiles(
    a, b, c, flags, K, N, WHEN: tl.constexpr, SCOPE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """A persistent kernel, whose product of a tile another role would run ahead of."""
    for tile in range(tl.program_id(0), 2, tl.num_programs(0)):
        rows, columns, ks = tile * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
        if WHEN == "before":
            while tl.atomic_cas(flags + tile, 1, 0, sem="acquire", scope=SCOPE) != 1:
                pass
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
            y = tl.load(b + (k + ks)[:, None] * N + columns[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty))
        if WHEN == "behind":
            while tl.atomic_cas(flags + tile, 1, 0, sem="acquire", scope=SCOPE) != 1:
                pass


def launch(kernel, device, **options):
    """The kernel's module, operands, result and flags."""
    a, b = (torch.randn(256, 256, device=device).to(torch.bfloat16) for _ in range(2))
    c, flags = torch.empty_like(a), torch.full((2,), int(kernel is not told), dtype=torch.int32, device=device)
    compiled = kernel[(2,)](a, b, c, flags, 256, 256, BM=128, BN=256, BK=64, num_warps=8, **options)
    return compiled.module, a, b, c, flags


def instructions(module, target):
    text = _native.compile(module, disjoint=True, texts=True, target=target).asm
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_results_are_stored_before_they_are_told(target):
    """By all threads' stores, which the copy engine's would not be, then a barrier, then one thread's release."""
    lines = instructions(launch(told, "cpu")[0], target)
    release = next(i for i, line in enumerate(lines) if ".release" in line and "atom.global.sys" in line)
    stored = [i for i, line in enumerate(lines) if "st.global" in line]
    assert stored and not any("bulk.tensor" in line and ".global.shared" in line for line in lines)
    assert any("bar.sync" in line or "barrier.sync" in line for line in lines[max(stored) + 1 : release])


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_operands_are_read_behind_the_wait(target):
    """By the threads that have waited: not by the copy engine, for which an acquire orders nothing."""
    lines = instructions(launch(waiting, "cpu")[0], target)
    acquire = next(i for i, line in enumerate(lines) if "atom.global.acquire.sys" in line)
    read = [i for i, line in enumerate(lines) if "cp.async" in line and "shared.global" in line or "ld.global.v" in line]
    assert read and min(read) > acquire and not any("bulk" in line or "ld.global.nc" in line for line in lines)
    assert any("bar.sync" in line for line in lines[acquire : min(read)])


@tileon.jit
def copied(x, out, flags, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.atomic_xchg(flags, 1, sem="release", scope="sys")  # now x may be written by others
    tl.store(out + i, value)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_what_is_read_before_a_signal(target):
    compiled = copied[(1,)](torch.zeros(1024), torch.zeros(1024), torch.zeros(1, dtype=torch.int32), BLOCK=1024)
    lines = instructions(compiled.module, target)
    release = next(i for i, line in enumerate(lines) if "atom.global.sys.release" in line)
    read = [i for i, line in enumerate(lines) if "ld.global" in line]
    assert read and max(read) < release
    assert any("bar.sync" in line for line in lines[max(read) : release])


TILES = [("before", "gpu", False), ("before", "sys", False), ("behind", "gpu", True), ("behind", "sys", False)]


@pytest.mark.parametrize("when, scope, runs_ahead", TILES)
def test_no_role_runs_ahead_of_a_wait(when, scope, runs_ahead):
    """Factors are loaded ahead where only programs of the kernel itself are waited for, behind the product (stream-K)."""
    module = launch(waiting_for_tiles, "cpu", WHEN=when, SCOPE=scope)[0]
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert (": blocks consumers=" in compiled.plan) == runs_ahead, compiled.plan
    assert "ld.global.nc" not in compiled.asm


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", [told, waiting], ids=["told", "waiting"])
def test_results(kernel):
    _, a, b, c, flags = launch(kernel, "cuda")
    # Sums of f32, rounded once to bf16: by 2^-9 of the number at most.
    torch.testing.assert_close(c.double(), a.double() @ b.double(), rtol=2**-8, atol=2**-8)
    assert flags.tolist() == [int(kernel is told)] * 2
