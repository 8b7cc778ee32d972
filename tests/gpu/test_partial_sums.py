"""Products of 8-bit floats whose sums have all bits of f32: what a program adds itself, or asks for. Tensor cores keep 13."""

import pytest
import torch

from tilery import _native
from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, M_TILE: tl.constexpr, N_TILE: tl.constexpr, K_TILE: tl.constexpr, HOW: tl.constexpr):
    m, n = tl.program_id(0) * M_TILE + tl.arange(0, M_TILE), tl.program_id(1) * N_TILE + tl.arange(0, N_TILE)
    total = tl.zeros((M_TILE, N_TILE), tl.float32)
    for at in range(0, K, K_TILE):
        k = at + tl.arange(0, K_TILE)
        a, b = tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + n[None, :] * K + k[:, None])
        if HOW == "added":
            total += tl.dot(a, b)
        elif HOW == "fast":
            total = tl.dot(a, b, total)
        else:
            total = tl.dot(a, b, total, max_num_imprecise_acc=HOW)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def multiplied(a, b, how, tile):
    """(a @ b.T of two matrices of 8-bit floats, the kernel)."""
    (m, k), n = a.shape, b.shape[0]
    c = torch.full((m, n), float("nan"), device=a.device)
    compiled = product[(-(-m // tile[0]), -(-n // tile[1]))](a, b, c, m, n, k, *tile, HOW=how)
    return c, compiled


def small(device, m=256, n=256, k=256):
    return (torch.randn(rows, k, device=device).to(torch.float8_e4m3fn) for rows in (m, n))


@pytest.mark.parametrize("tile", [(64, 64, 64), (128, 128, 128), (128, 256, 128)], ids=str)
@pytest.mark.parametrize("how", ["added", "fast", 64])
def test_threads_add_each_sum(how, tile, assemble):
    """Each of 256 threads (of 64 rows: 128) has its part of the sums, and adds each part of k."""
    a, b = small("cpu")
    module = multiplied(a, b, how, tile)[1].module
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan
    additions = {"added": 1, "fast": 0, 64: tile[2] // 64}[how]
    threads = 128 * min(tile[0] // 64, 2)
    assert compiled.asm.count("add.f32") == tile[0] * tile[1] // threads * additions
    said = assemble(compiled.asm, "sm_90a")
    if tile[1] < 256 and how != 64:  # of 192 sums, or several products in a step, some addresses wait in memory
        assert "0 bytes spill stores, 0 bytes spill loads" in said, said


@pytest.mark.parametrize("how", ["added", 32])
def test_factors_that_threads_turn(how, assemble):
    """There are fewer registers for those that multiply, and fewer columns at a time."""

    @jit
    def row_major(a_ptr, b_ptr, c_ptr, K, HOW: tl.constexpr):
        m, n = tl.arange(0, 128), tl.arange(0, 256)
        total = tl.zeros((128, 256), tl.float32)
        for at in range(0, K, 128):
            k = at + tl.arange(0, 128)
            a, b = tl.load(a_ptr + m[:, None] * K + k[None, :]), tl.load(b_ptr + k[:, None] * 256 + n[None, :])
            if HOW == "added":
                total += tl.dot(a, b)
            else:
                total = tl.dot(a, b, total, max_num_imprecise_acc=HOW)
        tl.store(c_ptr + m[:, None] * 256 + n[None, :], total)

    a, b = torch.randn(128, 256).to(torch.float8_e4m3fn), torch.randn(256, 256).to(torch.float8_e4m3fn)
    module = row_major[(1,)](a, b, torch.empty(128, 256), 256, how).module
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan
    assert compiled.asm.count("add.f32") == 128 * (1 if how == "added" else 4)
    assemble(compiled.asm, "sm_90a")


def test_types_with_exact_sums_have_none_apart():
    @jit
    def half(a_ptr, c_ptr, K):
        m = tl.arange(0, 64)
        total = tl.zeros((64, 64), tl.float32)
        for at in range(0, K, 64):
            a = tl.load(a_ptr + m[:, None] * K + at + m[None, :])
            total = tl.dot(a, tl.trans(a), total, max_num_imprecise_acc=32)
        tl.store(c_ptr + m[:, None] * 64 + m[None, :], total)

    module = half[(1,)](torch.randn(64, 128).half(), torch.empty(64, 64), 128).module
    assert "partial_sums" not in module.text()


@pytest.mark.gpu
@pytest.mark.parametrize("tile", [(64, 64, 128), (128, 128, 128), (128, 256, 128), (16, 128, 128)], ids=str)
@pytest.mark.parametrize("how", ["added", 64, 32])
def test_small_terms_are_not_lost_on_a_gpu(how, tile):
    """448 * 448 and 4095 quarters: each is less than half of what 13 bits distinguish there, so that the tensor cores' sums stay
    1000 behind. Of the first part of k they lose at most 32."""
    a = torch.full((tile[0], 4096), 0.5).to(torch.float8_e4m3fn)
    a[:, 0] = 448.0
    b = torch.full((tile[1] + 64, 4096), 0.5).to(torch.float8_e4m3fn)
    b[:, 0] = 448.0
    b = b[: tile[1]].contiguous()
    c, _ = multiplied(a.to("cuda"), b.to("cuda"), how, tile)
    assert (c - (448.0 * 448.0 + 4095 / 4)).abs().max() <= 32.0


@pytest.mark.gpu
@pytest.mark.parametrize("how", ["added", "fast", 32, 128])
def test_right_on_a_gpu(how):
    a, b = small("cuda", 384, 512, 640)
    c, _ = multiplied(a, b, how, (128, 128, 128))
    exact = a.double() @ b.double().T
    # f32 sums of 640 products of 4 significant bits each, or sums of 13 bits: 2^-13 of the largest partial sum an addition of 20
    bound = 2**-13 * 20 * (a.double().abs() @ b.double().abs().T).max() if how == "fast" else 2**-12 * exact.abs().max() + 0.1
    assert (c.double() - exact).abs().max() <= bound
