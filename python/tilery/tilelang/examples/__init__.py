"""Helpers that programs import from the examples beside upstream's package: `examples.gemm_sp.sparse_utils` and the like."""
