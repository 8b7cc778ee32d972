"""The PTX of the languages' matmuls: Hopper's instructions, assembled without spills."""

import pytest
import torch
from gpu.programs import EXAMPLES, LANGUAGES

from tilery import _native, compat, tileon
from tilery.tileon import language as tl


@pytest.fixture(scope="module", params=LANGUAGES)
def compiled(request):
    module = LANGUAGES[request.param](256, 512, 128, torch.float16, "cpu")[0]
    return _native.compile(module, disjoint=True, texts=True, target="sm_90a")


def test_instructions(compiled):
    assert ": blocks consumers=2" in compiled.plan
    assert compiled.asm.count("wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16") == 4  # a stage of 64
    assert "cp.async.bulk.tensor.2d.shared::cluster" in compiled.asm
    assert "mbarrier.try_wait.parity" in compiled.asm
    assert compiled.asm.count("wgmma.wait_group.sync.aligned 1;") == 1  # one stage behind, inside the loop


def test_assembles_without_spills(compiled, assemble):
    said = assemble(compiled.asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in said, said


TILES = [(64, 64, 32), (64, 128, 64), (128, 128, 64), (256, 128, 64), (128, 192, 128), (128, 64, 16)]
FLAT = [(16, 64, 64), (16, 128, 128), (32, 64, 64), (48, 192, 64), (96, 128, 64)]


@pytest.mark.parametrize("blocks", TILES + FLAT)
def test_other_tiles_assemble(blocks, assemble):
    module = LANGUAGES["tilelang"](256, 384, 128, torch.bfloat16, "cpu", blocks)[0]
    said = assemble(_native.compile(module, disjoint=True, target="sm_90a", texts=True).asm, "sm_90a")
    assert "0 bytes spill stores, 0 bytes spill loads" in said, said


def test_few_rows_are_the_tensor_cores_columns():
    module = LANGUAGES["tilelang"](16, 256, 512, torch.bfloat16, "cpu", (16, 64, 64))[0]
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert compiled.plan.startswith("matmul_logic: blocks consumers=1 k=64 stages=22")
    assert "swapped: B^T A^T" in compiled.plan
    assert compiled.asm.count("wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16") == 4


@pytest.mark.parametrize("rows", [16, 32, 64, 128])
def test_products_rounded_and_computed_with(rows, assemble):
    """Sums are converted in pairs, before which the assembler serialises nothing."""

    @tileon.jit
    def kernel(a_ptr, b_ptr, c_ptr, K, alpha, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
        m, n, k = tl.arange(0, M), tl.program_id(0) * N + tl.arange(0, N), tl.arange(0, STEP)
        total = tl.zeros((M, N), tl.float32)
        for step in range(0, K, STEP):
            a = tl.load(a_ptr + m[:, None] * K + step + k[None, :])
            total += tl.dot(a, tl.load(b_ptr + n[None, :] * K + step + k[:, None]))
        tl.store(c_ptr + m[:, None] * 256 + n[None, :], (total.to(tl.float16) * alpha).to(tl.float16))

    a, b, c = torch.randn(rows, 512).half(), torch.randn(256, 512).half(), torch.empty(rows, 256).half()
    module = kernel[(4,)](a, b, c, 512, 0.7, rows, 64, 64).module
    # Sums of f32 and f64 may round to neighbouring f16 (2^-10), and the result is rounded again (2^-11); near 0 it is the
    # error of a sum of 512 products that counts.
    torch.testing.assert_close(c.double(), 0.7 * (a.double() @ b.double().T).half().double(), rtol=2**-9, atol=1e-4)
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert "wgmma" in compiled.asm and "cvt.rn.f16.f32" not in compiled.asm, compiled.plan
    assemble(compiled.asm, "sm_90a")


@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_factors_made_ahead_of_a_late_product(dtype, rounding, assemble):
    """Two products of a step take the same weights, in one rounding or in two; the second one runs under the next step."""

    @tileon.jit
    def kernel(
        q_ptr, k_ptr, v_ptr, x_ptr, y_ptr, N, ROUNDING: tl.constexpr, M: tl.constexpr, D: tl.constexpr, STEP: tl.constexpr
    ):
        m, n, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, STEP), tl.arange(0, D)
        q = tl.load(q_ptr + m[:, None] * D + d[None, :])
        x, y = tl.zeros((M, D), tl.float32), tl.zeros((M, D), tl.float32)
        for start in range(0, N, STEP):
            place = (start + n[:, None]) * D + d[None, :]
            k = tl.load(k_ptr + place)
            weights = tl.dot(q, k.T)
            x = tl.dot(weights.to(q.dtype, fp_downcast_rounding=ROUNDING), k, x)
            y = tl.dot(weights.to(q.dtype), tl.load(v_ptr + place), y)
        tl.store(x_ptr + m[:, None] * D + d[None, :], x.to(q.dtype))
        tl.store(y_ptr + m[:, None] * D + d[None, :], y.to(q.dtype))

    q, k, v = ((torch.randn(rows, 64) / 8).to(dtype) for rows in (128, 256, 256))
    x, y = torch.empty_like(q), torch.empty_like(q)
    module = kernel[(2,)](q, k, v, x, y, 256, rounding, 64, 64, 64).module
    weights, unit = (q.double() @ k.double().T).abs(), torch.finfo(dtype).eps
    for sums, other in ((x, k), (y, v)):
        exact, size = (q.double() @ k.double().T) @ other.double(), weights @ other.double().abs()
        assert ((sums.double() - exact).abs() <= 2 * unit * size).all()
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert "overlap=1" in compiled.plan, compiled.plan
    assemble(compiled.asm, "sm_90a")


@pytest.mark.parametrize("blocks", [(128, 256, 64), (16, 128, 64), (64, 256, 64)])
def test_blocks_of_a_cluster_share_the_steps(blocks, monkeypatch, assemble):
    module = LANGUAGES["tilelang"](blocks[0], 256, 4096, torch.bfloat16, "cpu", blocks)[0]
    monkeypatch.setenv("TILERY_SCHEDULE", "cluster=4")
    compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
    assert " cluster=4\n" in compiled.plan
    assert compiled.asm.count("barrier.cluster.arrive.aligned") == 2
    assert "ld.shared::cluster.v4" in compiled.asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


def test_stages_of_the_schedule(monkeypatch):
    module = LANGUAGES["tilelang"](256, 256, 128, torch.bfloat16, "cpu", (128, 128, 64))[0]
    monkeypatch.setenv("TILERY_SCHEDULE", "stages=3 group=1")
    plan = _native.compile(module, disjoint=True, texts=True, target="sm_90a").plan
    assert plan.startswith("matmul_logic: blocks consumers=1 k=64 stages=3 group=1 stage_output=2 instances=2\n")


def test_unknown_target():
    module = LANGUAGES["tilelang"](64, 64, 32, torch.bfloat16, "cpu", (64, 64, 32))[0]
    with pytest.raises(ValueError, match="there is no GPU target named 'sm_1'"):
        _native.compile(module, target="sm_1")


def test_repeated_rows_take_the_general_path():
    """Whether rows repeat is known at the launch: the code in boxes is for strides of at least 1."""
    program = compat.load(EXAMPLES / "tileon" / "matmul.py")
    b, c = torch.randn(128, 256).half(), torch.empty(128, 256).half()
    a = torch.randn(1, 128).half().expand(128, 128)
    strides = (*a.stride(), *b.stride(), *c.stride())
    kernel = program.matmul_kernel[(1,)](a, b, c, 128, 256, 128, *strides, BLOCK_M=128, BLOCK_N=256, BLOCK_K=64)
    for boxes in (True, False):
        compiled = _native.compile(kernel.module, disjoint=True, texts=True, target="sm_90a", boxes=boxes)
        assert ("cp.async.bulk.tensor" in compiled.asm) == boxes
        assert ("1 <= stride_am" in compiled.plan) == boxes
