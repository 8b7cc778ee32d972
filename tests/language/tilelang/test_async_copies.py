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
    "a method": lambda memory, i, j, n: memory.access_ptr("rw", offset=i * 64 + j, extent=n),
    "a method, which touches": lambda memory, i, j, n: memory.access_ptr(3, "handle", 1, i * 64 + j),
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


@pytest.mark.parametrize("dtype, number", [("float32", 1), ("float16", 2), ("float32", 2), ("int8", 4), ("int8", 16)])
def test_sizes_of_an_instruction(engine, dtype, number):
    @T.prim_func
    def main(A: T.Tensor((16,), dtype), B: T.Tensor((16,), dtype)):
        with T.Kernel(1):
            tile = T.alloc_shared((16,), dtype)
            for i in T.serial(16 // number):
                T.ptx_cp_async(T.address_of(tile[i * number]), T.address_of(A[i * number]), number)
            T.copy(tile, B)

    a = torch.arange(16).to(getattr(torch, dtype))
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(a, b)


@pytest.mark.parametrize("lanes", [1, 3, 0])
@pytest.mark.parametrize("dtype, text", [("float16", "1 element of float16 (2 bytes)"), ("int8", "1 element of int8 (1 byte)")])
def test_sizes_that_no_instruction_has(lanes, dtype, text):
    def main(A: T.Tensor((64,), dtype)):
        with T.Kernel(1):
            tile = T.alloc_shared((64,), dtype)
            for i in T.vectorized(lanes) if lanes else T.serial(8):
                T.ptx_cp_async(T.address_of(tile[i]), T.address_of(A[i]), 1)

    with pytest.raises(ValueError) as caught:
        T.prim_func(main)
    assert f"copies 4, 8 or 16 bytes, not {text}" in str(caught.value) and "elements at a time" in str(caught.value)


@pytest.mark.parametrize("loop", ["vectorized", "Parallel"])
def test_small_copies_of_a_vector_are_one(engine, loop):
    @T.prim_func
    def main(A: T.Tensor((64,), "int8"), B: T.Tensor((64,), "int8")):
        with T.Kernel(1, threads=32):
            tile = T.alloc_shared((64,), "int8")
            if loop == "vectorized":
                for k in T.vectorized(64):
                    if k < 60:
                        T.ptx_cp_async(T.address_of(tile[k]), T.address_of(A[k]), 1)
            else:
                for k in T.Parallel(64):
                    T.ptx_cp_async(T.address_of(tile[k]), T.address_of(A[k]), 1)
            T.copy(tile, B)

    a = torch.arange(64, dtype=torch.int8)
    b = torch.zeros_like(a)
    tilelang.compile(main)(a, b)
    assert torch.equal(a[:60], b[:60])


def test_addresses_of_vectors_are_refused():
    def main(A: T.Tensor((64,), "int8")):
        with T.Kernel(1):
            T.evaluate(A.access_ptr("r", "handle", 4))

    with pytest.raises(ValueError, match="`A.access_ptr` gives addresses of its elements.*\\n.*\\n.*\\n.*leave ptr_type"):
        T.prim_func(main)


@pytest.mark.parametrize(
    "number, count, text",
    [
        (8, 4, "copies 8 elements of float32, its addresses are for 4"),
        (3, None, "copies 4, 8 or 16 bytes, not 3 elements of float32 .12 bytes."),
    ],
)
def test_numbers_that_do_not_fit(number, count, text):
    def main(A: T.Tensor((64,), "float32")):
        with T.Kernel(1):
            tile = T.alloc_shared((64,), "float32")
            T.ptx_cp_async(T.access_ptr(tile[0], "w", extent=count), T.access_ptr(A[0], "r", extent=count), number)

    with pytest.raises(ValueError, match=text):
        T.prim_func(main)
