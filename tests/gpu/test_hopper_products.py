"""Matrix products beyond the plain one on Hopper: which take its path, and that they are right."""

from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "hopper_programs.py")
F8 = (torch.float8_e4m3fn, torch.float8_e5m2)
KINDS = {"f16": torch.float16, "int8": torch.int8, "tf32": torch.float32, "e4m3": F8[0], "e5m2": F8[1]}


def values(rows, columns, dtype, device):
    if dtype == torch.int8:
        return torch.randint(-128, 128, (rows, columns), dtype=dtype, device=device)
    return torch.randn(rows, columns, device=device).to(dtype)


def linear(m, n, k, dtype, device, out=None, bias=False, residual=False, blocks=(128, 128, 64), group=8):
    """(module, result, x, w, bias, residual) of hopper_programs.linear."""
    out = out or (torch.int32 if dtype == torch.int8 else torch.float32)
    x, w = values(m, k, dtype, device), values(n, k, dtype, device)
    c = torch.full((m, n), 77, dtype=out, device=device)
    b, r = torch.randn(n, device=device), torch.randn(m, n, device=device).to(out)
    names = dict(zip(("BLOCK_M", "BLOCK_N", "BLOCK_K"), blocks, strict=True))
    names |= {"HAS_BIAS": bias, "HAS_RESIDUAL": residual, "PRECISION": "tf32" if dtype == torch.float32 else "ieee"}
    grid = (-(-m // blocks[0]) * -(-n // blocks[1]),)
    strides = (x.stride(0), w.stride(0), c.stride(0))
    compiled = PROGRAMS.linear[grid](x, w, c, b, r, m, n, k, 0.5, *strides, GROUP=group, **names)
    return compiled.module, c, x, w, b, r


def hopper(module):
    return _native.compile(module, disjoint=True, texts=True, target="sm_90a")


@pytest.mark.parametrize("kind", KINDS)
def test_types_take_the_path(kind, assemble):
    compiled = hopper(linear(256, 256, 128, KINDS[kind], "cpu")[0])
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    name = {"int8": "s32.s8.s8", "tf32": "f32.tf32.tf32", "f16": "f32.f16.f16"}.get(kind, f"f32.{kind}.{kind}")
    assert f".{name} " in compiled.asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


def test_a_refused_product_is_explained():
    module = linear(256, 256, 128, torch.float16, "cpu", blocks=(32, 32, 64))[0]
    assert "no blocks, for neither its rows nor its columns are 64, 128, 192, .. or 512" in hopper(module).plan


@pytest.mark.parametrize("program", ["batched", "swapped_axes"])
def test_grids_take_the_path(program):
    x, w, y = (torch.randn(2, 256, 256).bfloat16() for _ in range(3))
    if program == "swapped_axes":
        x, w, y = x[0], w[0], y[0]
    kernel = getattr(PROGRAMS, program)(*y.shape, 256, 128, 128, 64)
    kernel(x, w, y)
    assert ": blocks consumers=" in hopper(kernel._latest().module).plan


def scaled(m, n, k, rows, device):
    """(module, result, x, w, scales) of hopper_programs.scaled in e4m3."""
    x, w = values(m, k, F8[0], device), values(n, k, F8[0], device)
    scales = [torch.rand(size if rows else 1, device=device) + 0.5 for size in (m, n)]
    y = torch.full((m, n), 77, dtype=torch.float32, device=device)
    names = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 128, "ROWS": rows}
    compiled = PROGRAMS.scaled[(-(-m // 128) * -(-n // 128),)](x, w, y, *scales, m, n, k, k, k, n, **names)
    return compiled.module, y, x, w, scales


@pytest.mark.parametrize("rows", [False, True])
def test_scaled_products_take_the_path(rows, assemble):
    compiled = hopper(scaled(256, 256, 256, rows, "cpu")[0])
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


def bound(x, w, unit):
    """What summing in f32 and rounding operands to `unit` may cost: products of k terms, each sum off by 2^-23 of it at most."""
    return ((x.shape[1] + 2) * 2.0**-23 + 2 * unit) * (x.double().abs() @ w.double().abs().t())


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(256, 256, 128), (300, 400, 272), (130, 1008, 1040)], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_types(kind, shape):
    _, c, x, w, _, _ = linear(*shape, KINDS[kind], "cuda")
    exact = x.double() @ w.double().t()
    if kind == "int8":
        assert torch.equal(c.double(), exact)
    elif kind in ("e4m3", "e5m2"):
        # The tensor cores keep 13 bits behind the leading one of the largest of 32 products and the sum: each step may lose one.
        lost = (shape[2] / 32 + 2) * 2.0**-12
        assert ((c.double() - exact).abs() <= lost * (x.double().abs() @ w.double().abs().t())).all()
    else:
        assert ((c.double() - exact).abs() <= bound(x, w, 2.0**-10 if kind == "tf32" else 0)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("rows", [False, True])
def test_scaled_products(rows):
    _, y, x, w, (first, second) = scaled(300, 400, 272, rows, "cuda")
    scale = first.double()[:, None] * second.double()[None, :]
    lost = (272 / 32 + 2) * 2.0**-12  # as in test_types
    exact = x.double() @ w.double().t() * scale
    assert ((y.double() - exact).abs() <= scale * lost * (x.double().abs() @ w.double().abs().t()) + 2.0**-21 * exact.abs()).all()


@pytest.mark.gpu
@pytest.mark.parametrize("out", [torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize("bias, residual", [(True, False), (False, True), (True, True)])
def test_epilogues(out, bias, residual):
    _, c, x, w, b, r = linear(300, 400, 272, torch.float16, "cuda", out, bias, residual)
    exact = x.double() @ w.double().t()
    if bias:
        exact = torch.relu(0.5 * exact + b.double())
    if residual:
        exact += r.double()
    unit = 2.0**-11 if out == torch.float16 else 2.0**-23
    assert ((c.double() - exact).abs() <= bound(x, w, 0) + 2 * unit * (exact.abs() + 1)).all()


@pytest.mark.gpu
@pytest.mark.parametrize("group", [1, 3, 8, 64])
def test_orders_of_programs(group):
    _, c, x, w, _, _ = linear(2700, 2600, 80, torch.float16, "cuda", blocks=(64, 64, 64), group=group)
    assert ((c.double() - x.double() @ w.double().t()).abs() <= bound(x, w, 0)).all()


TILES = [(192, 128, 64), (256, 64, 64), (128, 256, 16), (64, 32, 32), (128, 160, 64), (64, 80, 32), (128, 208, 64)]
TILES += [(16, 64, 64), (32, 128, 64), (96, 128, 32)]  # multiplied the other way round


@pytest.mark.gpu
@pytest.mark.parametrize("blocks", TILES)
def test_uncommon_tiles(blocks):
    x, w = torch.randn(640, 336).bfloat16().cuda(), torch.randn(336, 400).bfloat16().cuda()
    y = torch.full((640, 400), 77).bfloat16().cuda()
    PROGRAMS.swapped_axes(640, 400, 336, *blocks)(x, w, y)
    exact = x.double() @ w.double()
    assert ((y.double() - exact).abs() <= bound(x, w.t(), 0) * 1.01 + 2.0**-8 * exact.abs()).all()


@pytest.mark.gpu
@pytest.mark.parametrize("m, n, blocks", [(128, 512, (128, 128, 64)), (64, 5120, (64, 128, 64)), (16, 2048, (16, 128, 64))])
def test_launches_of_few_programs_share_their_steps(m, n, blocks):
    x, w = torch.randn(m, 4096).bfloat16().cuda(), torch.randn(4096, n).bfloat16().cuda()
    y = torch.full((m, n), 77).bfloat16().cuda()
    kernel = PROGRAMS.swapped_axes(m, n, 4096, *blocks)
    kernel(x, w, y)
    exact, first = x.double() @ w.double(), y.clone()
    assert ((y.double() - exact).abs() <= bound(x, w.t(), 0) * 1.01 + 2.0**-8 * exact.abs()).all()
    for _ in range(20):  # in the same order each time
        kernel(x, w, y.fill_(77))
        assert (y == first).all()


@pytest.mark.gpu
def test_batches():
    x, w = torch.randn(3, 200, 144).bfloat16().cuda(), torch.randn(3, 144, 336).bfloat16().cuda()
    y = torch.full((3, 200, 336), 77).bfloat16().cuda()
    PROGRAMS.batched(3, 200, 336, 144, 128, 128, 64)(x, w, y)
    for i in range(3):
        exact = x[i].double() @ w[i].double()
        assert ((y[i].double() - exact).abs() <= bound(x[i], w[i].t(), 0) * 1.01 + 2.0**-8 * exact.abs()).all()


@pytest.mark.gpu
@pytest.mark.parametrize("n", [139, 76, 330, 264])
@pytest.mark.parametrize("out", [torch.float16, torch.float32], ids=str)
def test_what_lies_behind_rows_stays(n, out):
    """Rows of a wider tensor that end between multiples of 16 bytes."""
    x, w = values(300, 128, torch.float16, "cuda"), values(n, 128, torch.float16, "cuda")
    wide = torch.full((300, 512), 77, dtype=out, device="cuda")
    names = {"BLOCK_M": 128, "BLOCK_N": 128, "BLOCK_K": 64, "ROWS": False}
    one = torch.ones(1, device="cuda")
    PROGRAMS.scaled[(3 * -(-n // 128),)](x, w, wide, one, one, 300, n, 128, 128, 128, 512, **names)
    assert (wide[:, n:] == 77).all()
    exact = x.double() @ w.double().t()
    unit = 2.0**-11 if out == torch.float16 else 2.0**-23
    assert ((wide[:, :n].double() - exact).abs() <= bound(x, w, 0) + 2 * unit * (exact.abs() + 1)).all()
