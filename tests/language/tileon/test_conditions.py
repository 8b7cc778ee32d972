"""Conditions that are pointers: upstream's test for null, which is seldom what was meant."""

import inspect
import warnings

import pytest
import torch

from tilery import tileon
from tilery.tileon import language as tl


@tileon.jit
def branch(flag, out):
    if flag:
        tl.store(out, 1)
    else:
        tl.store(out, 2)


@tileon.jit
def choice(flag, out):
    tl.store(out, 1 if flag else 2)


@tileon.jit
def negation(flag, out):
    for _ in range(tl.load(out) + 1):
        if not flag:
            tl.store(out, 2)
        else:
            tl.store(out, 1)


@tileon.jit
def conjunction(flag, out):
    n = tl.load(out)
    if (n == 0) and flag:
        tl.store(out, 1)
    else:
        tl.store(out, 2)


@tileon.jit
def loop(flag, out):
    n = 0
    while (n < 1) and flag:
        n += 1
    tl.store(out, 2 - n)


@tileon.jit
def twice(flag, out):
    x = 1 if flag else 2
    if flag:
        x += 0
    tl.store(out, x)


@pytest.fixture(autouse=True)
def without_a_cache(monkeypatch):
    monkeypatch.setenv("TILERY_CACHE_DIR", "")


def launched(kernel, flag):
    """What the kernel, traced anew, stores, and the warnings."""
    kernel = tileon.jit(kernel.fn)
    out = torch.zeros(1, dtype=torch.int32)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernel[(1,)](flag, out)
    return out.item(), caught


@pytest.mark.parametrize("kernel", [branch, choice, negation, conjunction, loop, twice], ids=lambda kernel: kernel.__name__)
@pytest.mark.parametrize("flag", [False, 0.0])
def test_a_pointer_as_a_condition_warns_once_at_its_line(kernel, flag):
    result, caught = launched(kernel, torch.tensor(flag))
    assert result == 1  # the address is not null
    (warning,) = caught
    lines, first = inspect.getsourcelines(kernel.fn)
    assert "asks whether the address is null" in str(warning.message) and "tl.load" in str(warning.message)
    assert warning.filename == __file__
    assert warning.lineno == first + next(i for i, line in enumerate(lines) if "flag" in line.replace("(flag, out)", ""))


@pytest.mark.parametrize("kernel", [branch, choice, negation], ids=lambda kernel: kernel.__name__)
def test_none_and_values_do_not_warn(kernel):
    assert launched(kernel, None) == (2, [])
    assert launched(kernel, 0) == (2, [])
    assert launched(kernel, 7) == (1, [])


@tileon.jit
def chosen(flag, out):
    tl.store(out, tl.where(flag, 1, 2))


def test_where_names_the_line_of_the_program():
    (warning,) = launched(chosen, torch.tensor(0))[1]
    assert "tl.where takes a condition of type int1, this one is pointer<int64>" in str(warning.message)
    assert warning.filename == __file__ and warning.lineno == inspect.getsourcelines(chosen.fn)[1] + 2
