"""Products of tiles on the general path: tensor cores for each type of operands, one kernel with two of them."""

import pytest
import torch
from gpu.test_matmul import assert_product
from language.attention import attention_with_bound
from language.tileon import more_kernels as kernels

from tilery import _native, triton
from tilery.triton import language as tl


@triton.jit
def product(A, B, C, M, N, K, sam, sak, sbk, sbn, OUT: tl.constexpr, PRECISION: tl.constexpr, ROUNDS: tl.constexpr,
            BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):  # fmt: skip
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    for _ in range(ROUNDS):  # no kernel that is one product and nothing else
        total = tl.zeros((BM, BN), dtype=OUT)
        for k in range(0, tl.cdiv(K, BK)):
            here = k * BK + depth
            inside_a, inside_b = (rows[:, None] < M) & (here[None, :] < K), (here[:, None] < K) & (columns[None, :] < N)
            a = tl.load(A + rows[:, None] * sam + here[None, :] * sak, mask=inside_a, other=0)
            b = tl.load(B + here[:, None] * sbk + columns[None, :] * sbn, mask=inside_b, other=0)
            total = tl.dot(a, b, total, input_precision=PRECISION, out_dtype=OUT)
        tl.store(C + rows[:, None] * N + columns[None, :], total, mask=(rows[:, None] < M) & (columns[None, :] < N))


KINDS = {
    "f16": (torch.float16, torch.float32, "ieee", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
    "bf16": (torch.bfloat16, torch.float32, "ieee", "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
    "tf32": (torch.float32, torch.float32, "tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"),
    "f32": (torch.float32, torch.float32, "ieee", "fma.rn.f32"),
    "f64": (torch.float64, torch.float64, "ieee", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"),
    "i8": (torch.int8, torch.int32, "ieee", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"),
}
OUT = {torch.float32: tl.float32, torch.float64: tl.float64, torch.int32: tl.int32}


def with_room(x):
    """The same numbers in memory that goes on for 16 bytes: compute-sanitizer takes a `cp.async` of fewer bytes for one of 16.
    What is there would show in the results."""
    poison = float("nan") if x.is_floating_point() else 127
    room = torch.full((x.numel() + 16 // x.element_size(),), poison, dtype=x.dtype, device=x.device)
    return room[: x.numel()].view(x.shape).copy_(x)


def multiply(kind, m, n, k, blocks, device, orders=(False, False)):
    """(compiled kernel, result, operands); `orders`: whether each operand's columns are contiguous instead of its rows."""
    dtype, out, precision, _ = KINDS[kind]
    shapes = [(k, m) if orders[0] else (m, k), (n, k) if orders[1] else (k, n)]
    fresh = [torch.randint(-128, 128, s, device=device) if kind == "i8" else torch.randn(s, device=device) for s in shapes]
    given = [with_room(x.to(dtype)) for x in fresh]
    a, b = (x.T if order else x for x, order in zip(given, orders, strict=True))
    c = torch.full((m, n), -7 if kind == "i8" else float("nan"), dtype=out, device=device)
    bm, bn, bk = blocks
    compiled = product[(triton.cdiv(m, bm), triton.cdiv(n, bn))](
        a, b, c, m, n, k, *a.stride(), *b.stride(), OUT=OUT[out], PRECISION=precision, ROUNDS=2, BM=bm, BN=bn, BK=bk
    )
    return compiled, c, a, b


def check(kind, c, a, b):
    if kind == "i8":
        return torch.testing.assert_close(c.cpu().long(), a.cpu().long() @ b.cpu().long(), rtol=0, atol=0)
    if kind in ("f16", "bf16"):
        return assert_product(c, a, b)
    # Operands of tf32 have 11 bits; sums as in assert_product.
    operands, unit = {"tf32": (2.0**-10, 2.0**-23), "f32": (0, 2.0**-24), "f64": (0, 2.0**-52)}[kind]
    exact, size = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    assert ((c.double() - exact).abs() <= ((a.shape[1] + 2) * unit + operands) * size).all()


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("kind", KINDS)
def test_assembles(kind, arch, assemble):
    compiled = multiply(kind, 128, 128, 64, (64, 64, 32), "cpu")[0]
    code = _native.compile(compiled.module, disjoint=True, texts=True, target=arch).asm
    if arch == "sm_90a" and kind in ("f16", "bf16", "tf32", "i8"):
        assert "wgmma.mma_async" in code
    else:
        assert KINDS[kind][3] in code and "cp.async.cg.shared.global" in code
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(code, arch)


@pytest.mark.parametrize("arch, product", [("sm_80", "mma.sync"), ("sm_90a", "wgmma.mma_async")])
def test_attention_assembles(arch, product, assemble):
    q = torch.randn(1, 64, 64).half()
    compiled = kernels.attention[(1, 1)](
        q, q, q, torch.empty_like(q), *q.stride(), 64, 0.125, CAUSAL=True, BLOCK_M=64, BLOCK_N=64, D=64, num_warps=4
    )
    code = _native.compile(compiled.module, disjoint=True, texts=True, target=arch).asm
    assert product in code and "0 bytes spill stores, 0 bytes spill loads" in assemble(code, arch)


@triton.jit
def products_of_8_bits(q_ptr, k_ptr, v_ptr, out_ptr, N, STEP: tl.constexpr, D: tl.constexpr):
    m, n, d = tl.program_id(0) * 64 + tl.arange(0, 64), tl.arange(0, STEP), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    total = tl.zeros((64, D), tl.float32)
    for start in range(0, N, STEP):
        k = tl.load(k_ptr + (start + n[:, None]) * D + d[None, :])
        v = tl.load(v_ptr + d[:, None] * N + start + n[None, :])
        total += tl.dot(tl.dot(q, k.T).to(q.dtype), v.T)
    tl.store(out_ptr + m[:, None] * D + d[None, :], total)


def multiply_8_bits(dtype, device):
    q, k, v = ((torch.randn(rows, columns, device=device) / 2).to(dtype) for rows, columns in ((128, 64), (128, 64), (64, 128)))
    out = torch.empty(128, 64, device=device)
    compiled = products_of_8_bits[(2,)](q, k, v, out, 128, 32, 64)
    weights = (q.double() @ k.double().T).float().to(dtype).double()
    exact, size = weights @ v.double().T, weights.abs() @ v.double().abs().T
    # A weight may round to its neighbour where f32 rounds its sum first.
    assert ((out.double() - exact).abs() <= torch.finfo(dtype).eps * size).all()
    return compiled


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_computed_factors_of_8_bits_assemble(dtype, arch, assemble):
    assemble(_native.compile(multiply_8_bits(dtype, "cpu").module, disjoint=True, texts=True, target=arch).asm, arch)


@pytest.mark.gpu
@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2], ids=str)
def test_computed_factors_of_8_bits_against_float64(dtype):
    multiply_8_bits(dtype, "cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("orders", [(False, False), (True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_against_float64(kind, orders):
    for shape, blocks in [
        ((256, 256, 256), (64, 64, 32)),
        ((100, 77, 45), (32, 64, 16)),
        ((130, 264, 136), (128, 128, 64)),
        ((33, 50, 1), (16, 16, 16)),
        ((64, 64, 512), (64, 32, 128)),
    ]:
        _, c, a, b = multiply(kind, *shape, blocks, "cuda", orders)
        check(kind, c, a, b)


@pytest.mark.gpu
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)  # f32 products are tf32 there
@pytest.mark.parametrize("n, d, blocks", [(512, 64, (128, 64)), (333, 128, (64, 32)), (50, 32, (32, 16))])
def test_attention_against_float64(dtype, causal, n, d, blocks):
    q, k, v = (torch.randn(3, n, d, device="cuda").to(dtype) for _ in range(3))
    out = torch.full_like(q, float("nan"))
    bm, bn = blocks
    kernels.attention[(triton.cdiv(n, bm), 3)](
        q, k, v, out, *q.stride(), n, d**-0.5, CAUSAL=causal, BLOCK_M=bm, BLOCK_N=bn, D=d, num_warps=4
    )
    expected, bound = attention_with_bound(q, k, v, block=bn, scale=d**-0.5, causal=causal)
    # The bound is for sums that round; tensor cores may cut off, which is twice that.
    assert ((out.double() - expected).abs() <= 2 * bound).all()
