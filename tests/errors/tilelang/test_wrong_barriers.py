"""Roles that would wait for each other for ever: one error, at the wait that does not end, with the program's names."""

import pytest
import torch

import tilery.tilelang as tilelang
from tilery.errors import Error
from tilery.tilelang import language as T

STEPS, BLOCK = 16, 64


def pipeline(arrivals=128, parity=0, fills=True, empties=True, ahead=0):
    @T.prim_func
    def main(A: T.Tensor((STEPS, BLOCK), "float32"), B: T.Tensor((STEPS, BLOCK), "float32")):
        with T.Kernel(1, threads=256):
            tiles = T.alloc_shared((2, BLOCK), "float32")
            full = T.alloc_barrier([arrivals] * 2)
            empty = T.alloc_barrier([128] * 2)
            with T.ws(1):
                for k in T.serial(STEPS):
                    T.mbarrier_wait_parity(empty[k % 2], (k // 2) % 2 ^ 1)
                    T.copy(A[k, :], tiles[k % 2, :])
                    if fills:
                        T.mbarrier_arrive(full[(k + ahead) % 2])
            with T.ws(0):
                for k in T.serial(STEPS):
                    T.mbarrier_wait_parity(full[k % 2], (k // 2) % 2 ^ parity)
                    T.copy(tiles[k % 2, :], B[k, :])
                    if empties:
                        T.mbarrier_arrive(empty[k % 2])

    return tilelang.compile(main)


CONSUMER = "T.mbarrier_wait_parity(full[k % 2], (k // 2) % 2 ^ parity)"
PRODUCER = "T.mbarrier_wait_parity(empty[k % 2], (k // 2) % 2 ^ 1)"
WRONG = {
    "parity": (
        {"parity": 1},
        CONSUMER,
        "the role of threads 0 to 127 waits for ever: `full[0]` has completed 1 phase, of which this role has waited for none: a "
        "wait with parity 1 passes over phase 0",
    ),
    "no arrival": ({"fills": False}, CONSUMER, "the role of threads 0 to 127 waits for ever: nobody arrives at `full[0]`"),
    "no release": ({"empties": False}, PRODUCER, "the role of threads 128 to 255 waits for ever: nobody arrives at `empty[0]`"),
    "few": ({"arrivals": 256}, CONSUMER, "threads 0 to 127 waits for ever: `full[0]` counts 256 arrivals a phase and gets 128"),
    "many": ({"arrivals": 64}, CONSUMER, "`full[0]` counts 64 arrivals a phase, and more threads arrive together"),
    "another one": (
        {"ahead": 1},
        CONSUMER,
        "`full[1]` has completed 2 phases before this wait for its phase 0 came: who arrives there does not wait for this role",
    ),
}


def test_the_right_one():
    a, b = torch.randn(STEPS, BLOCK), torch.zeros(STEPS, BLOCK)
    pipeline()(a, b)
    assert torch.equal(a, b)


@pytest.mark.parametrize("change, line, message", WRONG.values(), ids=WRONG)
def test_the_wait_that_does_not_end(change, line, message):
    with pytest.raises(Error) as caught:
        pipeline(**change)(torch.zeros(STEPS, BLOCK), torch.zeros(STEPS, BLOCK))
    said = str(caught.value)
    assert isinstance(caught.value, RuntimeError) and not isinstance(caught.value, NotImplementedError)
    assert ": the barriers of these roles are wrong: " in said and message in said, said
    assert said.splitlines()[1].strip() == line and said.splitlines()[2].strip() == "^", said
    assert " meanwhile\n" in said and "\n  hint: a barrier ends phase 0, 1, 2, ..." in said, said


@pytest.mark.parametrize("change", ["no arrival", "few", "many"])
def test_by_the_interpreter(change):
    with pytest.raises(RuntimeError) as caught:
        pipeline(**WRONG[change][0])(torch.zeros(STEPS, BLOCK), torch.zeros(STEPS, BLOCK), debug=True)
    said = str(caught.value)
    if change == "many":
        assert "`full[0]` counts 64 arrivals a phase and gets more than it lacks in program (0, 0, 0)" in said, said
    else:
        assert "waits for ever for `empty[0]`, whose phase of parity 0 nobody completes" in said, said
        assert PRODUCER in said


def test_barriers_without_a_name():
    """Those of a list are named by the line that makes them."""

    @T.prim_func
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1, threads=256):
            bars = [T.alloc_barrier(128), T.alloc_barrier(128)]
            with T.ws(0):
                T.barrier_wait(bars[1], 0)
                A[0] = 1
            with T.ws(1):
                T.barrier_arrive(bars[0])

    with pytest.raises(RuntimeError, match=r"waits for ever: nobody arrives at the barrier of line \d+\n    T.barrier_wait"):
        tilelang.compile(main)(torch.zeros(64))
