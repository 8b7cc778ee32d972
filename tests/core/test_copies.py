"""Copies of arguments lie as what they are copies of, and hold again what a launch found, where it reads and writes."""

import numpy as np
import pytest
import torch

from tilery import _native, tileon
from tilery.core import compile
from tilery.core.copies import Copies, NotRepeated, keep_what_changes
from tilery.tileon import language as tl


def layout(x):
    return tuple(x.shape), x.stride() if isinstance(x, torch.Tensor) else x.strides


VIEWS = {
    "whole": lambda x: x,
    "rows": lambda x: x[2:5],
    "columns": lambda x: x[:, 1:4],
    "steps": lambda x: x[::2, ::3],
    "turned": lambda x: x.T,
    "one": lambda x: x[3, 4],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_a_copy_lies_as_its_tensor(kind, view):
    whole = np.arange(48, dtype=np.float32).reshape(6, 8)
    whole = torch.from_numpy(whole) if kind == "torch" else whole
    value = VIEWS[view](whole)
    found = Copies().of(value)
    assert layout(found) == layout(value) and (found == value).all() and found.dtype == value.dtype
    if isinstance(found, (torch.Tensor, np.ndarray)) and view != "empty":
        found[...] = -1
        assert (whole >= 0).all()


def test_arrays_backwards_and_spread():
    x = np.arange(12.0)
    assert (Copies().of(x[::-1]) == x[::-1]).all() and Copies().of(x[::-1]).strides == (-8,)
    spread = Copies().of(np.broadcast_to(x[3:5], (3, 2)))
    assert spread.strides == (0, 8) and spread.tolist() == [[3, 4]] * 3
    spread = Copies().of(torch.ones(1).expand(5))
    assert spread.stride() == (0,) and spread.tolist() == [1] * 5


@pytest.mark.parametrize("make", [torch.zeros, np.zeros])
def test_what_shares_memory_shares_its_copy(make):
    x = make(10)
    copies = Copies()
    first, second, (third,) = copies.of([x[:6], x[4:], (x[:6],)])
    first[5] = 3
    assert second[1] == 3 and third[5] == 3 and (x == 0).all()


def test_a_copy_has_what_lies_around_it():
    """A view may be given for its address alone."""
    x = torch.arange(12.0).reshape(3, 4)
    assert Copies().of(x[1]).as_strided((12,), (1,), 0).tolist() == list(range(12))


def test_what_has_no_copy():
    class Opaque:
        shape, dtype = (3,), "float32"

    with pytest.raises(NotRepeated, match="an Opaque has no copy"):
        Copies().of(Opaque())


@tileon.jit
def plain(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(x + i) + 1)


@tileon.jit
def in_place(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(out + i) + tl.load(x + i))


@tileon.jit
def updated(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(out + i, tl.load(x + i))


@tileon.jit
def by_number(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.load(x).to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(at + i, tl.load(out + i))


@tileon.jit
def read_by_number(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    at = tl.load(x).to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(at + i))


@tileon.jit
def signals(x, out, N: tl.constexpr):
    tl.atomic_add(out, tl.load(x), scope="sys")


@tileon.jit
def shows(x, out, N: tl.constexpr):
    tl.device_print("x", tl.load(x))


def use_of(kernel, x=None, out=None):
    found = []

    def ask(compile_callback, signature, values, grid):
        found.append(_native.memory_use(compile.asked(lambda: compile_callback(signature, values)).module))

    x, out = (torch.zeros(16) if each is None else each for each in (x, out))
    _native.ask_launches(ask, lambda: kernel[(1,)](x, out, 16))
    return found[0]


READ, WRITTEN, BOTH = (True, False), (False, True), (True, True)


@pytest.mark.parametrize(
    ("kernel", "x", "out"), [(plain, READ, WRITTEN), (in_place, READ, BOTH), (updated, READ, BOTH), (read_by_number, BOTH, BOTH)]
)
def test_what_kernels_do_through_pointers(kernel, x, out):
    """A load through a number may read all."""
    use = use_of(kernel)
    assert not (use.writes_by_number or use.signals or use.prints)
    found = {each.name: (each.is_read, each.is_written) for each in use.pointers}
    assert found == {"x": (True, x[1] and kernel is not read_by_number), "out": out}


@pytest.mark.parametrize("kernel", [plain, in_place, updated])
def test_only_what_is_read_and_written_is_put_back(kernel):
    x, out = torch.ones(16), torch.zeros(16)
    copies = Copies()
    own_x, own_out = copies.of([x, out])
    keep_what_changes(lambda: kernel[(1,)](own_x, own_out, 16), copies)
    kept = [memory.kept is not None for memory in copies._memories.values()]
    assert kept == [False, kernel is not plain]
    for _ in range(3):
        copies.restore()
        kernel[(1,)](own_x, own_out, 16)
    assert own_out.tolist() == [2.0 if kernel is plain else 1.0] * 16 and out.tolist() == [0] * 16


@pytest.mark.parametrize("make", [torch.zeros, lambda n: np.zeros(n, np.float32)])
def test_a_result_that_lies_over_what_is_read_is_put_back(make):
    whole = make(20)
    copies = Copies()
    x, out = copies.of([whole[:16], whole[4:]])
    keep_what_changes(lambda: plain[(1,)](x, out, 16), copies)
    for _ in range(2):
        copies.restore()
        plain[(1,)](x, out, 16)
    assert out.tolist() == [1.0] * 16


@pytest.mark.parametrize(
    ("kernel", "why"),
    [(by_number, "addresses that it reads or computes"), (signals, "others may wait"), (shows, "the kernel prints")],
)
def test_what_must_not_be_made_again(kernel, why):
    copies = Copies()
    x, out = copies.of([torch.zeros(16), torch.zeros(16)])
    with pytest.raises(NotRepeated, match=why):
        keep_what_changes(lambda: kernel[(1,)](x, out, 16), copies)
