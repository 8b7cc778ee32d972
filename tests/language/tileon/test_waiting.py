"""Kernels that wait for what others write while they run, and tell them what was read: nothing is read, packed or computed before
the wait, nor behind the signal."""

import threading
import time

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl

DEVICES = ["cpu"]  # on a GPU's stream what the host writes comes after the kernel that waits for it


@tileon.jit
def wait(flag):
    while tl.atomic_cas(flag, 1, 1, sem="acquire", scope="sys") != 1:
        pass


@tileon.jit
def product(a, b, c, flags, M, N, K, WHERE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    for tile in range(tl.program_id(0), M // BM, tl.num_programs(0)):
        rows, columns, ks = tile * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN), tl.arange(0, BK)
        if WHERE == "tiles":
            wait(flags + tile)
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            if WHERE == "steps":
                wait(flags + k // BK)
            x = tl.load(a + rows[:, None] * K + (k + ks)[None, :])
            y = tl.load(b + (k + ks)[:, None] * N + columns[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c + rows[:, None] * N + columns[None, :], acc.to(c.dtype.element_ty))


@tileon.jit
def copied(x, out, flags, n, SEM: tl.constexpr, SCOPE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.atomic_add(flags, 1, sem=SEM, scope=SCOPE)  # now x may be written by others
    wait(flags + 1)
    tl.store(out + i, value, mask=i < n)


def launched(launch, late, value, flags):
    """Runs launch(), while another thread writes the tensor `late` and then the flags."""
    late.zero_()
    flags.zero_()
    thread = threading.Thread(target=launch)
    thread.start()
    time.sleep(0.1)
    late.copy_(value)
    flags.fill_(1)
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.pairs
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("late", ["a", "b"])
@pytest.mark.parametrize("where, programs", [("tiles", 1), ("tiles", 4), ("steps", 2)])
def test_factors(dtype, late, where, programs):
    given = {name: torch.randn(256, 256, generator=torch.Generator().manual_seed(i)).to(dtype) for i, name in enumerate("ab")}
    used, flags = {name: tensor.clone() for name, tensor in given.items()}, torch.ones(8, dtype=torch.int32)
    c = torch.empty(256, 256, dtype=dtype)
    sizes = {"WHERE": where, "BM": 64, "BN": 64, "BK": 64}
    launch = lambda: product[(programs, 4)](used["a"], used["b"], c, flags, 256, 256, 256, **sizes)
    launch()
    c.fill_(float("nan"))
    launched(launch, used[late], given[late], flags)
    exact = given["a"].double() @ given["b"].double()
    torch.testing.assert_close(c.double(), exact, rtol=torch.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize("sem, scope", [("release", "sys"), (None, None)])
def test_what_is_read_before_a_signal(sem, scope):
    value, flags, out = torch.randn(1000), torch.ones(2, dtype=torch.int32), torch.empty(1000)
    x = value.clone()
    launch = lambda: copied[(1,)](x, out, flags, 1000, SEM=sem, SCOPE=scope, BLOCK=1024)
    launch()
    flags.zero_()
    thread = threading.Thread(target=launch)
    thread.start()
    while not flags[0]:
        time.sleep(0.01)
    x.fill_(float("nan"))
    flags[1] = 1
    thread.join(60)
    assert not thread.is_alive() and torch.equal(out, value)
