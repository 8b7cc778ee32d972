"""Ctrl-C ends launches, compilations and the reference interpreter, and leaves all that they share as it was."""

import os
import signal
import subprocess
import sys
import time

import pytest

PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
import tilery
from tilery import tileon
import tilery.tileon.language as tl

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts background jobs with it ignored


def interrupt(*seconds):
    for at in seconds:
        timer = threading.Timer(at, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.daemon = True
        timer.start()


def ends(work, within=1.0, after=0.5):
    "work() raises KeyboardInterrupt within a second of the signal."
    start = time.monotonic()
    interrupt(after)
    try:
        work()
    except KeyboardInterrupt:
        took = time.monotonic() - start
        assert after <= took < after + within, took
        return
    raise AssertionError("it was not interrupted")


@tileon.jit
def spin(O, n):
    s = 0
    while tl.load(O) < 1.0:
        s += n
    tl.store(O + 1, s)


@tileon.jit
def watch(O):
    while tl.load(O, volatile=True) < 1.0:
        pass
    tl.store(O + 1 + tl.program_id(0), 7.0)


@tileon.jit
def double(X, Y, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(Y + at, tl.load(X + at) * 2)


def works(n=4096, block=64):
    x, y = np.arange(n, dtype=np.float32), np.empty(n, np.float32)
    double[(n // block,)](x, y, block)
    assert (y == 2 * x).all()
"""


def run(tmp_path, text, code=0, **environment):
    program = tmp_path / "program.py"
    program.write_text(PRELUDE + text + "\nprint('through')\n")
    environment = {"TILERY_CACHE_DIR": "", **os.environ, **environment}
    start = time.monotonic()
    result = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, env=environment)
    assert result.returncode == code, result.stdout + result.stderr
    assert (result.stdout == "through\n") == (code == 0), result.stdout + result.stderr
    result.seconds = time.monotonic() - start
    return result


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("programs", [1, 64])
def test_a_loop_that_does_not_end(tmp_path, programs, threads):
    run(
        tmp_path,
        f"""
for _ in range(2):
    ends(lambda: spin[({programs},)](np.zeros(2, np.float32), 1))
    works()
""",
        TILERY_NUM_THREADS=str(threads),
    )


def test_loops_of_all_languages(tmp_path):
    run(
        tmp_path,
        """
from tilery import ninetoothed, tilelang
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T

@tilelang.jit
def spin_tl():
    @T.prim_func
    def main(X: T.Tensor((64,), "float32")):
        with T.Kernel(2, threads=32) as b:
            a = T.alloc_fragment((64,), "float32")
            T.copy(X, a)
            i = T.alloc_var("int32")
            i = 0
            while i >= 0:
                for j in T.Parallel(64):
                    a[j] = a[j] + 1
                i = 1 - i
            T.copy(a, X)
    return main

x = np.zeros(64, np.float32)
kernel = spin_tl()
ends(lambda: kernel(x))

@tileon.jit
def turns(X, Y, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(X + i)
    a = tl.zeros([B, B], tl.float32)
    while tl.sum(x) < 1:  # a tile is carried, products share panels
        a = tl.dot(a + x[:, None], x[None, :] + a)
        x = x * 0
    tl.store(Y + i[:, None] * B + i[None, :], a)

ends(lambda: turns[(8,)](np.zeros(64, np.float32), np.zeros((64, 64), np.float32), 64))
works()
y = np.ones((64, 64), np.float32)
turns[(1,)](np.ones(64, np.float32), y, 64)
assert (y == 0).all()
""",
    )


def test_a_handler_of_the_program(tmp_path):
    """It runs while the launch goes on, and may launch and compile itself; what it changes is seen."""
    run(
        tmp_path,
        """
x = np.zeros(65, np.float32)
calls = []

def handler(number, frame):
    works()
    works(1 << 20, 1 << 16)  # works in more memory than what was interrupted
    watch[(2,)](np.ones(3, np.float32))
    calls.append(number)
    if len(calls) == 2:
        x[0] = 1

signal.signal(signal.SIGINT, handler)
signal.signal(signal.SIGTERM, handler)
interrupt(0.4)
threading.Timer(0.9, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
watch[(64,)](x)
assert calls == [signal.SIGINT, signal.SIGTERM] and (x[1:] == 7).all()
assert signal.getsignal(signal.SIGINT) is handler

signal.signal(signal.SIGINT, signal.SIG_IGN)
x[:] = 0
interrupt(0.2)
threading.Timer(0.6, lambda: x.__setitem__(0, 1)).start()
watch[(64,)](x)
assert (x[1:] == 7).all()
""",
    )


def test_launches_of_other_threads(tmp_path):
    """Signals are the main thread's; a launch elsewhere goes on."""
    run(
        tmp_path,
        """
x = np.zeros(65, np.float32)
other = threading.Thread(target=lambda: watch[(64,)](x))
other.start()
ends(lambda: time.sleep(5))
ends(lambda: spin[(64,)](np.zeros(2, np.float32), 1))
assert other.is_alive()
x[0] = 1
other.join(5)
assert not other.is_alive() and (x[1:] == 7).all()
""",
    )


def test_a_second_one_ends_the_process_where_no_program_can_be_left(tmp_path):
    text = """
@tileon.jit
def long(X, n):
    s = 0.0
    for i in range(n):
        s = tl.sin(s + i)
    tl.store(X + tl.program_id(0), s)

long[(1,)](np.zeros(64, np.float32), 10)
interrupt(0.5, {second})
long[({programs},)](np.zeros(64, np.float32), {n})
"""
    for programs in (1, 64):
        result = run(tmp_path, text.format(second=3, n=1 << 60, programs=programs), code=-signal.SIGINT)
        assert 3 < result.seconds < 8
        assert "tilery: interrupted; a program of kernel long must end first; interrupt again (Ctrl-C)" in result.stderr
    # Python's handler is there again afterwards: two are two exceptions.
    run(
        tmp_path,
        """
ends(lambda: spin[(64,)](np.zeros(2, np.float32), 1))
ends(lambda: time.sleep(5))
ends(lambda: spin[(1,)](np.zeros(2, np.float32), 1))
""",
    )


def test_the_default_action_stays(tmp_path):
    """A program that handles no signal ends at once."""
    result = run(
        tmp_path,
        "signal.signal(signal.SIGINT, signal.SIG_DFL)\ninterrupt(0.5)\nspin[(1,)](np.zeros(2, np.float32), 1)",
        code=-signal.SIGINT,
    )
    assert result.seconds < 10 and "interrupt" not in result.stderr


def test_a_child_of_a_launching_thread(tmp_path):
    run(
        tmp_path,
        """
x = np.zeros(65, np.float32)
def handler(number, frame):
    global child
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        works()
        ends(lambda: spin[(64,)](np.zeros(2, np.float32), 1))
        os._exit(0)
    x[0] = 1

signal.signal(signal.SIGINT, handler)
interrupt(0.3)
watch[(64,)](x)
assert os.waitpid(child, 0)[1] == 0
""",
    )


def test_bundles(tmp_path):
    run(
        tmp_path,
        f"""
from tilery import aot
kernel = spin[(1,)](np.ones(2, np.float32), 1)
aot.write({str(tmp_path)!r}, "spin", [aot.entry_of("spin", kernel.image())])
library = aot.Library.open({str(tmp_path / "spin.tilery")!r})
ends(lambda: library.call("spin", np.zeros(2, np.float32), grid=(8, 1, 1)))
""",
    )


@pytest.mark.parametrize("checked", [False, True])
def test_the_reference_interpreter(tmp_path, checked):
    run(
        tmp_path,
        f"""
options = dict(debug={checked})
ends(lambda: spin[(2,)](np.zeros(2, np.float32), 1, **options))  # programs one after the other
ends(lambda: watch[(2,)](np.zeros(3, np.float32), **options))  # side by side

@tileon.jit
def long(X, n):
    for i in range(n):
        tl.store(X, i * 1.0)

x = np.zeros(2, np.float32)
ends(lambda: long[(1,)](x, 1 << 60, **options))
long[(1,)](x, 3, **options)
assert x[0] == 2
""",
        TILERY_ORACLE="" if checked else "1",
    )


def test_a_compilation(tmp_path):
    """Between its passes; the next one compiles, and the cache holds nothing half done. Of 1600 steps that are alike a loop would
    be made, which compiles at once; these are of two kinds, in an order without a period."""
    run(
        tmp_path,
        """
import math

@tileon.jit
def many(X, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    x = tl.load(X + i)
    for k in tl.static_range(N):
        if (k * k * 40503 >> 7) % 2:
            x = tl.where(x > 0.5, tl.sin(x), tl.exp(-x)) + k
        else:
            x = tl.cos(x) - tl.exp(-x) * k
    tl.store(X + i, x)

def expected(x, n):
    for k in range(n):
        odd = (k * k * 40503 >> 7) % 2
        x = (math.sin(x) if x > 0.5 else math.exp(-x)) + k if odd else math.cos(x) - math.exp(-x) * k
    return x

from tilery import _native
compile, started = _native.compile, []

def interrupted(module, **options):
    interrupt(0.2)
    started.append(time.monotonic())
    return compile(module, **options)

x = np.full(64, 0.25, np.float32)
for n in (1600, 1601):
    _native.compile = interrupted
    try:
        many[(1,)](x, n, 64)
        raise AssertionError("it was not interrupted")
    except KeyboardInterrupt:
        assert 0.2 <= time.monotonic() - started[-1] < 1.2
    _native.compile = compile
    works()
    x[:] = 0.25
    many[(1,)](x, 5, 64)
    assert abs(x[0] - expected(0.25, 5)) < 1e-4, x[0]
assert os.listdir(os.environ["TILERY_CACHE_DIR"])
""",
        TILERY_CACHE_DIR=str(tmp_path / "cache"),
    )
