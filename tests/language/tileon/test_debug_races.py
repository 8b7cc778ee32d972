"""Programs of one launch that meet at an element, with debug=True: what the result depends on is reported, what is ordered or
does not matter is not."""

import pytest
import torch

from tilery import tileon
from tilery.errors import Error
from tilery.tileon import language as tl


@tileon.jit
def shifting(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(y_ptr + at, x + 1, mask=at < n)


@tileon.jit
def locked(sum_ptr, lock_ptr, count_ptr, BLOCK: tl.constexpr, SEM: tl.constexpr, GROUPS: tl.constexpr):
    """Sums of groups of programs as in Triton's layer norm: the first stores, the others add."""
    pid = tl.program_id(0)
    group, at = pid % GROUPS, tl.arange(0, BLOCK)
    while tl.atomic_cas(lock_ptr + group, 0, 1, sem=SEM) == 1:
        pass
    count = tl.load(count_ptr + group)
    value = at + pid
    if count == 0:
        tl.atomic_xchg(count_ptr + group, 1)
    else:
        value += tl.load(sum_ptr + group * BLOCK + at)
    tl.store(sum_ptr + group * BLOCK + at, value)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr + group, 0, sem=SEM)


@tileon.jit
def signalling(x_ptr, flag_ptr, VOLATILE: tl.constexpr):
    """Each program adds to what the one before it has left."""
    pid = tl.program_id(0)
    if pid > 0:
        if VOLATILE:
            while tl.load(flag_ptr + pid - 1, volatile=True) == 0:
                pass
        else:
            while tl.atomic_add(flag_ptr + pid - 1, 0) == 0:
                pass
        tl.store(x_ptr + pid, tl.load(x_ptr + pid - 1) + 1)
    else:
        tl.store(x_ptr, 1)
    tl.debug_barrier()
    tl.store(flag_ptr + pid, 1)


@tileon.jit
def last_one_sums(part_ptr, count_ptr, o_ptr, P: tl.constexpr, SEM: tl.constexpr):
    pid = tl.program_id(0)
    tl.store(part_ptr + pid, pid + 1)
    if tl.atomic_add(count_ptr, 1, sem=SEM) == P - 1:
        tl.store(o_ptr, tl.sum(tl.load(part_ptr + tl.arange(0, P))))


@tileon.jit
def flagging(x_ptr, o_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.max(tl.load(x_ptr + at)) > 0:
        tl.store(o_ptr, 1)


@tileon.jit
def clearing_and_adding(o_ptr):
    if tl.program_id(0) == 0:
        tl.store(o_ptr, 0)
    else:
        tl.atomic_add(o_ptr, 1)


def line(error):
    return error.value.chain[0][1]


def test_in_place_is_no_race():
    x = torch.arange(64.0)
    shifting[(4,)](x, x, 64, 16, debug=True)
    assert torch.equal(x, torch.arange(64.0) + 1)


def test_arguments_that_overlap_by_less_than_all():
    x = torch.randn(65)
    both = r"element 16 of 'x_ptr' \(in the same memory: element 15 of 'y_ptr'\)"
    with pytest.raises(Error, match=rf"program \(1, 0, 0\), lane \(0\) reads {both}, which program 0 writes: the result") as e:
        shifting[(4,)](x, x[1:], 64, 16, debug=True)
    assert line(e) == shifting.fn.__code__.co_firstlineno + 3
    with pytest.raises(Error, match="writes element 16 of 'y_ptr' .*, which program 0 reads: the result depends on") as e:
        shifting[(4,)](x[1:], x, 64, 16, debug=True)
    assert line(e) == shifting.fn.__code__.co_firstlineno + 4


def test_arguments_that_lie_in_each_other_without_a_common_element():
    x = torch.zeros(8, 2)
    shifting[(2,)](x[:4], x[4:], 8, 4, debug=True)
    assert (x[4:] == 1).all() and not x[:4].any()


def test_an_output_whose_elements_are_one():
    x = torch.arange(8.0)
    with pytest.raises(Error, match="element 0 of 'y_ptr', which program 0 also writes"):
        every_row[(4,)](x, torch.zeros(1, 2).expand(4, 2), 0, 2, debug=True)
    every_row[(4,)](torch.ones(8), torch.zeros(1, 2).expand(4, 2), 0, 2, debug=True)


@tileon.jit
def every_row(x_ptr, y_ptr, stride, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(y_ptr + tl.program_id(0) * stride + at, tl.load(x_ptr + tl.program_id(0) * N + at))


@pytest.mark.parametrize("sem", ["acq_rel", "relaxed"])
def test_locks(sem):
    sums, lock, count = torch.zeros(2, 8, dtype=torch.int32), torch.zeros(2, dtype=torch.int32), torch.zeros(2, dtype=torch.int32)

    def launch():
        locked[(6,)](sums, lock, count, 8, sem, 2, debug=True)

    if sem == "relaxed":  # what is stored may come after the lock is free
        with pytest.raises(Error, match="which program . also writes|which program . writes"):
            launch()
        return
    launch()
    at = 3 * torch.arange(8, dtype=torch.int32)
    assert torch.equal(sums, torch.stack([at + 0 + 2 + 4, at + 1 + 3 + 5]))


@pytest.mark.parametrize("volatile", [False, True])
def test_signals(volatile):
    x, flags = torch.zeros(5, dtype=torch.int32), torch.zeros(5, dtype=torch.int32)
    signalling[(5,)](x, flags, volatile, debug=True)
    assert x.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("sem", ["acq_rel", "relaxed"])
def test_the_last_one_reads_what_all_have_written(sem):
    parts, count, out = (torch.zeros(n, dtype=torch.int32) for n in (8, 1, 1))
    if sem == "relaxed":
        with pytest.raises(Error, match="reads element . of 'part_ptr', which program . writes"):
            last_one_sums[(8,)](parts, count, out, 8, sem, debug=True)
        return
    last_one_sums[(8,)](parts, count, out, 8, sem, debug=True)
    assert out[0] == 36


def test_all_writing_the_same_is_no_race():
    out = torch.zeros(1)
    flagging[(4,)](torch.ones(64), out, 16, debug=True)
    assert out[0] == 1


def test_plain_writes_beside_atomics():
    with pytest.raises(Error, match="writes element 0 of 'o_ptr', which program 0 also writes"):
        clearing_and_adding[(3,)](torch.ones(1, dtype=torch.int32), debug=True)
