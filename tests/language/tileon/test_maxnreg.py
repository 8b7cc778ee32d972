"""Launches with maxnreg=: a thread of a GPU has no more registers, but in products of warpgroups, which say what they take."""

import re

import pytest
import torch
from ptx import MISSING, PTXAS, assemble

from tilery import _native, tileon
from tilery.errors import Error
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def softmax(x_ptr, o_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    x = tl.exp(x - tl.max(x))
    tl.store(o_ptr + i, x / tl.sum(x))


@tileon.jit
def matmul(a_ptr, b_ptr, o_ptr, n, stride_a, stride_b):
    i, j = tl.arange(0, 128), tl.arange(0, 256)
    total = tl.zeros((128, 256), tl.float32)
    for k in tl.range(0, n, 64):
        at = k + tl.arange(0, 64)
        a = tl.load(a_ptr + i[:, None] * stride_a + at[None, :])
        total = tl.dot(a, tl.load(b_ptr + at[:, None] * stride_b + j[None, :]), total)
    tl.store(o_ptr + i[:, None] * 256 + j[None, :], total)


def compiled(sm, **options):
    source = tileon.compiler.ASTSource(softmax, {"x_ptr": "*fp32", "o_ptr": "*fp32", "BLOCK": "constexpr"}, {"BLOCK": 16384})
    return tileon.compile(source, GPUTarget("cuda", sm, 32), options).asm["ptx"]


@pytest.mark.skipif(not PTXAS, reason=MISSING)
@pytest.mark.parametrize("sm, arch", [(80, "sm_80"), (90, "sm_90a")])
def test_registers_of_a_thread(sm, arch):
    def used(**options):
        return int(re.search(r"Used (\d+) registers", assemble(compiled(sm, **options), arch))[1])

    assert used() > 40 >= used(maxnreg=40) and used(maxnreg=255) >= used()
    assert ".maxnreg" not in compiled(sm, maxnreg=None)


def test_products_of_warpgroups_take_what_they_take():
    signature = {"a_ptr": "*fp16", "b_ptr": "*fp16", "o_ptr": "*fp32", **dict.fromkeys(("n", "stride_a", "stride_b"), "i32")}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(6)}
    source = tileon.compiler.ASTSource(matmul, signature, {}, aligned)
    for sm, ignored in ((80, False), (90, True)):
        made = tileon.compile(source, GPUTarget("cuda", sm, 32), {"maxnreg": 128})
        assert ("wgmma" in made.asm["ptx"]) == ignored and (".maxnreg 128" in made.asm["ptx"]) != ignored
        assert _native.CodeImage(made.image()).ignored_hints == ["maxnreg"] * ignored


def test_results_stay(device):
    x = torch.rand(2, 512, device=device)
    out = torch.full_like(x, float("nan"))
    softmax[(2,)](x, out, 512, maxnreg=32)
    torch.testing.assert_close(out, x.softmax(1))


def test_code_of_a_cpu_does_not_depend_on_it():
    assert "maxnreg" not in _native.hints_of("avx2") and "maxnreg" in _native.hints_of("sm_80")


@pytest.mark.parametrize("registers", [0, -8, 32.0, True, "32"])
def test_a_number_of_registers(device, registers):
    with pytest.raises(Error, match=f"`maxnreg`, .* is {registers!r}; an int that is positive is expected"):
        softmax[(1,)](torch.rand(512), torch.empty(512), 512, maxnreg=registers)


@pytest.mark.parametrize("sm", [80, 90])
@pytest.mark.parametrize("registers", [1, 23, 256, 1000])
def test_registers_that_no_gpu_has(sm, registers):
    """Its assembler would round them up, or heed nothing."""
    with pytest.raises(ValueError, match=f"`maxnreg`, .* is {registers}; an int from 24 to 255 is expected"):
        compiled(sm, maxnreg=registers)


@pytest.mark.skipif(not PTXAS, reason=MISSING)
@pytest.mark.parametrize("sm, arch", [(80, "sm_80"), (90, "sm_90a")])
def test_the_least_and_the_most_registers(sm, arch):
    for registers in (24, 255):
        assert not re.search("adjusting|ignored", assemble(compiled(sm, maxnreg=registers), arch))
