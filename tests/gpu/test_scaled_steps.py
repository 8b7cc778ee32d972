"""Products whose steps are scaled before they are added: a step loads a line of scales, and has sums of its own."""

import pytest
import torch

from tilery import _native
from tilery.tileon import jit
from tilery.tileon import language as tl


@jit
def scaled(A, B, SA, SB, C, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, COLUMNS: tl.constexpr):
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, tl.cdiv(K, BK)):
        k = step * BK + tl.arange(0, BK)
        a = tl.load(A + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + n[None, :] * K + k[:, None], mask=(n[None, :] < N) & (k[:, None] < K), other=0.0)
        product = tl.dot(a, b)
        rows = tl.load(SA + m * tl.cdiv(K, BK) + step, mask=m < M, other=0.0)
        if COLUMNS:
            columns = tl.load(SB + n * tl.cdiv(K, BK) + step, mask=n < N, other=0.0)
            total += product * rows[:, None] * columns[None, :]
        else:
            total += product * (rows * tl.load(SB + step))[:, None]
    tl.store(C + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def operands(m, n, k, steps, columns, dtype, device):
    """Integers and powers of two: all sums are exact."""
    g = torch.Generator().manual_seed(m + n + k)
    a, b = (torch.randint(-3, 4, (rows, k), generator=g, device="cpu").float() for rows in (m, n))
    sa = 2.0 ** torch.randint(-2, 3, (m, steps), generator=g, device="cpu")
    sb = 2.0 ** torch.randint(-2, 3, (n if columns else 1, steps), generator=g, device="cpu")
    each = -(-k // steps)
    parts = [(a[:, i * each : (i + 1) * each].double() @ b[:, i * each : (i + 1) * each].double().T) for i in range(steps)]
    wanted = sum(part * sa[:, i, None].double() * sb[:, i].double()[None, :] for i, part in enumerate(parts))
    return [x.to(device) for x in (a.to(dtype), b.to(dtype), sa.float(), sb.float())], wanted


@pytest.mark.gpu
@pytest.mark.parametrize("columns", [False, True], ids=["row and block", "row and column"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn], ids=["bf16", "fp8"])
@pytest.mark.parametrize("tile", [(64, 128), (128, 128), (64, 64)], ids=str)
def test_scaled_steps(tile, dtype, columns):
    for m, n, k in [(128, 256, 512), (100, 136, 256), (1, 16, 128)]:
        (a, b, sa, sb), wanted = operands(m, n, k, k // 128, columns, dtype, "cuda")
        c = torch.full((m, n), float("nan"), device="cuda")
        scaled[(-(-m // tile[0]), -(-n // tile[1]))](a, b, sa, sb, c, m, n, k, *tile, 128, columns)
        assert (c.cpu().double() == wanted).all()


@pytest.mark.parametrize("tile", [(64, 128), (128, 128), (64, 64)], ids=str)
def test_registers_suffice(tile, assemble):
    (a, b, sa, sb), _ = operands(256, 256, 512, 4, False, torch.float8_e4m3fn, "cpu")
    c = torch.empty(256, 256)
    module = scaled[(256 // tile[0], 256 // tile[1])](a, b, sa, sb, c, 256, 256, 512, *tile, 128, False).module
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    said = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in said, said
    body = compiled.asm[: compiled.asm.index("wgmma.mma_async")]
    assert body.count("ld.global") >= 2, "scales of a step are loaded before its product"
