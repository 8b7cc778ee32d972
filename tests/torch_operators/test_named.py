"""Launches of all languages are ranges of torch's profilers under their kernels' names."""

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

import tilery.torch
from tilery import _native, ninetoothed, tilelang, tileon
from tilery.core.launches import Launches
from tilery.ninetoothed import Tensor
from tilery.tilelang import language as T
from tilery.tileon import language as tl


@tileon.jit
def add_one(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)


@tilelang.jit
def doubled(X):
    N = T.const("N")
    X: T.Tensor((N,), "float32")
    Y = T.empty((N,), "float32")
    with T.Kernel(1):
        for i in T.Parallel(N):
            Y[i] = 2 * X[i]
    return Y


def arrangement(x):
    return (x.tile((64,)),)


def minus_one(x):
    x = x - 1  # noqa: F841


lowered = ninetoothed.make(arrangement, minus_one, (Tensor(1),))


def names_in(call):
    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        call()
    known = ("add_one", "test_named.doubled", "test_named.minus_one", "aten::add_")
    return [event.name for event in profiled.events() if event.name in known]


def launches(x):
    add_one[(4,)](x, 1000, B=256)
    x.add_(1)
    lowered(x)
    return doubled(x)


def test_each_launch_is_a_range():
    x = torch.zeros(1000)

    def named():
        with tilery.torch.named_launches():
            assert (launches(x) == 2).all()

    assert names_in(named) == ["add_one", "aten::add_", "test_named.minus_one", "test_named.doubled"]
    assert names_in(lambda: launches(x)) == ["aten::add_"]  # no longer


def test_other_recorders_go_on_and_errors_pass():
    x = torch.zeros(1000)
    recorder = Launches(0.0)
    before = _native.record_launches(recorder)
    try:
        with tilery.torch.named_launches():
            launches(x)
        assert sorted(kind.name for kind in recorder.kinds) == ["add_one", "test_named.doubled", "test_named.minus_one"]
    finally:
        assert _native.record_launches(before) is recorder
    with pytest.raises(TypeError, match="missing the argument"):
        with tilery.torch.named_launches():
            add_one[(4,)](x, B=256)
    assert not _native.launches_recorded()
