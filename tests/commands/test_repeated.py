"""Launches that `tilery bench` and `tilery explain` make again find their tensors as the program gave them."""

import pytest

TICKETS = """
@tileon.jit
def tickets(counter, out):
    t = tl.atomic_add(counter, 1)
    tl.store(out + t, t * 1.0)

counter, out = np.zeros(1, np.int32), np.full(64, -1, np.float32)
tickets[(64,)](counter, out)
print(sorted(out.tolist()) == list(range(64)), counter[0])
"""
CHANGED_PLACES = """
@tileon.jit
def looked_up(places, x, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    j = tl.load(places + i, mask=i < n, other=0)
    tl.store(places + i, j + 100000000000, mask=i < n)
    tl.store(out + i, tl.load(x + j, mask=i < n), mask=i < n)

places, x, out = np.zeros(1000, np.int64), np.ones(2, np.float32), np.zeros(1000, np.float32)
looked_up[(8,)](places, x, out, 1000, 128)
print((out == 1).all(), places[999])
"""
LOCK = """
@tileon.jit
def once(lock, out):
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    tl.store(out, 1)

lock, out = np.zeros(1, np.int32), np.zeros(1, np.float32)
once[(1,)](lock, out)
print(out[0] == 1, lock[0])
"""
PADDED = """
@tileon.jit
def rows(x, stride, N: tl.constexpr):
    at = x + tl.program_id(0) * stride + tl.arange(0, N)
    tl.store(at, tl.load(at) + 1)

x = np.zeros((64, 100000), np.float32)[:, :16]
rows[(64,)](x, 100000, 16)
print((x == 1).all(), int(x.sum()))
"""
BY_NUMBER = """
@tileon.jit
def doubled(table, N: tl.constexpr):
    at = tl.load(table).to(tl.pointer_type(tl.float32)) + tl.arange(0, N)
    tl.store(at, tl.load(at) * 2)

x = np.ones(16, np.float32)
doubled[(1,)](np.array([x.ctypes.data]), 16)
print((x == 2).all(), int(x.sum()))
"""
HEAD = "import numpy as np\nfrom tilery import tileon\nfrom tilery.tileon import language as tl\n"


@pytest.mark.parametrize("command", ["bench", "explain"])
@pytest.mark.parametrize(
    ("program", "printed"),
    [(TICKETS, "True 64"), (CHANGED_PLACES, "True 100000000000"), (LOCK, "True 1"), (PADDED, "True 1024")],
)
def test_launches_that_change_what_they_read(python, command, program, printed):
    done = python("-m", "tilery", command, "--seconds", "0.01", "p.py", files={"p.py": HEAD + program})
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert printed in done.stdout.splitlines() and "not repeated" not in done.stdout, done.stdout


@pytest.mark.parametrize("command", ["bench", "explain"])
def test_what_has_no_copies_is_launched_once(python, command):
    done = python("-m", "tilery", command, "--seconds", "0.01", "p.py", files={"p.py": HEAD + BY_NUMBER})
    assert done.returncode == 0 and "True 32" in done.stdout.splitlines(), done.stdout + done.stderr
    assert "not repeated: the kernel writes to addresses that it reads or computes" in done.stdout
