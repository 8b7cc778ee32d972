"""Memory that nobody has written, as debug launches know it."""

import os
import subprocess
import sys

import pytest
import torch

from tilery import _native, tileon
from tilery.core import unwritten
from tilery.errors import Error
from tilery.tileon import language as tl


@tileon.jit
def copying(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x, mask=at < n)


@tileon.jit
def keeping(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.store(y_ptr + at, tl.where(at < n, x, 0.0))


@tileon.jit
def counting(x_ptr):
    tl.atomic_add(x_ptr, 1)


@pytest.fixture(autouse=True)
def watching():
    unwritten.watch()
    return None


def holes(tensor):
    return _native.unwritten_bytes(tensor.data_ptr(), tensor.numel() * tensor.itemsize)[0] // tensor.itemsize


MAKERS = {
    "empty": lambda x: torch.empty(40),
    "empty, as its own argument": lambda x: torch.empty(size=(5, 8), dtype=torch.float32, device="cpu"),
    "empty_like": torch.empty_like,
    "empty_strided": lambda x: torch.empty_strided((5, 8), (1, 5)),
    "empty_permuted": lambda x: torch.empty_permuted((5, 8), (1, 0)),
    "new_empty": lambda x: x.new_empty(40),
    "new_empty_strided": lambda x: x.new_empty_strided((40,), (1,)),
}


@pytest.mark.parametrize("maker", MAKERS)
def test_new_memory_of_torch_is_known(maker):
    assert holes(MAKERS[maker](torch.zeros(40))) == 40


def test_what_is_written_is_not():
    assert holes(torch.zeros(40)) == holes(torch.empty(40).fill_(3)) == holes(torch.full((40,), 2)) == 0
    assert holes(torch.empty(40).clone()) == 40, "a copy of nothing is nothing"
    assert holes(torch.empty(0)) == 0 and torch.empty(40, device="meta").shape == (40,)


def test_modes_that_are_entered_before_or_after_leave_as_they_came():
    code = """
import torch
from torch.overrides import TorchFunctionMode, _len_torch_function_stack
from tilery import _native
from tilery.core import unwritten

class Counts(TorchFunctionMode):
    seen = 0
    def __torch_function__(self, func, types, args=(), kwargs=None):
        Counts.seen += func is torch.empty
        return func(*args, **(kwargs or {}))

torch.set_default_device("cpu")
with torch.device("meta"), Counts():
    unwritten.watch()
    unwritten.watch()
    assert torch.empty(8).is_meta
with torch.device("meta"):
    assert torch.empty(8).is_meta
with Counts():
    x = torch.empty(8)
assert Counts.seen == 2 and _len_torch_function_stack() == 2
torch.set_default_device("meta")
assert torch.empty(8).is_meta
torch.set_default_device(None)
x = torch.empty(8)
assert _len_torch_function_stack() == 1
assert _native.unwritten_bytes(x.data_ptr(), 32)[0] == 32
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.float64, torch.bfloat16, torch.bool])
def test_using_it_is_an_error(dtype):
    x, y = torch.empty(40, dtype=dtype), torch.zeros(40, dtype=dtype)
    x[:16] = 1
    with pytest.raises(Error, match="program .1, 0, 0. uses element 16 of 'x_ptr', which nothing has written") as e:
        copying[(5,)](x, y, 40, 16, debug=True)
    assert e.value.chain[0][1] == copying.fn.__code__.co_firstlineno + 3
    copying[(1,)](x, y, 16, 16, debug=True)


def test_a_counter_that_nobody_set():
    with pytest.raises(Error, match="uses element 0 of 'x_ptr', which nothing has written"):
        counting[(4,)](torch.empty(1, dtype=torch.int32), debug=True)
    count = torch.zeros(1, dtype=torch.int32)
    counting[(4,)](count, debug=True)
    assert count[0] == 4


def test_reading_and_dropping_it_is_none():
    x, y = torch.empty(64), torch.empty(64)
    x[:40] = 1
    keeping[(1,)](x, y, 40, 64, debug=True)
    assert y.sum() == 40
    with pytest.raises(Error, match="element 40 of 'x_ptr'"):
        keeping[(1,)](x, y, 41, 64, debug=True)


def test_what_a_launch_wrote_is_written():
    x, y, z = torch.rand(32), torch.empty(48), torch.empty(48)
    copying[(1,)](x, y, 32, 32, debug=True)
    copying[(1,)](y, z, 32, 32, debug=True)
    assert torch.equal(z[:32], x)
    with pytest.raises(Error, match="element 32 of 'x_ptr'"):
        copying[(3,)](z, y, 48, 16, debug=True)


def test_kernels_that_are_made_to_be_debugged_watch_from_then_on():
    code = """
import torch
from tilery import _native, tileon

@tileon.jit(debug=DEBUG)
def kernel(x_ptr):
    pass

x = torch.empty(8)
print(_native.unwritten_bytes(x.data_ptr(), 32)[0])
"""

    def found(debug, **environment):
        command = [sys.executable, "-c", code.replace("DEBUG", str(debug))]
        return int(subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout)

    plain = {k: v for k, v in os.environ.items() if k not in ("TRITON_DEBUG", "TILEON_DEBUG")}
    assert (found(False, **plain), found(True, **plain), found(False, **plain, TRITON_DEBUG="1")) == (0, 32, 32)


def test_compiled_functions_of_torch_go_on():
    @torch.compile(backend="eager")
    def f(x):
        return torch.empty_like(x).copy_(x) + 1

    assert torch.equal(f(torch.ones(8)), torch.full((8,), 2.0))


PROGRAM = """
import torch, triton, triton.language as tl

@triton.jit(debug=True)
def inc(X, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(X + i, tl.load(X + i, mask=i < n) + 1, mask=i < n)

zeros = torch.zeros(100)
made = torch.empty(100), torch.empty(100, device="cuda"), torch.empty_like(zeros), torch.empty_strided((100,), (1,))
for x in (*made, zeros.new_empty(100)):
    try:
        inc[(4,)](x, 100, B=32)
        print("silent")
    except RuntimeError as error:
        print("which nothing has written" in str(error))
inc[(4,)](torch.empty(100).zero_(), 100, B=32)
print("fine")
"""


def test_programs_that_run_as_they_are(tmp_path):
    """`tilery run` puts wrappers of its own in the places of torch's functions."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "tilery", "run", str(program)], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["True"] * 5 + ["fine"], done.stdout + done.stderr
