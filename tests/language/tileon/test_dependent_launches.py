"""Launches with launch_pdl=True begin while the one before them may still run, and wait for its end before they touch memory."""

import re

import pytest
import torch
from ptx import PTXAS, assemble

from tilery import _native, tileon
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def scaled(x_ptr, o_ptr, n, LET: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.extra.cuda.gdc_wait()
    x = tl.load(x_ptr + i, mask=i < n)
    if LET:
        tl.extra.cuda.gdc_launch_dependents()
    tl.store(o_ptr + i, x * 2, mask=i < n)


@tileon.jit
def matmul(x_ptr, b_ptr, o_ptr, n, LET: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    if LET:
        tl.extra.cuda.gdc_launch_dependents()
    for k in tl.range(0, n, 64):
        at = k + tl.arange(0, 64)
        x = tl.load(x_ptr + i[:, None] * n + at[None, :])
        total = tl.dot(x, tl.load(b_ptr + at[:, None] * BLOCK + i[None, :]), total)
    tl.store(o_ptr + i[:, None] * BLOCK + i[None, :], total.to(tl.float16))


SIGNATURE = {"x_ptr": "*fp16", "b_ptr": "*fp16", "o_ptr": "*fp16", "n": "i32", "LET": "constexpr", "BLOCK": "constexpr"}
WAIT, LET, MEMORY = r"griddepcontrol\.wait", r"griddepcontrol\.launch_dependents", r"\b(ld|st|cp|red|atom)\.[\w.]*global"


def compiled(kernel, sm, let=False, **options):
    signature = {name: SIGNATURE[name] for name in kernel.arg_names}
    aligned = {(i,): [["tt.divisibility", 16]] for i in range(len(signature) - 2)}
    source = tileon.compiler.ASTSource(kernel, signature, {"LET": let, "BLOCK": 128}, aligned)
    made = tileon.compile(source, GPUTarget("cuda", sm, 32), options)
    return made.asm["ptx"], _native.CodeImage(made.image()).ignored_hints


@pytest.mark.parametrize("kernel", [scaled, matmul])
def test_code_waits_before_it_touches_memory(kernel):
    text, ignored = compiled(kernel, 90, launch_pdl=True)
    waits, touches = re.search(WAIT, text), re.search(MEMORY, text)
    assert waits and touches and waits.start() < touches.start() and not re.search(LET, text) and not ignored
    assert ("wgmma" in text) == (kernel is matmul)
    assert ".nc." not in text  # what the launch before writes is no constant
    if PTXAS:
        assemble(text, "sm_90a")


@pytest.mark.parametrize("kernel", [scaled, matmul])
def test_code_lets_the_next_launch_begin(kernel):
    alone, _ = compiled(kernel, 90, let=True)
    assert re.search(LET, alone) and not re.search(WAIT, alone)
    both, _ = compiled(kernel, 90, let=True, launch_pdl=True)
    assert re.search(WAIT, both).start() < re.search(LET, both).start()


@pytest.mark.parametrize("kernel", [scaled, matmul])
def test_gpus_before_hopper_have_no_such_launches(kernel):
    text, ignored = compiled(kernel, 80, let=True, launch_pdl=True)
    assert "griddepcontrol" not in text and ignored == ["launch_pdl", "launch_dependents"]


def test_launches_that_depend_on_each_other(device):
    x = torch.rand(300, device=device)
    for _ in range(3):
        out = torch.full_like(x, float("nan"))
        scaled[(3,)](x, out, 300, True, 128, launch_pdl=True)
        again = torch.full_like(x, float("nan"))
        scaled[(3,)](out, again, 300, False, 128, launch_pdl=True)
        assert torch.equal(again, x * 4)


def test_code_of_a_cpu_is_the_same():
    assert not {"launch_pdl", "launch_dependents"} & set(_native.hints_of("host"))
