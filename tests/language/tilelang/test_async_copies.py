"""T.ptx_cp_async: its number counts elements; older programs give bytes."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T


def copied(dtype, dst, src, number):
    """A copy of 64 x 64 by 128 threads, 16 bytes at a time. dst, src: the address of an element, and of how many."""
    width = 16 * 8 // T.dtype(dtype).bits
    per_row = 64 // width
    rows = 128 // per_row

    @T.prim_func
    def main(A: T.Tensor((64, 64), dtype), B: T.Tensor((64, 64), dtype)):
        with T.Kernel(1, threads=128):
            tile = T.alloc_shared((64, 64), dtype)
            tx = T.get_thread_binding()
            for r in T.serial(64 // rows):
                row, column = r * rows + tx // per_row, tx % per_row * width
                T.ptx_cp_async(dst(tile, row, column, width), src(A, row, column, width), number)
            T.ptx_commit_group()
            T.ptx_wait_group(0)
            T.sync_threads()
            T.copy(tile, B)

    a = torch.randint(-100, 100, (64, 64)).to(getattr(torch, dtype))
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(a, b)


ADDRESSES = {
    "extents": lambda memory, i, j, n: T.access_ptr(memory[i, j], "rw", n),
    "both extents": lambda memory, i, j, n: T.access_ptr(memory[i, j], 3, 1, n),
    "a list": lambda memory, i, j, n: T.access_ptr(memory[i, j], "rw", [1, n]),
    "extent": lambda memory, i, j, n: T.access_ptr(memory[i, j], "rw", extent=n),
    "a slice": lambda memory, i, j, n: T.access_ptr(memory[i, j : j + n], "rw"),
    "an element": lambda memory, i, j, n: T.access_ptr(memory[i, j], "rw"),
    "address_of": lambda memory, i, j, n: T.address_of(memory[i, j]),
}


@pytest.mark.parametrize("spelling", ADDRESSES)
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32"])
def test_elements(engine, dtype, spelling):
    copied(dtype, ADDRESSES[spelling], ADDRESSES[spelling], 16 * 8 // T.dtype(dtype).bits)


@pytest.mark.parametrize("spelling", ADDRESSES)
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_bytes_of_older_programs(engine, dtype, spelling):
    copied(dtype, ADDRESSES[spelling], ADDRESSES[spelling], 16)


def test_one_element_at_a_time(engine):
    @T.prim_func
    def main(A: T.Tensor((64,), "bfloat16"), B: T.Tensor((64,), "bfloat16")):
        with T.Kernel(1):
            tile = T.alloc_shared((64,), "bfloat16")
            for i in T.serial(8):
                for k in T.vectorized(8):
                    T.ptx_cp_async(T.address_of(tile[i * 8 + k]), T.address_of(A[i * 8 + k]), 1, i * 8 + k < 60)
            T.copy(tile, B)

    a = torch.randn(64).bfloat16()
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(b, torch.where(torch.arange(64) < 60, a, 0))


@pytest.mark.parametrize(
    "number, count, text",
    [(8, 4, "copies 8 elements of float32, its addresses are for 4"), (3, None, "16 bytes, a power of two, not 3 elements")],
)
def test_numbers_that_do_not_fit(number, count, text):
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            tile = T.alloc_shared((64,), "float32")
            T.ptx_cp_async(T.access_ptr(tile[0], "w", extent=count), T.access_ptr(A[0], "r", extent=count), number)

    with pytest.raises(ValueError, match=text):
        T.prim_func(main)
