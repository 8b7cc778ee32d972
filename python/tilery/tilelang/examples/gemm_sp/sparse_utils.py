"""Matrices that T.gemm_sp takes."""

from ...utils.sparse import compress, get_e_factor, randint_semi_sparse, randn_semi_sparse, torch_compress

__all__ = ["compress", "get_e_factor", "randint_semi_sparse", "randn_semi_sparse", "torch_compress"]
