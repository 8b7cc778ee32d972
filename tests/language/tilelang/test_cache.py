"""Kernels from the disk cache: neither traced nor compiled, and never the wrong ones."""
import numpy as np
import pytest

from tilery import _native, tilelang
from tilery.tilelang import language as T
from tilery.tilelang.jit import kernel


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
    build = kernel.build

    def no_build(*args):
        raise AssertionError("traced")

    monkeypatch.setattr(kernel, "build", no_build)
    assert (run(scaled(2))[1:] == 2).all()
    for other in (scaled(3), scaled(2, size=20), scaled(2.0)):  # another closure value, shape, type of a constant
        with pytest.raises(AssertionError, match="traced"):
            run(other)
    with pytest.raises(AssertionError, match="traced"):
        run(scaled(2, "float64"), np.float64)
    monkeypatch.setattr(kernel, "build", build)
    assert (run(scaled(3))[1:] == 3).all()
    assert (run(scaled(2))[1:] == 2).all()


def test_functions_of_the_language_have_names_of_their_own():
    """The cache describes them by name: two of one name would be taken for each other."""
    seen = {}
    for name, value in vars(T).items():
        if callable(value) and not isinstance(value, type) and hasattr(value, "__qualname__"):
            assert seen.setdefault((value.__module__, value.__qualname__), value) is value, name
