"""Timing and checking of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import error
from ..tracing.memory import TensorType
from ..utils.tensor import TensorSupplyType, fill, torch_assert_close
from .bench import do_bench

__all__ = ["Profiler", "TensorSupplyType", "do_bench"]


class Profiler:
    """Calls a kernel with made-up inputs (torch tensors)."""

    def __init__(self, kernel: Any, supply: TensorSupplyType) -> None:
        self.kernel, self.supply = kernel, supply

    def _inputs(self) -> list[Any]:
        import torch

        tensors = []
        for position, kind in enumerate(self.kernel.params):
            if position in self.kernel.out_idx:
                continue
            if not isinstance(kind, TensorType) or not all(isinstance(size, int) for size in kind.shape):
                raise error(ValueError, "the profiler cannot make inputs for sizes and scalars", hint="pass input_tensors")
            tensors.append(fill(torch, torch.empty(kind.shape, dtype=getattr(torch, str(kind.dtype))), self.supply))
        return tensors

    def run_once(self, func: Callable[..., Any] | None = None) -> Any:
        return (func or self.kernel)(*self._inputs())

    def do_bench(
        self,
        func: Callable[..., Any] | None = None,
        warmup: float = 25,
        rep: float = 100,
        n_warmup: int = 0,
        n_repeat: int = 0,
        input_tensors: Iterable[Any] | None = None,
        backend: str = "event",
        quantiles: Sequence[float] | None = None,
        return_mode: str = "mean",
        dynamic_symbolic_constraints: dict[str, int] | None = None,
    ) -> float | list[float]:
        """Milliseconds a call takes."""
        if dynamic_symbolic_constraints is not None:
            raise error(NotImplementedError, "do_bench does not make inputs for dynamic sizes", hint="pass input_tensors")
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        return do_bench(
            lambda: (func or self.kernel)(*inputs), warmup, rep, n_warmup, n_repeat, quantiles, return_mode=return_mode
        )

    def assert_allclose(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Iterable[Any] | None = None,
        atol: float = 1e-2,
        rtol: float = 1e-2,
        max_mismatched_ratio: float = 0.01,
    ) -> None:
        """Compares with a reference; a small share of elements may differ."""
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        ours, theirs = (_as_list(program(*inputs)) for program in (self.kernel, reference_program))
        for x, y in zip(ours, theirs):
            torch_assert_close(x, y, rtol=rtol, atol=atol, max_mismatched_ratio=max_mismatched_ratio)

    def assert_consistent(self, repeat: int = 10) -> None:
        """The same inputs give the same bits."""
        import torch

        inputs = self._inputs()
        first = _as_list(self.kernel(*inputs))
        for _ in range(repeat):
            for x, y in zip(first, _as_list(self.kernel(*inputs))):
                if not torch.equal(x, y):
                    raise error(AssertionError, "the kernel gives different results for the same inputs")


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]
