"""Products with batches on Hopper: which spellings take its path, why others do not, and that all are right."""

import re
from pathlib import Path

import pytest
import torch

from tilery import _native, compat

PROGRAMS = compat.load(Path(__file__).parent / "batched_programs.py")
BLOCKS = (128, 128, 64)
BY_NAME = {program.__name__: program for program in PROGRAMS.POINTERS}
REFUSED = {program.__name__: (program, reason) for program, reason in PROGRAMS.REFUSED.items()}


def hopper(module):
    return _native.compile(module, disjoint=True, texts=True, target="sm_90a")


def operands(batches, m, n, k, device, transposed=False):
    """A, B and a result that is spoilt, in bf16. transposed: the columns of B are contiguous."""
    a = torch.randn(batches, m, k, device=device).bfloat16()
    b = torch.randn(*((batches, n, k) if transposed else (batches, k, n)), device=device).bfloat16()
    return a, b.mT if transposed else b, torch.full((batches, m, n), 77, dtype=torch.bfloat16, device=device)


def launch(name, a, b, c, blocks=BLOCKS):
    """The launch of a pointer program; gives the module."""
    program = BY_NAME[name] if name in BY_NAME else REFUSED[name][0]
    (batches, m, k), n = a.shape, b.shape[2]
    rows, columns = -(-m // blocks[0]), -(-n // blocks[1])
    grid = {
        "three_axes": (columns, rows, batches),
        "flattened": (rows * columns * batches,),
        "masked_batch": (rows * columns, batches + 3),
    }.get(name, (rows * columns, batches))
    names = dict(zip(("BM", "BN", "BK"), blocks, strict=True))
    return program[grid](a, b, c, batches, m, n, k, *a.stride(), *b.stride(), *c.stride(), **names).module


def check(a, b, c):
    """c is a @ b: sums in f32, rounded once to bf16."""
    exact = a.double() @ b.double()
    bound = (a.shape[-1] + 2) * 2.0**-23 * (a.double().abs() @ b.double().abs()) * 1.01 + 2.0**-8 * exact.abs()
    assert ((c.double() - exact).abs() <= bound).all()


@pytest.mark.parametrize("name", BY_NAME)
def test_spellings_take_the_path(name, assemble):
    compiled = hopper(launch(name, *operands(2, 200, 144, 136, "cpu")))
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    for operand in "abc":
        assert f"  {operand}: box of {operand}, rank 3: [" in compiled.plan, compiled.plan
    assert "cp.async.bulk.tensor.3d.shared::cluster" in compiled.asm
    assert "cp.async.bulk.tensor.3d.global.shared::cta" in compiled.asm
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")


def test_columns_in_one_piece_take_the_path():
    plan = hopper(launch("moved_pointers", *operands(2, 200, 144, 136, "cpu", transposed=True))).plan
    assert "of [.., N, K], strides [bb, bn, 1]" in plan, plan


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_explained(name):
    plan = hopper(launch(name, *operands(2, 128, 128, 64, "cpu"))).plan
    how = rf"\n  a: (copied|fetched) by threads, .* at a time along dimension [01], for {re.escape(REFUSED[name][1])}\n"
    assert re.search(how, plan), plan


def test_a_pointer_between_multiples_of_16_bytes_is_explained():
    a, b, c = operands(2, 128, 128, 64, "cpu")
    moved = torch.empty(a.numel() + 1, dtype=a.dtype)[1:].view(a.shape)
    plan = hopper(launch("moved_pointers", moved, b, c)).plan
    assert "its pointer is not known to be a multiple of 16 bytes" in plan


def heads(device, m=200, n=144, k=136):
    """(module, X, W, Y) of TileLang's program over heads of batches."""
    x, w = torch.randn(2, 3, m, k, device=device).bfloat16(), torch.randn(2, 3, k, n, device=device).bfloat16()
    y = torch.full((2, m, 3, n), 77, dtype=torch.bfloat16, device=device)
    kernel = PROGRAMS.four_dimensions(2, 3, m, n, k, *BLOCKS)
    kernel(x, w, y)
    return kernel._latest().module, x, w, y


def arranged(device, batches=2, m=200, n=144, k=136):
    a, b, c = operands(batches, m, n, k, device)
    PROGRAMS.arranged(a, b, c)
    return list(PROGRAMS.arranged.compiled.values())[-1].module, a, b, c


def test_other_languages_take_the_path():
    assert hopper(heads("cpu")[0]).plan.count(", rank 4: [") == 3
    assert hopper(arranged("cpu")[0]).plan.count(", rank 3: [") == 3


def float8_bits(m, n, k, device):
    """(module, X, W, Y) of bytes that hold e4m3."""
    x, w = (torch.randn(rows, k, device=device).to(torch.float8_e4m3fn) for rows in (m, n))
    y = torch.full((m, n), 77, dtype=torch.float32, device=device)
    grid = (-(-m // 128) * -(-n // 128),)
    bits = (x.view(torch.int8), w.view(torch.int8))
    compiled = PROGRAMS.bits_of_float8[grid](*bits, y, m, n, k, k, k, n, BM=128, BN=128, BK=128)
    return compiled.module, x, w, y


def test_bytes_that_are_numbers_take_the_path():
    compiled = hopper(float8_bits(256, 256, 256, "cpu")[0])
    assert ": blocks consumers=" in compiled.plan, compiled.plan
    assert "f32.e4m3.e4m3" in compiled.asm


SIZES = [(3, 200, 144, 136), (1, 128, 256, 192), (5, 640, 264, 72), (2, 8, 8, 8)]


@pytest.mark.gpu
@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", BY_NAME)
def test_spellings(name, size):
    a, b, c = operands(*size, "cuda")
    launch(name, a, b, c)
    check(a, b, c)


@pytest.mark.gpu
@pytest.mark.parametrize("size", [(0, 128, 128, 64), (2, 0, 128, 64), (2, 128, 0, 64), (2, 200, 144, 0)], ids=str)
@pytest.mark.parametrize("name", ["moved_pointers", "flattened", "wrapped_rows", "descriptors"])
def test_nothing_to_do(name, size):
    a, b, c = operands(*size, "cuda")
    launch(name, a, b, c)
    assert (c == 0).all()


@pytest.mark.gpu
@pytest.mark.parametrize("name", REFUSED)
def test_others(name):
    a, b, c = operands(2, 200, 144, 136, "cuda")
    c.zero_()
    launch(name, *(x if name != "narrow_steps" else x[:1] for x in (a, b, c)))
    check(a, b, c) if name != "narrow_steps" else check(a[:1], b[:1], c[:1])


def test_strides_any_order_take_the_path():
    a, b, c = operands(128, 3, 144, 136, "cpu")
    plan = hopper(launch("moved_pointers", a.transpose(0, 1), b[:3], c.transpose(0, 1))).plan
    assert ": blocks consumers=" in plan


@pytest.mark.gpu
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", ["moved_pointers", "masked_batch", "descriptors"])
def test_strides(name, transposed):
    """Batches inside rows, one matrix for all batches, longer rows, odd numbers of 16 bytes, no such number, one row for all."""
    if name == "descriptors" and transposed:
        pytest.skip("descriptors want rows of B in one piece")
    a, b, c = operands(4, 200, 152, 136, "cuda", transposed)
    random = lambda *shape: torch.randn(*shape, device="cuda").bfloat16()
    for x, w, y in (
        (random(200, 4, 136).transpose(0, 1), b, random(200, 4, 152).transpose(0, 1)),
        (a, b[:1].expand(4, -1, -1), c),
        (a[:1].expand(4, -1, -1), b, c),
        (random(4, 210, 200)[:, 3:203, 16:152], b, random(9, 250, 160)[::2][:4, :200, :152]),
        (a[:, :, :104], b[:, :104], c),
        (random(4, 200, 137)[:, :, :136], b, c),
        (random(4, 1, 136).expand(-1, 200, -1), b, c),
    ):
        y.fill_(77)
        launch(name, x, w, y)
        check(x, w, y)


@pytest.mark.gpu
def test_other_languages():
    _, x, w, y = heads("cuda")
    check(x, w, y.transpose(1, 2))
    _, a, b, c = arranged("cuda")
    check(a, b, c)
    _, a, b, c = arranged("cuda", 1, 300, 520, 200)
    check(a, b, c)


@pytest.mark.gpu
def test_bytes_that_are_numbers():
    _, x, w, y = float8_bits(300, 400, 272, "cuda")
    lost = (272 / 32 + 2) * 2.0**-12  # as for types of 8 bits in test_hopper_products
    assert ((y.double() - x.double() @ w.double().t()).abs() <= lost * (x.double().abs() @ w.double().abs().t())).all()


@pytest.mark.gpu
@pytest.mark.parametrize("blocks", [(64, 64, 32), (128, 256, 64), (64, 256, 64), (256, 128, 64)])
def test_many_small_products(blocks):
    a, b, c = operands(200, 96, 272, 64, "cuda")
    launch("moved_pointers", a, b, c, blocks)
    check(a, b, c)
