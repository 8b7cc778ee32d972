"""T.gemm_sp against the dense product in float64, in every operand type, transposed or not."""

import pytest
import torch

from tilery import tilelang
from tilery.tilelang import language as T
from tilery.tilelang.utils.sparse import compress, get_e_factor, randint_semi_sparse, randn_semi_sparse

M, N, K, BLOCK = 48, 64, 128, 64
CASES = [
    ("float16", "int16", "float32"),
    ("bfloat16", "int8", "float32"),
    ("float32", "int16", "float32"),
    ("int8", "int32", "int32"),
    ("int8", "int8", "int32"),
    ("float8_e4m3fn", "int32", "float32"),
]


def product(kind, meta, acc, trans_A, trans_B):
    factor = get_e_factor(kind, meta)
    depth = {False: (M, K // 2), True: (K // 2, M)}[trans_A], {False: (M, K // factor), True: (K // factor, M)}[trans_A]
    tiles = [(M, BLOCK // 2), (M, BLOCK // factor), (BLOCK, N)]
    tiles = [tile[::-1] if turned else tile for tile, turned in zip(tiles, (trans_A, trans_A, trans_B))]

    @T.prim_func
    def main(
        A: T.Tensor(depth[0], kind),
        E: T.Tensor(depth[1], meta),
        B: T.Tensor((N, K) if trans_B else (K, N), kind),
        C: T.Tensor((M, N), acc),
    ):
        with T.Kernel(1, threads=128):
            a, b = T.alloc_shared(tiles[0], kind), T.alloc_shared(tiles[2], kind)
            e, c = T.alloc_shared(tiles[1], meta), T.alloc_fragment((M, N), acc)
            T.clear(c)
            for k in T.Pipelined(K // BLOCK, num_stages=2):
                if trans_A:
                    T.copy(E[k * BLOCK // factor, 0], e)
                    T.copy(A[k * BLOCK // 2, 0], a)
                else:
                    T.copy(E[0, k * BLOCK // factor], e)
                    T.copy(A[0, k * BLOCK // 2], a)
                if trans_B:
                    T.copy(B[0, k * BLOCK], b)
                else:
                    T.copy(B[k * BLOCK, 0], b)
                T.gemm_sp(a, e, b, c, trans_A, trans_A, trans_B)
            T.copy(c, C)

    return main


@pytest.mark.parametrize("kind, meta, acc", CASES)
@pytest.mark.parametrize("trans_A, trans_B", [(False, False), (False, True), (True, False)])
def test_product(kind, meta, acc, trans_A, trans_B, engine):
    torch.manual_seed(1)
    torch_kind = getattr(torch, kind)
    if "int" in kind:
        dense = randint_semi_sparse(M, K, -64, 64, torch_kind, device=None)
        other = torch.randint(-64, 64, (K, N)).to(torch_kind)
    else:
        dense = randint_semi_sparse(M, K, -4, 5, torch.int32, device=None).to(torch_kind)
        if kind != "float32":
            dense = randn_semi_sparse(M, K, torch_kind, device=None)
            dense = (dense.float() * 4).round().clamp(-8, 8).to(torch_kind)
        else:  # one of two, small numbers: sums are exact, also in tf32
            dense = (randn_semi_sparse(M, K, torch_kind, device=None) * 4).round()
        other = torch.randint(-4, 5, (K, N)).to(torch_kind)
    values, places = compress(dense, meta_dtype=getattr(torch, meta))
    assert values.shape == (M, K // 2) and places.shape == (M, K // get_e_factor(kind, meta))
    if trans_A:
        values, places = values.t().contiguous(), places.t().contiguous()
    c = torch.zeros(M, N, dtype=getattr(torch, acc))
    right = (dense.double() @ other.double()).to(c.dtype)
    tilelang.compile(product(kind, meta, acc, trans_A, trans_B))(values, places, other.t().contiguous() if trans_B else other, c)
    assert torch.equal(c, right)


def test_too_many_elements_are_refused():
    with pytest.raises(ValueError, match="more than 2 that are not 0"):
        compress(torch.ones(4, 32, dtype=torch.float16))
