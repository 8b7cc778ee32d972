"""Timing and checking of kernels."""

import enum

from ..core.timing import measure
from ..errors import error
from .memory import TensorType


class TensorSupplyType(enum.Enum):
    """What Profiler fills inputs with."""

    Integer, Uniform, Normal, Randn, Zero, One, Auto = range(1, 8)


def do_bench(
    fn,
    warmup=25,
    rep=100,
    _n_warmup=0,
    _n_repeat=0,
    quantiles=None,
    fast_flush=True,
    backend="event",
    return_mode="mean",
    **options,
):
    """Milliseconds a call of fn takes; warmup and rep are budgets in milliseconds."""
    return measure(fn, warmup, rep, return_mode, quantiles, calls=(_n_warmup, _n_repeat))


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
            tensors.append(_fill(torch, torch.empty(kind.shape, dtype=getattr(torch, str(kind.dtype))), self.supply))
        return tensors

    def run_once(self, func=None):
        return (func or self.kernel)(*self._inputs())

    def do_bench(self, func=None, warmup=25, rep=100, n_warmup=0, n_repeat=0, input_tensors=None, **options):
        """Milliseconds a call takes."""
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        known = {key: options[key] for key in ("quantiles", "return_mode") if key in options}
        return do_bench(lambda: (func or self.kernel)(*inputs), warmup, rep, n_warmup, n_repeat, **known)

    def assert_allclose(self, reference_program, input_tensors=None, atol=1e-2, rtol=1e-2, max_mismatched_ratio=0.01):
        """Compares with a reference; a small share of elements may differ."""
        inputs = list(input_tensors) if input_tensors is not None else self._inputs()
        ours, theirs = (_as_list(program(*inputs)) for program in (self.kernel, reference_program))
        from .testing import torch_assert_close

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


def _fill(torch, tensor, supply):
    kinds = TensorSupplyType
    if supply in (kinds.Zero, kinds.One):
        return tensor.fill_(0 if supply is kinds.Zero else 1)
    if not tensor.dtype.is_floating_point:
        return tensor.random_(0, 2 if tensor.dtype in (torch.bool, torch.uint8) else 3).sub_(
            0 if tensor.dtype in (torch.bool, torch.uint8) else 1
        )
    if supply in (kinds.Normal, kinds.Randn):
        return tensor.normal_()
    return tensor.random_(-2, 3) if supply is kinds.Integer else tensor.uniform_(-1, 1)
