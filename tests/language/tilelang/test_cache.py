"""Kernels from the disk cache: neither traced nor compiled, and never the wrong ones."""
import numpy as np
import pytest

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.jit import kernel
from tilery.tilelang.tracing import program


def scaled(factor, dtype="float32", size=None):
    size = size or T.dynamic("n")

    @T.prim_func
    def main(A: T.Tensor((size,), dtype), B: T.Tensor((size,), dtype)):
        with T.Kernel(T.ceildiv(size, 16)) as bx:
            for i in T.Parallel(16):
                B[bx * 16 + i] = A[bx * 16 + i] * factor

    return main


def run(function, dtype=np.float32):
    a, b = np.arange(20, dtype=dtype), np.zeros(20, dtype)
    tilelang.compile(function)(a, b)
    return b / np.maximum(a, 1)


def test_warm_start(monkeypatch):
    entries = {}  # a process opens its folder once: an empty one for this test alone stands in memory
    monkeypatch.setattr(_native, "cache_folder", lambda: "memory")
    monkeypatch.setattr(_native, "cache_get", lambda *key: entries.get(key))
    monkeypatch.setattr(_native, "cache_put", lambda *key_and_value: entries.update({key_and_value[:-1]: key_and_value[-1]}))
    assert (run(scaled(2))[1:] == 2).all()
    build = program.build

    def no_build(*_, **options):
        raise AssertionError("traced")

    def trace_with(function):
        monkeypatch.setattr(program, "build", function)  # by the definition
        monkeypatch.setattr(kernel, "build", function)  # by a call

    trace_with(no_build)
    assert (run(scaled(2))[1:] == 2).all()
    for other in (dict(factor=3), dict(factor=2, size=20), dict(factor=2.0), dict(factor=2, dtype="float64")):
        with pytest.raises(AssertionError, match="traced"):
            scaled(**other)  # another closure value, shape, type of a constant, type of a tensor
    trace_with(build)
    three = scaled(3)
    trace_with(no_build)
    assert (run(three)[1:] == 3).all(), "the first call takes what the definition has traced"
    odd = tilelang.compile(three)
    with pytest.raises(AssertionError, match="traced"):
        odd(np.zeros(40, np.float32)[::2], np.zeros(20, np.float32))
    trace_with(build)
    assert (run(scaled(3))[1:] == 3).all()
    assert (run(scaled(2))[1:] == 2).all()


def test_functions_of_the_language_have_names_of_their_own():
    """The cache describes them by name: two of one name would be taken for each other."""
    seen = {}
    for name, value in vars(T).items():
        if callable(value) and not isinstance(value, type) and hasattr(value, "__qualname__"):
            assert seen.setdefault((value.__module__, value.__qualname__), value) is value, name
