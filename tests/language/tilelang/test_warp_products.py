"""Products that the threads of a warp hold in parts, against Python's integers and torch in f64."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang.intrinsics import make_mma_swizzle_layout
from tilery.tilelang.intrinsics.mma_macro_generator import TensorCoreIntrinEmitter

# name of PTX, element type, depth, type of the sums
KINDS = [
    ("fp16", "float16", 16, "float32"),
    ("fp16", "float16", 8, "float32"),
    ("fp16", "float16", 16, "float16"),
    ("bf16", "bfloat16", 16, "float32"),
    ("tf32", "float32", 8, "float32"),
    ("tf32", "float32", 4, "float32"),
    ("int8", "int8", 32, "int32"),
    ("uint8", "uint8", 16, "int32"),
    ("e4m3", "float8_e4m3fn", 32, "float32"),
    ("e5m2", "float8_e5m2", 32, "float32"),
    ("fp64", "float64", 4, "float64"),
]


def numbers(dtype, *shape):
    """Small integers, which all types have, in sums that all types have."""
    low = 0 if dtype == "uint8" else -4
    return torch.randint(low, 5, shape).to(torch.float32).to(getattr(torch, dtype))


@pytest.mark.parametrize("name, dtype, k, sums", KINDS)
def test_instruction(name, dtype, k, sums, engine):
    """Elements where the instruction's layout has them: mma.m16n8k.. of PTX."""
    m, width = 8 if dtype == "float64" else 16, max(1, 32 // T.dtype(dtype).bits)
    own = m * k // 32, 8 * k // 32, m * 8 // 32

    @T.prim_func
    def main(A: T.Tensor((2, m, k), dtype), B: T.Tensor((2, 8, k), dtype), C: T.Tensor((2, m, 8), sums)):
        with T.Kernel(1, threads=64):
            tx = T.get_thread_binding()
            warp, group, place = tx // 32, tx % 32 // 4, tx % 4
            a, b, c = T.alloc_local(own[0], dtype), T.alloc_local(own[1], dtype), T.alloc_local(own[2], sums)
            for i in T.unroll(own[0]):
                word = i // width
                a[i] = A[warp, group + word % (m // 8) * 8, place * width + i % width + word // (m // 8) * 4 * width]
            for i in T.unroll(own[1]):
                b[i] = B[warp, group, place * width + i % width + i // width * 4 * width]
            for i in T.unroll(own[2]):
                c[i] = i + 1
            shape = f"m{m}n8k{k}"
            T.ptx_mma(sums, shape, "row", "col", name, name, sums, a.data, 0, b.data, 0, c.data, 0, T.bool(False))
            for i in T.unroll(own[2]):
                C[warp, group + i // 2 * 8, place * 2 + i % 2] = c[i]

    a, b = numbers(dtype, 2, m, k), numbers(dtype, 2, 8, k)
    out = tilelang.compile(main, out_idx=-1)(a, b)
    start = torch.tensor([[1 + row // 8 * 2 + column % 2 for column in range(8)] for row in range(m)])
    assert torch.equal(out.double(), a.double() @ b.double().mT + start)


@pytest.mark.parametrize("transposed", [False, True])
def test_matrices_from_and_to_shared_memory(transposed, engine):
    """Thread 8 i + r names row r of matrix i; a thread gets elements of row lane // 4, or of that column."""

    @T.prim_func
    def main(A: T.Tensor((16, 16), "float16"), B: T.Tensor((16, 16), "float16"), C: T.Tensor((16, 16), "float16")):
        with T.Kernel(1, threads=32):
            tile, other = T.alloc_shared((16, 16), "float16"), T.alloc_shared((16, 16), "float16")
            own = T.alloc_local((8,), "float16")
            lane = T.get_thread_binding()
            T.copy(A, tile)
            row, column = lane % 16, lane // 16 * 8
            T.ptx_ldmatrix("float16", transposed, 4, ".b16", own.data, 0, T.access_ptr(tile[row, column], "r"), 0)
            for i in T.unroll(8):
                B[lane // 4 + i // 2 % 2 * 8, lane % 4 * 2 + i % 2 + i // 4 * 8] = own[i]
            for i in T.unroll(4):
                low, high = T.reinterpret(own[2 * i], "uint16"), T.reinterpret(own[2 * i + 1], "uint16")
                own_word = T.cast(low, "uint32") | T.cast(high, "uint32") << 16
                T.ptx_stmatrix(transposed, 1, T.access_ptr(other[lane % 8 + i % 2 * 8, i // 2 * 8], "w"), own_word)
            T.sync_threads()
            T.copy(other, C)

    a = torch.randn(16, 16).half()
    b, c = tilelang.compile(main, out_idx=[1, 2])(a)
    blocks = a.view(2, 8, 2, 8)
    assert torch.equal(b, blocks.transpose(1, 3).reshape(16, 16) if transposed else a)
    assert torch.equal(c, a)


def product(M, N, K, dtype, sums, a_transposed, b_transposed, columns):
    emitter = TensorCoreIntrinEmitter(
        a_dtype=dtype,
        b_dtype=dtype,
        accum_dtype=sums,
        a_transposed=a_transposed,
        b_transposed=b_transposed,
        block_row_warps=2,
        block_col_warps=2,
        warp_row_tiles=32,
        warp_col_tiles=columns,
        chunk=64,
    )
    BM, BN, BK = 64, 2 * columns, 64

    @T.prim_func
    def main(
        A: T.Tensor((K, M) if a_transposed else (M, K), dtype),
        B: T.Tensor((N, K) if b_transposed else (K, N), dtype),
        C: T.Tensor((M, N), sums),
    ):
        with T.Kernel(T.ceildiv(N, BN), T.ceildiv(M, BM), threads=emitter.threads) as (bx, by):
            A_shared = T.alloc_shared((BK, BM) if a_transposed else (BM, BK), dtype)
            B_shared = T.alloc_shared((BN, BK) if b_transposed else (BK, BN), dtype)
            A_local = T.alloc_local((emitter.warp_rows * emitter.local_size_a), dtype)
            B_local = T.alloc_local((emitter.warp_cols * emitter.local_size_b), dtype)
            C_local = T.alloc_local((emitter.warp_rows * emitter.warp_cols * emitter.local_size_out), sums)
            T.annotate_layout({A_shared: make_mma_swizzle_layout(A_shared)})
            T.clear(C_local)
            for ko in T.serial(K // BK):
                if a_transposed:
                    T.copy(A[ko * BK, by * BM], A_shared)
                else:
                    T.copy(A[by * BM, ko * BK], A_shared)
                if b_transposed:
                    T.copy(B[bx * BN, ko * BK], B_shared)
                else:
                    T.copy(B[ko * BK, bx * BN], B_shared)
                for ki in T.serial(BK // emitter.micro_size_k):
                    emitter.ldmatrix_a(A_local, A_shared, ki)
                    emitter.ldmatrix_b(B_local, B_shared, ki)
                    emitter.mma(A_local, B_local, C_local, k_inner=1)
            emitter.stmatrix(C_local, C, by, bx)

    return main


@pytest.mark.parametrize("dtype, sums", [("float16", "float16"), ("bfloat16", "float32"), ("int8", "int32")])
@pytest.mark.parametrize("a_transposed, b_transposed, columns", [(False, True, 32), (True, False, 8)])
def test_product_of_warps(dtype, sums, a_transposed, b_transposed, columns, device):
    M, N, K = 128, 64, 128
    a, b = numbers(dtype, M, K), numbers(dtype, K, N)
    kernel = tilelang.compile(product(M, N, K, dtype, sums, a_transposed, b_transposed, columns), out_idx=-1)
    out = kernel(a.T.contiguous() if a_transposed else a, b.T.contiguous() if b_transposed else b)
    assert torch.equal(out.double(), a.double() @ b.double())
    assert "tilelang.TensorCoreIntrinEmitter.mma_atom(k_inner=1)" in [one.option for one in kernel.explanation.ignored]
