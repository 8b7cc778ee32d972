"""Calls whose launches are left out, in every language."""

import threading

import numpy as np
import pytest

from tilery import ninetoothed, tilelang, tileon
from tilery.core.unmade import launches_are_unmade, without_launches
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def plus(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + 1)


tuned = tileon.autotune([tileon.Config({"BLOCK": 2}), tileon.Config({"BLOCK": 4})], key=[])(plus)


@tilelang.jit(out_idx=-1)
def make(n):
    @T.prim_func
    def kernel(X: T.Tensor((n,), "float32"), Out: T.Tensor((n, 2), "int8")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(n):
                Out[i, 0] = T.cast(X[i], "int8")

    return kernel


def arrangement(x, out, BLOCK=ninetoothed.block_size()):
    return x.tile((BLOCK,)), out.tile((BLOCK,))


def application(x, out):
    out = x + 1  # noqa: F841


def test_nothing_is_launched_tuned_or_compiled():
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)
    kernel = ninetoothed.make(arrangement, application, (Tensor(1), Tensor(1)))

    def calls():
        assert launches_are_unmade()
        plus[(1,)](x, out, BLOCK=4)
        tuned[(1,)](x, out)
        kernel(x, out)
        return make(4)(x)

    made = without_launches(calls)
    assert (made.shape, made.dtype) == ((4, 2), np.int8)
    assert not out.any() and not tuned.cache and not kernel.compiled
    assert not launches_are_unmade()
    plus[(1,)](x, out, BLOCK=4)
    assert out.all()


def test_failures_and_nesting_and_threads():
    x, out = np.zeros(4, np.float32), np.zeros(4, np.float32)

    def fails():
        raise KeyError

    def nested():
        with pytest.raises(KeyError):
            without_launches(fails)
        assert launches_are_unmade()
        other = threading.Thread(target=lambda: plus[(1,)](x, out, BLOCK=4))  # launches of another thread are made
        other.start()
        other.join()

    without_launches(nested)
    assert out.all() and not launches_are_unmade()
