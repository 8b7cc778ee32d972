"""A kernel that reads memory and does nothing that anybody sees warns where it is compiled; asserts and the like are seen."""

import warnings

import numpy as np
import pytest

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def assigns_the_pointer(x_ptr, o_ptr, BLOCK: tl.constexpr):
    o_ptr = tl.load(x_ptr + tl.arange(0, BLOCK))  # noqa: F841


@tileon.jit
def sums_in_a_loop(x_ptr, o_ptr, BLOCK: tl.constexpr):
    total = 0.0
    for i in range(BLOCK):
        total += tl.load(x_ptr + i)


@tileon.jit
def asserts(x_ptr, o_ptr, BLOCK: tl.constexpr):
    tl.device_assert(tl.load(x_ptr + tl.arange(0, BLOCK)) > 0)


@tileon.jit
def prints(x_ptr, o_ptr, BLOCK: tl.constexpr):
    tl.device_print("sum", tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


@tileon.jit
def prints_when_compiled(x_ptr, o_ptr, BLOCK: tl.constexpr):
    tl.static_print(tl.load(x_ptr + tl.arange(0, BLOCK)).shape)


@tileon.jit
def adds(o_ptr, x):
    tl.atomic_add(o_ptr, x)


@tileon.jit
def calls(x_ptr, o_ptr, BLOCK: tl.constexpr):
    adds(o_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, BLOCK))))


@tileon.jit
def stores_in_a_branch(x_ptr, o_ptr, BLOCK: tl.constexpr):
    if tl.load(x_ptr) > 2:
        tl.store(o_ptr, 1.0)


@tileon.jit
def waits(x_ptr, o_ptr, BLOCK: tl.constexpr):
    tl.load(x_ptr)
    tl.debug_barrier()


@tileon.jit
def does_nothing(x_ptr, o_ptr, BLOCK: tl.constexpr):
    pass


def told(kernel, debug):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for _ in range(2):
            kernel[(1,)](np.ones(8, np.float32), np.ones(8, np.float32), BLOCK=8, debug=debug)
    return found


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("kernel", [assigns_the_pointer, sums_in_a_loop], ids=lambda kernel: kernel.__name__)
def test_reads_in_vain(kernel, debug, monkeypatch):
    monkeypatch.setenv("TILERY_CACHE_DIR", "")  # what it holds is not compiled again
    found = told(tileon.jit(kernel.fn), debug)
    assert [str(w.message) for w in found] == [
        f"kernel `{kernel.fn.__name__}` reads memory and stores nothing: a launch changes nothing; write tl.store(pointer, value)"
    ]
    assert found[0].filename == __file__ and found[0].category is RuntimeWarning


QUIET = [asserts, prints, prints_when_compiled, calls, stores_in_a_branch, waits, does_nothing]


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("kernel", QUIET, ids=lambda kernel: kernel.__name__)
def test_what_is_seen(kernel, debug, monkeypatch):
    monkeypatch.setenv("TILERY_CACHE_DIR", "")
    assert not told(tileon.jit(kernel.fn), debug)
