"""`tilery bench`: each kind of launch once in the table, and a program whose results are what they are without it."""

import re

PROGRAM = """
import sys
import torch, triton
import triton.language as tl
import ninetoothed
from ninetoothed import Tensor
import tilelang
import tilelang.language as T

@triton.jit
def add_one(x, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(x + i, tl.load(x + i) + 1)

@ninetoothed.jit
def double(x: Tensor(1).tile((16,)), y: Tensor(1).tile((16,))):
    y = x * 2

@tilelang.jit(out_idx=[1])
def maker(n):
    @T.prim_func
    def triple(x: T.Tensor((n,), "float32"), y: T.Tensor((n,), "float32")):
        with T.Kernel(1, threads=128):
            for i in T.Parallel(n):
                y[i] = x[i] * 3
    return triple

x = torch.zeros(16)
for _ in range(3):
    add_one[(1,)](x, 16, N=16)
add_one[(1,)](x[:8], 8, N=8)
y = torch.empty(16)
double(x, y)
z = maker(16)(y)
print(x.tolist(), z[0].item())
sys.exit(5)
"""


def test_each_kind_of_launch(python):
    done = python("-m", "tilery", "bench", "--seconds", "0.01", "program.py", files={"program.py": PROGRAM})
    assert done.returncode == 5, done.stderr
    printed, head, *rows = done.stdout.splitlines()
    assert printed == f"{[4.0] * 8 + [3.0] * 8} 24.0" and head.split()[:4] == ["kernel", "launches", "first", "ms"]
    found = [re.fullmatch(r"([\w.]+) +(\d+) +([\d.]+) +([\d.]+)  ([\d.]+) \.\. ([\d.]+) +(.*)", row) for row in rows]
    assert all(found), rows
    assert [(row[1], row[2]) for row in found] == [("add_one", "3"), ("add_one", "1"), ("double", "1"), ("maker.triple", "1")]
    assert "float32[16] 16 N=16" in found[0][7] and "float32[8] 8 N=8" in found[1][7]
    for row in found:
        assert 0 < float(row[5]) <= float(row[4]) <= float(row[6]) < float(row[3])  # compiled at the first call


STRUCTURES = """
import torch, triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def sums(d, out, N: tl.constexpr):
    tl.store(out[0] + tl.arange(0, N), tl.load(out[0] + tl.arange(0, N)) + tl.sum(d.load([0, 0]), axis=1))

out = torch.zeros(16)
sums[(1,)](TensorDescriptor(torch.ones(16, 16), [16, 16], [16, 1], [16, 16]), (out, 3), N=16)
print(out.sum().item())
"""


def test_arguments_that_hold_tensors(python):
    done = python("-m", "tilery", "bench", "--seconds", "0", "-c", STRUCTURES)
    printed, _, row = done.stdout.splitlines()
    assert printed == "256.0" and row.endswith("[1] float32[16, 16] by [16, 16] (float32[16], 3) N=16"), row


TUNED = """
import torch, triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"N": n}) for n in (16, 32)], key=["n"])
@triton.jit
def add_one(x, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

x = torch.zeros(64)
add_one[lambda meta: (triton.cdiv(64, meta["N"]),)](x, 64)
print(triton.testing.do_bench(lambda: None) >= 0)
"""


def test_what_tuners_time_is_not_counted(python):
    done = python("-m", "tilery", "bench", "--seconds", "0", "-c", TUNED)
    assert done.returncode == 0, done.stderr
    printed, _, *rows = done.stdout.splitlines()
    assert printed == "True" and len(rows) == 1 and rows[0].split()[:2] == ["add_one", "1"]


def test_no_launches_and_usage(python):
    done = python("-m", "tilery", "bench", "-c", "print(1)")
    assert (done.returncode, done.stdout) == (0, "1\ntilery bench: the program launched no kernel in its main thread\n")
    for arguments in ((), ("--seconds", "x", "p.py"), ("--seconds", "-1", "p.py"), ("missing.py",)):
        assert python("-m", "tilery", "bench", *arguments).returncode == 2


def test_errors_of_the_program_end_it(python):
    done = python("-m", "tilery", "bench", "-c", "1 / 0")
    assert done.returncode == 1 and "ZeroDivisionError" in done.stderr and "launches.py" not in done.stderr


NAMESAKES = """
import numpy as np
from tilery import ninetoothed
from tilery.ninetoothed import Tensor

def double(x, y):
    y = x * 2

def make(size):
    return ninetoothed.make(lambda x, y: (x.tile((size,)), y.tile((size,))), double, (Tensor(1), Tensor(1)))

x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
for kernel in (make(16), make(32), make(16)):
    kernel(x, y)
    kernel(x[:48], y[:48])
"""


def test_kernels_of_one_name_are_told_apart_by_what_they_do(python):
    done = python("-m", "tilery", "bench", "--seconds", "0", "-c", NAMESAKES)
    rows = [row.split()[:2] for row in done.stdout.splitlines()[1:]]
    assert rows == [["double", "2"], ["double", "2"], ["double(2)", "1"], ["double(2)", "1"]], done.stdout + done.stderr


OF_ONE_NAME = """
import numpy as np
from tilery import ninetoothed
from tilery.ninetoothed import Tensor

def application(x, y):
    y = x * 2

first = ninetoothed.make(lambda x, y: (x.tile((16,)), y.tile((16,))), application, (Tensor(1), Tensor(1)))

def application(x, y):
    y = x * 3

second = ninetoothed.make(lambda x, y: (x.tile((16,)), y.tile((16,))), application, (Tensor(1), Tensor(1)))

def third():
    def application(x, y):
        y = x * 4
    return ninetoothed.make(lambda x, y: (x.tile((16,)), y.tile((16,))), application, (Tensor(1), Tensor(1)))

x, y = np.ones(64, np.float32), np.zeros(64, np.float32)
for kernel in (first, second, third(), first):
    kernel(x, y)
try:
    third()(x)
except TypeError as error:
    print(error)
"""


def test_functions_of_one_name_are_told_apart_by_where_they_are(python):
    done = python("-m", "tilery", "bench", "--seconds", "0", "program.py", files={"program.py": OF_ONE_NAME})
    said, _, _, _, *rows = done.stdout.splitlines()
    assert ": third.application() is missing the argument 'y'" in said, done.stdout + done.stderr
    names = [row.split("  ")[0] for row in rows]
    assert names == ["application (program.py:6)", "application (program.py:11)", "third.application"]
