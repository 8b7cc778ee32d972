"""Hints for targets reach the IR, change nothing that is computed, and make no second compilation for a CPU."""

import re

import pytest
import torch

from tilery import _native, tileon
from tilery.errors import Error
from tilery.tileon import language as tl
from tilery.tileon.backends.compiler import GPUTarget


@tileon.jit
def rows(x_ptr, o_ptr, n, stages: tl.constexpr):
    i = tl.arange(0, 16)
    total = tl.zeros((16,), tl.float32)
    for k in tl.range(0, n, num_stages=stages, loop_unroll_factor=2, flatten=True, warp_specialize=False):
        total += tl.load(x_ptr + k * 16 + i)
    for k in tl.range(n):
        total += k
    tl.store(o_ptr + i, total)


@tileon.jit
def matmul(a_ptr, b_ptr, o_ptr, K):
    i = tl.arange(0, 16)
    acc = tl.zeros((16, 16), tl.float32)
    for k in tl.range(0, K, 16, num_stages=4):
        a = tl.load(a_ptr + i[:, None] * K + k + i[None, :])
        b = tl.load(b_ptr + (k + i)[:, None] * 16 + i[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(o_ptr + i[:, None] * 16 + i[None, :], acc)


def launch(**options):
    x, o = torch.rand(3, 16), torch.full((16,), float("nan"))
    kernel = rows[(1,)](x, o, 3, 3, **options)
    torch.testing.assert_close(o, x.sum(0) + 3)
    return kernel


def loops(text):
    """The attributes of each loop of the IR's text."""
    return re.findall(r"^ +} \{(tile\..*)\}$", text, re.M)


def test_loops_and_kernels_carry_them():
    text = launch(num_warps=8, num_stages=2).asm["tile"]
    assert loops(text) == ["tile.num_stages = 3 : i64, tile.unroll = 2 : i64"] and "attributes {tile.num_warps = 8 : i64}" in text
    assert "attributes" not in launch().asm["tile"]


def test_a_contraction_keeps_the_stages_of_its_loop():
    a, b, o = torch.rand(16, 32), torch.rand(32, 16), torch.empty(16, 16)
    passes = matmul[(1,)](a, b, o, 32).asm["passes"]
    torch.testing.assert_close(o, a @ b)
    assert re.search(r"tile\.contract.*?num_stages = 4 : i64", passes, re.S)


def test_equal_code_is_compiled_once(monkeypatch, device):
    entries, compiled, compile = {}, [], _native.compile
    monkeypatch.setattr(_native, "cache_folder", lambda: "a cache of this test")
    monkeypatch.setattr(_native, "cache_get", lambda kind, key: entries.get((kind, key)))
    monkeypatch.setattr(_native, "cache_put", lambda kind, key, value: entries.update({(kind, key): value}))
    monkeypatch.setattr(_native, "compile", lambda *args, **options: compiled.append(1) or compile(*args, **options))
    for warps in (None, 1, 2, 4):
        launch(num_warps=warps, num_ctas=1)
    assert len(compiled) == (1 if device == "cpu" else 4)  # a GPU's code has the threads that are asked for


@pytest.mark.parametrize("warps", [4.0, "4", [4]])
def test_of_a_wrong_type(warps):
    with pytest.raises(Error) as caught:
        launch(num_warps=warps)
    assert isinstance(caught.value, TypeError)
    assert f"`num_warps` is {warps!r}; a power of 2 is expected" in str(caught.value)


@tileon.jit
def copies(x_ptr, o_ptr, start_ptr, n, HINT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK) + tl.load(start_ptr)
    if HINT == "tile":
        tl.max_contiguous(tl.multiple_of(offsets, BLOCK), BLOCK)
    tl.store(o_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n), mask=offsets < n)


@tileon.jit
def copies_rows(x_ptr, o_ptr, stride, HINT: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) + 1
    if HINT:
        stride = tl.multiple_of(stride, 4)
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + row * stride + i, tl.load(x_ptr + row * stride + i))


@tileon.jit
def copies_some(x_ptr, o_ptr, start, aligned, BLOCK: tl.constexpr):
    if aligned > 0:
        start = tl.multiple_of(start, 16)
    i = start + tl.arange(0, BLOCK)
    tl.store(o_ptr + i, tl.load(x_ptr + i))


def _ptx(kernel, signature, constants, aligned):
    attributes = {(i,): [["tt.divisibility", 16]] for i in aligned}
    source = tileon.compiler.ASTSource(kernel, signature, constants, attributes)
    return tileon.compile(source, GPUTarget("cuda", 90, 32)).asm["ptx"]


@pytest.mark.parametrize("hint", ["", "tile"])
def test_promised_multiples_make_vectors(hint):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "start_ptr": "*i32", "n": "i32", "HINT": "constexpr", "BLOCK": "constexpr"}
    text = _ptx(copies, signature, {"HINT": hint, "BLOCK": 1024}, (0, 1, 2, 3))
    assert ("ld.global.v4.b32" in text) == ("st.global.v4.b32" in text) == bool(hint)
    x, out = torch.rand(2048), torch.zeros(2048)
    copies[(1,)](x, out, torch.tensor([1024], dtype=torch.int32), 2000, hint, 1024)
    assert torch.equal(out[1024:2000], x[1024:2000]) and not out[:1024].any() and not out[2000:].any()


@pytest.mark.parametrize("hint", [False, True])
def test_promised_multiples_of_arguments(hint):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "stride": "i32", "HINT": "constexpr", "BLOCK": "constexpr"}
    text = _ptx(copies_rows, signature, {"HINT": hint, "BLOCK": 512}, (0, 1))
    assert ("st.global.v4.b32" in text) == hint


def test_what_a_branch_promises_holds_there_alone(device):
    signature = {"x_ptr": "*fp32", "o_ptr": "*fp32", "start": "i32", "aligned": "i32", "BLOCK": "constexpr"}
    assert ".v4" not in _ptx(copies_some, signature, {"BLOCK": 512}, (0, 1))
    x, out = torch.rand(1024, device=device), torch.zeros(1024, device=device)
    copies_some[(1,)](x, out, 3, 0, 512)
    assert torch.equal(out[3:515], x[3:515])
