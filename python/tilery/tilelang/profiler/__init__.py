"""Timing and checking of kernels."""

from ...errors import error
from ..tracing.memory import TensorType
from ..utils.tensor import TensorSupplyType, fill, torch_assert_close
from .bench import do_bench

__all__ = ["Profiler", "TensorSupplyType", "do_bench"]


class Profiler:
    """Calls a kernel with made-up inputs (torch tensors)."""

    def __init__(self, kernel, supply):
        self.kernel, self.supply = kernel, supply

    def _inputs(self):
        import torch

        tensors = []
        for position, kind in enumerate(self.kernel.params):
            if position in self.kernel.out_idx:
                continue
            if not isinstance(kind, TensorType) or not all(isinstance(size, int) for size in kind.shape):
                raise error(ValueError, "the profiler cannot make inputs for sizes and scalars", hint="pass input_tensors")
            tensors.append(fill(torch, torch.empty(kind.shape, dtype=getattr(torch, str(kind.dtype))), self.supply))
        return tensors

    def run_once(self, func=None):
        return (func or self.kernel)(*self._inputs())

    def do_bench(
        self,
        func=None,
        warmup=25,
        rep=100,
        n_warmup=0,
        n_repeat=0,
        input_tensors=None,
        backend="event",
        quantiles=None,
        return_mode="mean",
        dynamic_symbolic_constraints=None,
    ):
        """Milliseconds a call takes."""
        if dynamic_symbolic_constraints is not None:
            raise error(NotImplementedError, "do_bench does not make inputs for dynamic sizes", hint="pass input_tensors")
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        return do_bench(
            lambda: (func or self.kernel)(*inputs), warmup, rep, n_warmup, n_repeat, quantiles, return_mode=return_mode
        )

    def assert_allclose(self, reference_program, input_tensors=None, atol=1e-2, rtol=1e-2, max_mismatched_ratio=0.01):
        """Compares with a reference; a small share of elements may differ."""
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        ours, theirs = (_as_list(program(*inputs)) for program in (self.kernel, reference_program))
        for x, y in zip(ours, theirs):
            torch_assert_close(x, y, rtol=rtol, atol=atol, max_mismatched_ratio=max_mismatched_ratio)

    def assert_consistent(self, repeat=10):
        """The same inputs give the same bits."""
        import torch

        inputs = self._inputs()
        first = _as_list(self.kernel(*inputs))
        for _ in range(repeat):
            for x, y in zip(first, _as_list(self.kernel(*inputs))):
                if not torch.equal(x, y):
                    raise error(AssertionError, "the kernel gives different results for the same inputs")


def _as_list(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]
