"""The products that upstream's extension module hands to cuBLAS, by the torch of the program, which brings cuBLAS along."""

from __future__ import annotations

import torch


class CublasLt:
    """As upstream's `nvidia.cublas.CublasLt(workspace)`; torch has workspace of its own, so that this one stays unused."""

    def __init__(self, workspace: torch.Tensor) -> None:
        self.workspace = workspace

    def matmul(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> None:
        """c = a @ b.T for a (M, K), b (N, K), c (M, N) of one type of 8, 16 or 32 bits. ValueError: other shapes or types."""
        _check(a, b, c)
        if a.element_size() > 1:
            torch.mm(a, b.t(), out=c)
        elif a.is_cuda:
            one = torch.ones((), device=a.device)
            c.copy_(torch._scaled_mm(a, b.t(), one, one, out_dtype=torch.float32))
        else:
            c.copy_(a.float() @ b.float().t())

    def gemm(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor, alpha: float, beta: float) -> None:
        """d = alpha * a @ b.T + beta * c, c as d, floats of 16 or 32 bits. ValueError: other shapes or types."""
        _check(a, b, c)
        _check(a, b, d)
        if a.element_size() == 1:
            raise ValueError("CublasLt.gemm takes floats of 16 and 32 bits; CublasLt.matmul takes those of 8, too")
        torch.addmm(c, a, b.t(), beta=beta, alpha=alpha, out=d)


def _check(a: torch.Tensor, b: torch.Tensor, result: torch.Tensor) -> None:
    if not a.ndim == b.ndim == result.ndim == 2 or a.shape[1] != b.shape[1] or result.shape != (a.shape[0], b.shape[0]):
        shapes = ", ".join(str(tuple(x.shape)) for x in (a, b, result))
        raise ValueError(f"CublasLt multiplies (M, K) by the transpose of (N, K) into (M, N), not {shapes}")
    if not a.dtype == b.dtype == result.dtype or not a.is_floating_point():
        raise ValueError(f"CublasLt takes tensors of one float type, not {a.dtype}, {b.dtype} and {result.dtype}")
