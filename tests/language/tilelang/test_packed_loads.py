"""Several points of T.Parallel read one element of a buffer: packed numbers, scales of groups; in the spellings of programs."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T

ROWS, COLUMNS = 16, 32

INDICES = {
    "halves of bytes": ((ROWS, COLUMNS // 2), lambda i, j: (i, j // 2)),
    "groups of columns": ((ROWS, COLUMNS // 8), lambda i, j: (i, j // 8)),
    "groups of both": ((ROWS // 4, COLUMNS // 2), lambda i, j: (i // 4, j // 2)),
    "turned": ((COLUMNS // 2, ROWS), lambda i, j: (j // 2, i)),
    "a line": ((COLUMNS // 4,), lambda i, j: (j // 4,)),
    "a line of rows": ((ROWS // 2,), lambda i, j: (i // 2,)),
    "all of a row": ((ROWS, 1), lambda i, j: (i, j // COLUMNS)),
    "a part of a larger buffer": ((ROWS, COLUMNS), lambda i, j: (i, j // 2)),
    "behind an offset": ((ROWS, COLUMNS // 2 + 1), lambda i, j: (i, (j + 2) // 2)),
    "one index twice": ((COLUMNS // 2, COLUMNS // 2), lambda i, j: (j // 2, j // 2)),
    "shifted": ((ROWS, COLUMNS // 2), lambda i, j: (i, j >> 1)),
}


@pytest.mark.gpu
@pytest.mark.parametrize("scope", ["shared", "fragment"])
@pytest.mark.parametrize("name", INDICES)
def test_indices(device, name, scope):
    shape, at = INDICES[name]
    alloc = T.alloc_shared if scope == "shared" else T.alloc_fragment

    @tilelang.jit(out_idx=[1])
    def unpack():
        @T.prim_func
        def main(A: T.Tensor(shape, "int32"), B: T.Tensor((ROWS, COLUMNS), "int32")):
            with T.Kernel(1, threads=128):
                packed, out = alloc(shape, "int32"), T.alloc_fragment((ROWS, COLUMNS), "int32")
                T.copy(A, packed)
                for i, j in T.Parallel(ROWS, COLUMNS):
                    out[i, j] = (packed[at(i, j)] >> (8 * (j % 4))) & 255
                T.copy(out, B)

        return main

    a = torch.randint(-(2**31), 2**31, shape, dtype=torch.int32, generator=torch.Generator().manual_seed(1), device="cpu")
    i, j = torch.meshgrid(torch.arange(ROWS, device="cpu"), torch.arange(COLUMNS, device="cpu"), indexing="ij")
    places = at(i, j)
    expected = (a[tuple(places)] >> (8 * (j % 4)).int()) & 255
    assert torch.equal(unpack()(a.to(device)).cpu(), expected.int())


SIZES = [(64, 64, 64, 64), (128, 64, 96, 64), (100, 72, 64, 64), (16, 48, 128, 16), (128, 256, 96, 128), (200, 128, 64, 128)]


@tilelang.jit(out_idx=[2])
def dequantised(M, N, K, block):
    """Weights of 4 bits, two in a byte, times scales of groups of 16 rows of k."""

    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((N, K // 2), "uint8"), C: T.Tensor((M, N), "float32"),
             S: T.Tensor((N, K // 16), "float16")):  # fmt: skip
        with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
            a, packed = T.alloc_shared((block, 32), "float16"), T.alloc_shared((block, 16), "uint8")
            scales, b = T.alloc_shared((block, 2), "float16"), T.alloc_fragment((block, 32), "float16")
            c = T.alloc_fragment((block, block), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
                T.copy(A[by * block, k * 32], a)
                T.copy(B[bx * block, k * 16], packed)
                T.copy(S[bx * block, k * 2], scales)
                for i, j in T.Parallel(block, 32):
                    bits = (packed[i, j // 2] >> (4 * (j % 2)).astype("uint8")) & 15
                    b[i, j] = bits.astype("float16") * scales[i, j // 16]
                T.gemm(a, b, c, transpose_B=True)
            T.copy(c, C[by * block, bx * block])

    return main


@pytest.mark.gpu
@pytest.mark.parametrize("m, n, k, block", SIZES)
def test_a_product_of_packed_weights(device, m, n, k, block):
    g = torch.Generator().manual_seed(2)
    a = torch.randint(-2, 3, (m, k), generator=g, device="cpu").half()
    b = torch.randint(0, 256, (n, k // 2), generator=g, device="cpu").to(torch.uint8)
    s = torch.randint(1, 3, (n, k // 16), generator=g, device="cpu").half()
    whole = torch.stack([b & 15, b >> 4], -1).reshape(n, k).double() * s.double().repeat_interleave(16, 1)
    got = dequantised(m, n, k, block)(a.to(device), b.to(device), s.to(device))
    assert torch.equal(got.cpu().double(), a.double() @ whole.T)
