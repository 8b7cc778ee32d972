"""A process in which one thread launches, one multiplies matrices and two compile, each until it ends; `others()` starts them.
What programs of tests/runtime/test_forks.py and test_exit.py begin with."""

import os
import threading

import numpy as np

from tilery import tileon
from tilery.tileon import language as tl

SIZE, EDGE = 100_000, 128
X, A = np.arange(SIZE, dtype="f"), np.eye(EDGE, dtype="f") * 2
stop = threading.Event()


@tileon.jit
def scaled(x, y, n, BLOCK: tl.constexpr, S: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2 + S, mask=at < n)


@tileon.jit
def product(a, b, c, N: tl.constexpr):
    i, j, k = tl.program_id(0) * 64 + tl.arange(0, 64), tl.program_id(1) * 64 + tl.arange(0, 64), tl.arange(0, N)
    tl.store(c + i[:, None] * N + j, tl.dot(tl.load(a + i[:, None] * N + k), tl.load(b + k[:, None] * N + j)))


def launch(shift=0.0):
    """Compiles for a shift that is new."""
    y = np.full(SIZE, np.nan, "f")
    scaled[(-(-SIZE // 256),)](X, y, SIZE, BLOCK=256, S=shift)
    assert (y == X * 2 + np.float32(shift)).all()


def multiply():
    c = np.full((EDGE, EDGE), np.nan, "f")
    product[(EDGE // 64, EDGE // 64)](A, A, c, N=EDGE)
    assert (c == np.eye(EDGE) * 4).all()


def compile_more(first):
    while not stop.is_set():
        launch(float(first))
        first += 1


def repeat(work):
    while not stop.is_set():
        work()


def others(daemon=False):
    """Threads that work until `stop` is set."""
    work = [(repeat, (launch,)), (repeat, (multiply,)), (compile_more, (1000,)), (compile_more, (500_000,))]
    threads = [threading.Thread(target=target, args=args, daemon=daemon) for target, args in work]
    for thread in threads:
        thread.start()
    return threads


os.environ.setdefault("TILERY_NUM_THREADS", "4")
