"""Products of weights packed in words, as programs of quantised models write them: by shifts, joins, groups of scales."""

import pytest
import torch
from ptx import PTXAS, assemble

from tilery import _native, tileon
from tilery.tileon import language as tl


@tileon.jit
def by_shifts(A, B, S, Z, C, M, N, K, P, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Eight numbers of k in a word (GPTQ); zeros are packed along n, one of a group each."""
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    a_ptrs, b_ptrs = A + rm[:, None] * K + rk[None, :], B + (rk[:, None] // 8) * P + rn[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a, words = tl.load(a_ptrs, mask=rm[:, None] < M, other=0.0), tl.load(b_ptrs)
        group = k * BK // GROUP
        scales, zeros = tl.load(S + group * N + rn), tl.load(Z + group * (N // 8) + rn // 8)
        zeros = (zeros >> (rn % 8) * 4) & 15
        b = (((words >> (rk % 8)[:, None] * 4) & 15) - zeros[None, :]).to(tl.float16) * scales[None, :]
        sums = tl.dot(a, b, sums)
        a_ptrs += BK
        b_ptrs += BK // 8 * P
    tl.store(C + rm[:, None] * N + rn[None, :], sums, mask=rm[:, None] < M)


@tileon.jit
def by_groups(A, B, S, Z, C, M, N, K, P, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The same words; several groups in a step, and k that ends where it likes."""
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        rk = k * BK + tl.arange(0, BK)
        a = tl.load(A + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0.0)
        words = tl.load(B + (rk[:, None] // 8) * P + rn[None, :], mask=rk[:, None] < K, other=0)
        scales = tl.load(S + (rk[:, None] // GROUP) * N + rn[None, :], mask=rk[:, None] < K, other=0.0)
        b = ((words >> (rk % 8)[:, None] * 4) & 15).to(tl.float16) * scales
        sums = tl.dot(a, b, sums)
    tl.store(C + rm[:, None] * N + rn[None, :], sums, mask=rm[:, None] < M)


@tileon.jit
def by_joins(A, B, S, Z, C, M, N, K, P, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Two signed numbers of k in a byte, [N, K / 2]; one scale of a group and row."""
    rm, rn = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(A + rm[:, None] * K + k * BK + tl.arange(0, BK)[None, :], mask=rm[:, None] < M, other=0.0)
        pairs = tl.load(B + rn[:, None] * P + k * (BK // 2) + tl.arange(0, BK // 2)[None, :])
        b = tl.join((pairs << 4) >> 4, pairs >> 4).reshape(BN, BK).to(tl.float16)
        scales = tl.load(S + rn * (K // GROUP) + k * BK // GROUP)
        sums = tl.dot(a, (b * scales[:, None]).T, sums)
    tl.store(C + rm[:, None] * N + rn[None, :], sums, mask=rm[:, None] < M)


@tileon.jit
def persistently(A, B, S, Z, C, M, N, K, P, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Programs that loop over tiles; words that hold eight numbers of n (AWQ)."""
    across, tiles = N // BN, tl.cdiv(M, BM) * (N // BN)
    for tile in range(tl.program_id(0), tiles, tl.num_programs(0)):
        rm, rn = tile // across * BM + tl.arange(0, BM), tile % across * BN + tl.arange(0, BN)
        words_of = tile % across * (BN // 8) + tl.arange(0, BN) // 8
        sums = tl.zeros((BM, BN), tl.float32)
        for k in range(0, tl.cdiv(K, BK)):
            rk = k * BK + tl.arange(0, BK)
            a = tl.load(A + rm[:, None] * K + rk[None, :], mask=rm[:, None] < M, other=0.0)
            words = tl.load(B + rk[:, None] * P + words_of[None, :])
            scales = tl.load(S + k * BK // GROUP * N + rn)
            b = ((words >> (tl.arange(0, BN) % 8 * 4)[None, :]) & 15).to(tl.float16) * scales[None, :]
            sums = tl.dot(a, b, sums)
        tl.store(C + rm[:, None] * N + rn[None, :], sums, mask=rm[:, None] < M)


@tileon.jit
def in_parts(A, B, S, Z, C, M, N, K, P, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Two programs share k and add their sums in memory."""
    rm, rn, rk = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
    part = tl.program_id(2)
    sums = tl.zeros((BM, BN), tl.float32)
    for step in range(0, K // (2 * BK)):
        k = 2 * step + part
        a = tl.load(A + rm[:, None] * K + (k * BK + rk)[None, :], mask=rm[:, None] < M, other=0.0)
        words = tl.load(B + (k * (BK // 8) + rk // 8)[:, None] * P + rn[None, :])
        scales = tl.load(S + k * BK // GROUP * N + rn)
        b = ((words >> (rk % 8)[:, None] * 4) & 15).to(tl.float16) * scales[None, :]
        sums = tl.dot(a, b, sums)
    tl.atomic_add(C + rm[:, None] * N + rn[None, :], sums, mask=rm[:, None] < M, sem="relaxed")


def spread(words, count, dim, signed=False):
    """The `count` numbers of 4 bits in each word, along a dimension."""
    numbers = torch.stack([(words >> 4 * i) & 15 for i in range(count)], dim + 1).flatten(dim, dim + 1)
    return torch.where(numbers > 7, numbers - 16, numbers) if signed else numbers


def operands(kernel, m, n, k, group):
    g = torch.Generator(device="cpu").manual_seed(m + n + k)
    make = {"generator": g, "device": "cpu"}
    a = torch.randint(-3, 4, (m, k), **make).half()
    if kernel is by_joins:
        b = torch.randint(-128, 128, (n, k // 2), dtype=torch.int8, **make)
        s = torch.randint(1, 4, (n, k // group), **make).half()
        return a, b, s, s, (spread(b, 2, 1, signed=True).double() * s.double().repeat_interleave(group, 1)).T
    shape = (k, n // 8) if kernel is persistently else (k // 8, n)
    b = torch.randint(-(2**31), 2**31, shape, dtype=torch.int32, **make)
    groups = -(-k // group)
    s = torch.randint(1, 4, (groups, n), **make).half()
    z = torch.randint(-(2**31), 2**31, (groups, n // 8), dtype=torch.int32, **make)
    zeros = spread(z, 8, 1).repeat_interleave(group, 0)[:k] if kernel is by_shifts else 0
    numbers = spread(b, 8, 1 if kernel is persistently else 0) - zeros
    return a, b, s, z, numbers.double() * s.double().repeat_interleave(group, 0)[:k]


SIZES = [  # m, n, k, group, tiles
    (128, 128, 128, 64, (128, 128, 64)),
    (100, 128, 192, 64, (64, 64, 64)),
    (256, 64, 128, 128, (256, 64, 64)),
    (16, 256, 128, 64, (16, 128, 64)),
    (72, 256, 256, 128, (64, 256, 128)),
    (64, 64, 288, 16, (64, 64, 16)),  # rows of bytes that are no multiple of 16 apart
]


@pytest.mark.gpu
def takes(kernel, sizes):
    """Each of two parts has whole steps."""
    return kernel is not in_parts or sizes[2] % (2 * sizes[-1][2]) == 0


KERNELS = [by_shifts, by_joins, persistently, in_parts]


@pytest.mark.parametrize(
    "kernel, sizes",
    [pytest.param(k, s, id=f"{k.__name__}-{s}") for k in KERNELS for s in SIZES if takes(k, s)],
)
def test_products(device, kernel, sizes):
    check(device, kernel, *sizes)


@pytest.mark.gpu
@pytest.mark.parametrize("sizes", SIZES[:3], ids=str)
def test_scales_that_are_loaded_a_step_ahead(device, sizes, monkeypatch):
    """As where shared memory holds two slots."""
    monkeypatch.setenv("TILERY_SCHEDULE", "ahead=1")
    check(device, by_joins, *sizes)


@pytest.mark.gpu
@pytest.mark.parametrize("group", [8, 16, 32, 64, 24, 128], ids=str)
@pytest.mark.parametrize("k", [128, 120, 200])
def test_groups_of_any_size(device, group, k):
    check(device, by_groups, 64, 128, k, group, (64, 128, 64))


@pytest.mark.parametrize("kernel, group", [(by_shifts, 64), (by_shifts, 128), (by_joins, 64), (persistently, 64), (in_parts, 64)])
def test_they_are_unpacked_in_registers(kernel, group):
    """Scales that are no box threads load: in the step, where other warpgroups work meanwhile."""
    module = check("cpu", kernel, 128, 128, 128, group, (128, 128, 64))
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert "b, unpacked in registers, of: box of B" in compiled.plan, compiled.plan
    assert "ahead=1" not in compiled.plan, compiled.plan
    assert "wgmma.mma_async" in compiled.asm
    assert kernel is not by_joins or not PTXAS or "0 bytes spill stores" in assemble(compiled.asm, "sm_90a")


def check(device, kernel, m, n, k, group, tiles):
    *inputs, weights = operands(kernel, m, n, k, group)
    c = torch.full((m, n), 0.0 if kernel is in_parts else float("nan"), device=device)
    grid, pitch = (-(-m // tiles[0]), n // tiles[1], 2), inputs[1].stride(0)
    grid = (3,) if kernel is persistently else grid if kernel is in_parts else grid[:2]
    compiled = kernel[grid](*(x.to(device) for x in inputs), c, m, n, k, pitch, group, *tiles)
    assert torch.equal(c.cpu().double(), inputs[0].double() @ weights)
    return compiled.module
