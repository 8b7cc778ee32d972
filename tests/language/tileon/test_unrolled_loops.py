"""tl.range(loop_unroll_factor=): code does so many iterations a turn, and computes what it computes without."""

import pytest
import torch

from tilery import _native, tileon
from tilery.errors import Error
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def decays(x_ptr, o_ptr, first, end, FACTOR: tl.constexpr, STEP: tl.constexpr, BLOCK: tl.constexpr):
    """A carried tile, whose product of one iteration meets a sum of the next, and a carried number."""
    i = tl.arange(0, BLOCK)
    total = tl.full((BLOCK,), 0.25, tl.float32)
    counters = 0
    for k in tl.range(first, end, STEP, loop_unroll_factor=FACTOR):
        total = (total + tl.load(x_ptr + k * BLOCK + i, mask=i < BLOCK - k, other=1.0)) * 0.37
        counters = counters * 3 + k
    tl.store(o_ptr + i, total + counters)


@tileon.jit
def sums(x_ptr, o_ptr, n, FACTOR: tl.constexpr):
    """A loop in a loop, and sums across threads."""
    i = tl.arange(0, 64)
    total = 0.0
    for k in tl.range(0, n, loop_unroll_factor=FACTOR):
        row = tl.load(x_ptr + k * 64 + i)
        for _ in tl.range(0, k, loop_unroll_factor=FACTOR):
            row = row * 0.5 + total
        total += tl.sum(row)
    tl.store(o_ptr + i, total + i)


def values(kernel, x, size, *arguments):
    out = torch.full((size,), float("nan"), device=x.device)
    kernel[(1,)](x, out, *arguments)
    assert not out.isnan().any()
    return out


def bits(kernel, x, size, *arguments):
    return values(kernel, x, size, *arguments).view(torch.int32)


@pytest.mark.parametrize("size", [1, 16, 64, 200])
@pytest.mark.parametrize("step", [1, 3])
def test_results_are_those_of_a_loop(engine, device, size, step):
    """Bit for bit on CPUs. For a GPU, LLVM may unroll the plain loop itself and fuse the product of an iteration with the sum of
    the next, which rounds once less. No number is negative, so that each of two roundings an iteration, and that of the last
    sum, changes a result by one unit (2^-24) of its size at most: two results differ by twice as much."""
    x = torch.rand(14, size, device=device)
    for first, end in ((0, 0), (0, 1), (0, 2), (2, 10), (0, 12), (1, 14), (5, 3)):
        once = values(decays, x, size, first, end, None, step, size)
        roundings = 2 * len(range(first, end, step)) + 1 if device == "cuda" else 0
        for factor in (2, 4, 5):
            error = (values(decays, x, size, first, end, factor, step, size).double() - once.double()).abs()
            assert (error <= 1.01 * 2 * roundings * 2.0**-24 * once.double()).all(), (first, end, factor)


def test_loops_in_loops_and_waits(engine, device):
    x = torch.rand(9, 64, device=device)
    for n in (0, 1, 3, 4, 8, 9):
        once = bits(sums, x, 64, n, None)
        for factor in (2, 4):
            assert torch.equal(bits(sums, x, 64, n, factor), once), (n, factor)


@tileon.jit
def adds(x_ptr, o_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in tl.range(0, n, loop_unroll_factor=FACTOR):
        total += tl.load(x_ptr + k * BLOCK + i)
    tl.store(o_ptr + i, total)


@tileon.jit
def moves(x_ptr, o_ptr, n, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for k in tl.range(0, n, loop_unroll_factor=FACTOR):
        tl.store(o_ptr + k * BLOCK + i, tl.load(x_ptr + k * BLOCK + BLOCK - i))


def compiled(constants, sm=90, kernel=adds):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "n": "i32", **dict.fromkeys(constants, "constexpr")}
    return tileon.compile(tileon.compiler.ASTSource(kernel, signature, constants), GPUTarget("cuda", sm, 32))


def additions(factor):
    text = _native.compile(compiled({"FACTOR": factor, "BLOCK": 8}).module, target="avx2", texts=True).llvm
    return sum("fadd" in line for line in text.splitlines())


def test_code_of_a_cpu():
    counts = list(map(additions, (None, 1, 0, -1, 4)))
    assert counts == [counts[0]] * 4 + [counts[0] * 5]  # four at a time, and the rest one by one


def test_the_cache_tells_factors_apart():
    modules = [compiled({"FACTOR": factor, "BLOCK": 8}).module for factor in (1, 2, 4)]
    for target in ("avx2", "sm_80"):
        assert len({module.text(hints=_native.hints_of(target)) for module in modules}) == 3


@pytest.mark.parametrize("sm", [80, 90])
def test_code_of_a_gpu(sm):
    counts = [compiled({"FACTOR": factor, "BLOCK": 128}, sm).asm["ptx"].count("add.f32") for factor in (None, 3, 6)]
    assert counts[1:] == [3 + 1, 6 + 1] and counts[0] not in counts[1:]  # so many at a time, and the rest one by one


@tileon.jit
def product(a_ptr, b_ptr, o_ptr, n, FACTOR: tl.constexpr):
    i = tl.arange(0, 64)
    total = tl.zeros((64, 64), tl.float32)
    for k in tl.range(0, n, 64, loop_unroll_factor=FACTOR):
        a = tl.load(a_ptr + i[:, None] * n + k + i[None, :])
        total = tl.dot(a, tl.load(b_ptr + (k + i)[:, None] * 64 + i[None, :]), total)
    tl.store(o_ptr + i[:, None] * 64 + i[None, :], total)


def test_images_say_where_a_factor_is_not_heeded():
    """A contraction has no iterations of its own; of a loop in which threads wait for each other no rest can be split off."""
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "o_ptr": "*fp32", "n": "i32", "FACTOR": "constexpr"}
    dots = tileon.compile(tileon.compiler.ASTSource(product, signature, {"FACTOR": 4}), GPUTarget("cuda", 90, 32)).module
    for target in ("avx2", "sm_80", "sm_90a"):
        assert _native.compile(dots, target=target).image.ignored_hints == ["unroll"]
    constants = {"FACTOR": 4, "BLOCK": 128}
    for target in ("avx2", "sm_90a"):
        assert _native.compile(compiled(constants).module, target=target).image.ignored_hints == []
    module = compiled(constants, kernel=moves).module
    assert _native.compile(module, target="avx2").image.ignored_hints == []
    assert _native.compile(module, target="sm_90a").image.ignored_hints == ["unroll"]  # x may be what o is: stores wait for loads


@pytest.mark.parametrize("factor", [2.0, "4", (2,)])
def test_a_factor_is_an_int(factor):
    with pytest.raises(Error, match="`loop_unroll_factor` of range must be an int"):
        adds[(1,)](torch.rand(4, 8), torch.empty(8), 4, factor, 8)
