"""Launches that are timed on copies find them as the program gave its tensors, on every device."""

import pytest
import torch

from tilery import _native, tileon
from tilery.core.launches import Launches
from tilery.tileon import language as tl

on_both = pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])


@tileon.jit
def tickets(counter, out):
    t = tl.atomic_add(counter, 1)
    tl.store(out + t, t * 1.0)


@tileon.jit
def once(lock, out):
    while tl.atomic_cas(lock, 0, 1) != 0:
        pass
    tl.store(out, 1)


@tileon.jit
def moved(places, out, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    j = tl.load(places + i, mask=i < n, other=0)
    tl.store(places + i, j + n, mask=i < n)
    tl.store(out + j, i * 1.0, mask=i < n)


@tileon.jit
def told(flag):
    tl.atomic_add(flag, 1, scope="sys")


def recorded(*calls):
    launches = Launches(0.01)
    before = _native.record_launches(launches)
    try:
        for call in calls:
            call()
    finally:
        _native.record_launches(before)
    return launches.kinds


@on_both
def test_they_stay_within_their_tensors(device):
    counter, out = torch.zeros(1, dtype=torch.int32, device=device), torch.full((64,), -1.0, device=device)
    lock, locked = torch.zeros(1, dtype=torch.int32, device=device), torch.zeros(1, device=device)
    places, found = torch.arange(1000, device=device).flip(0), torch.zeros(1000, device=device)
    kinds = recorded(
        lambda: tickets[(64,)](counter, out),
        lambda: once[(1,)](lock, locked),
        lambda: moved[(8,)](places, found, 1000, 128),
    )
    assert [len(kind.times) >= 3 and kind.why == "" for kind in kinds] == [True] * 3
    assert counter.item() == 64 and out.sort().values.tolist() == list(range(64))
    assert lock.item() == locked.item() == 1
    assert found.tolist() == list(range(999, -1, -1)) and places.tolist() == list(range(1999, 999, -1))
    if device == "cuda":
        torch.cuda.synchronize()  # no launch has left its tensors


@on_both
def test_what_others_may_wait_for_is_not_repeated(device):
    flag = torch.zeros(1, dtype=torch.int32, device=device)
    (kind,) = recorded(lambda: told[(1,)](flag))
    assert kind.times == [] and kind.why == "not repeated: others may wait for the kernel's updates" and flag.item() == 1
