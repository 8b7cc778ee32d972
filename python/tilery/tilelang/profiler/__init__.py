"""Timing and checking of kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...errors import error
from ...frontend.wording import shown
from ..tracing.shapes import TensorType
from ..tracing.values import evaluate, sizes_in
from ..utils.device import get_current_device
from ..utils.tensor import TensorSupplyType, fill, torch_assert_close, torch_for_inputs
from .bench import do_bench

__all__ = ["Profiler", "TensorSupplyType", "do_bench"]


class Profiler:
    """Calls a kernel with made-up inputs (torch tensors)."""

    def __init__(self, kernel: Any, supply: TensorSupplyType) -> None:
        self.kernel, self.supply = kernel, supply

    @property
    def params(self) -> list[Any]:
        """The types of the function's parameters."""
        return list(self.kernel.params)

    @property
    def result_idx(self) -> list[int]:
        return list(self.kernel.out_idx)

    def __call__(self, *arguments: Any) -> Any:
        return self.kernel(*arguments)

    def _get_inputs(self, with_output: bool = False, dynamic_symbolic_constraints: dict[str, int] | None = None) -> list[Any]:
        """What programs call it by."""
        return self.make_inputs(dynamic_symbolic_constraints, with_output)

    _get_params = _get_inputs

    def make_inputs(self, sizes: dict[str, int] | None = None, outputs: bool = False) -> list[Any]:
        """Tensors of the kernel's shapes, filled by the supply type, on torch's default device or else the GPU where there is
        one. sizes: the run-time sizes in them, by name; outputs: those of out_idx, too."""
        torch = torch_for_inputs()
        tensors, sizes = [], sizes or {}
        for position, kind in enumerate(self.kernel.params):
            if position in self.kernel.out_idx and not outputs:
                continue
            name = self.kernel.prim_func.params[position][0]
            if not isinstance(kind, TensorType):
                raise error(ValueError, f"the profiler cannot make up the scalar `{name}`", hint="pass input_tensors")
            used = {size.uid: size for size in sizes_in(kind.shape)}
            missing = sorted(size.name for size in used.values() if size.name not in sizes)
            if missing:
                raise error(
                    ValueError,
                    f"the profiler does not know the size {', '.join(missing)} of `{name}`",
                    hint='pass dynamic_symbolic_constraints={"%s": ...} or input_tensors' % missing[0],
                )
            known = {uid: sizes[size.name] for uid, size in used.items()}
            shape = [evaluate(size, known) for size in kind.shape]
            tensors.append(fill(torch, shape, kind.dtype, self.supply, get_current_device()))
        return tensors

    def run_once(self, func: Callable[..., Any] | None = None) -> Any:
        return (func or self.kernel)(*self.make_inputs())

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
        device: Any = None,
        early_stop_baseline: float | None = None,
    ) -> float | list[float]:
        """Milliseconds a call takes. dynamic_symbolic_constraints: run-time sizes by name, for inputs made up here."""
        if func is not None and not callable(func):
            message = f"what is timed is {shown(func)}; a function is expected"
            raise error(TypeError, message, hint="leave it out: do_bench(rep=100)")
        inputs = list(input_tensors) if input_tensors is not None else self.make_inputs(dynamic_symbolic_constraints)
        return do_bench(
            lambda: (func or self.kernel)(*inputs),
            warmup,
            rep,
            n_warmup,
            n_repeat,
            quantiles,
            backend=backend,
            return_mode=return_mode,
        )

    def manual_assert_close(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Iterable[Any] | None = None,
        manual_check_prog: Callable[..., Any] | None = None,
    ) -> None:
        """Hands the results of the kernel and of a reference to manual_check_prog."""
        inputs = list(input_tensors) if input_tensors is not None else self.make_inputs()
        if manual_check_prog is None:
            raise error(ValueError, "manual_assert_close needs manual_check_prog")
        manual_check_prog(self.kernel(*inputs), reference_program(*inputs))

    def assert_allclose(
        self,
        reference_program: Callable[..., Any],
        input_tensors: Iterable[Any] | None = None,
        atol: float = 1e-2,
        rtol: float = 1e-2,
        max_mismatched_ratio: float = 0.01,
    ) -> None:
        """Compares with a reference; a small share of elements may differ."""
        inputs = list(input_tensors) if input_tensors is not None else self.make_inputs()
        ours, theirs = (_as_list(program(*inputs)) for program in (self.kernel, reference_program))
        for x, y in zip(ours, theirs):
            torch_assert_close(x, y, rtol=rtol, atol=atol, max_mismatched_ratio=max_mismatched_ratio)

    def assert_consistent(self, repeat: int = 10) -> None:
        """The same inputs give the same bits."""
        import torch

        inputs = self.make_inputs()
        first = _as_list(self.kernel(*inputs))
        for _ in range(repeat):
            for x, y in zip(first, _as_list(self.kernel(*inputs))):
                if not torch.equal(x, y):
                    raise error(AssertionError, "the kernel gives different results for the same inputs")


def _as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]
