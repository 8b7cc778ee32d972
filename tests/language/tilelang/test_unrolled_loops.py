"""T.unroll: an `unroll_factor`, or all iterations with `explicit`; results are those of T.serial."""

import numpy as np
import pytest

from tilery import _native, tilelang
from tilery.errors import Error
from tilery.tilelang import language as T

ROWS = 13


def kernel(loop, size=16):
    """A carried buffer, whose product of one iteration meets a sum of the next, a break and a number."""

    @T.prim_func
    def main(A: T.Tensor((ROWS, size), "float32"), N: T.Tensor((2,), "int32"), B: T.Tensor((size,), "float32")):
        with T.Kernel(1, threads=64):
            total = T.alloc_fragment((size,), "float32")
            count = T.alloc_var("int32")
            count = 0
            T.fill(total, 0.25)
            for k in loop(N):
                if k == N[1]:
                    break
                for i in T.Parallel(size):
                    total[i] = (total[i] + A[k, i]) * 0.37
                count = count * 3 + k
            for i in T.Parallel(size):
                B[i] = total[i] + count

    return tilelang.compile(main)


LOOPS = {
    "serial": lambda n: T.serial(n[0]),
    "three": lambda n: T.unroll(n[0], unroll_factor=3),
    "four": lambda n: T.Unroll(0, n[0], unroll_factor=4),
    "fixed": lambda n: T.serial(1, 12, 2),
    "all": lambda n: T.unroll(1, 12, 2, explicit=True),
    "some": lambda n: T.unroll(1, 12, 2, unroll_factor=4),
    "down": lambda n: T.serial(12, -1, -3),
    "down, two": lambda n: T.unroll(12, -1, -3, unroll_factor=2),
    "down, all": lambda n: T.unroll(12, -1, -3, explicit=True),
    "a choice": lambda n: T.unroll(1, 12, 2),
    "one": lambda n: T.unroll(1, 12, 2, unroll_factor=1),
}
ALIKE = [
    ("serial", ["three", "four"]),
    ("fixed", ["all", "some", "a choice", "one"]),
    ("down", ["down, two", "down, all"]),
]


@pytest.mark.parametrize("first, others", ALIKE)
@pytest.mark.parametrize("size", [16, 200])
def test_results_are_those_of_a_loop(engine, device, first, others, size):
    a = np.random.default_rng(0).random((ROWS, size), np.float32)

    def results(name):
        compiled, found = kernel(LOOPS[name], size), []
        for n, stop in ((0, 99), (1, 99), (2, 1), (7, 99), (12, 99), (13, 9), (13, 0)):
            b = np.full(size, np.nan, np.float32)
            compiled(a, np.array([n, stop], np.int32), b)
            found.append(b.tobytes())
        return found

    expected = results(first)
    for other in others:
        assert results(other) == expected, other


def test_images_say_whether_a_factor_is_heeded():
    for name in ("three", "all", "some", "down, all"):
        module = _native.Module.parse(kernel(LOOPS[name]).get_kernel_source())
        for target in ("avx2", "sm_90a"):
            waits = name == "three" and target == "sm_90a"  # in the loop, whose iterations are not counted
            unheeded = _native.compile(module, target=target, disjoint=True).image.ignored_hints
            assert unheeded == ["unroll"] * waits, (name, target)


def additions(loop):
    @T.prim_func
    def main(A: T.Tensor((12, 8), "float32"), B: T.Tensor((8,), "float32")):
        with T.Kernel(1, threads=32):
            total = T.alloc_fragment((8,), "float32")
            T.clear(total)
            for k in loop():
                for i in T.Parallel(8):
                    total[i] += A[k, i]
            T.copy(total, B)

    module = _native.Module.parse(tilelang.compile(main).get_kernel_source())
    text = _native.compile(module, target="avx2", texts=True).llvm
    return sum("fadd" in line for line in text.splitlines())


def test_code_of_a_cpu():
    """In a loop an addition stands twice: once for rows that there are, once for others."""
    loops = (
        lambda: T.serial(12),
        lambda: T.unroll(12),
        lambda: T.unroll(12, unroll_factor=1),
        lambda: T.unroll(12, unroll_factor=4),
        lambda: T.unroll(12, explicit=True),
    )
    assert list(map(additions, loops)) == [2, 2, 2, 4, 12]


@pytest.mark.parametrize(
    "loop, message",
    [
        (lambda n: T.unroll(8, unroll_factor=0), "unroll_factor of T.unroll is a positive integer, got 0"),
        (lambda n: T.unroll(8, unroll_factor=-4), "unroll_factor of T.unroll is a positive integer, got -4"),
        (lambda n: T.unroll(8, unroll_factor=2.0), "unroll_factor of T.unroll is a positive integer, got 2.0"),
        (lambda n: T.unroll(8, unroll_factor=True), "unroll_factor of T.unroll is a positive integer, got True"),
        (lambda n: T.unroll(8, explicit=True, unroll_factor=2), "T.unroll takes `explicit` or an `unroll_factor`, not both"),
        (lambda n: T.unroll(n[0], explicit=True), r"T.unroll\(explicit=True\) cannot unroll a loop of run-time bounds"),
    ],
)
def test_of_what_cannot_be(loop, message):
    with pytest.raises(Error, match=message):
        kernel(loop)
