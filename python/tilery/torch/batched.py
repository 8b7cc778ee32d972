"""An operator under `torch.func.vmap`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.library import CustomOpDef

from ..errors import error

METHODS = ("sequential", "expand_dims", "broadcast_all")  # as jax.ffi.ffi_call has them
_View = Callable[[torch.Tensor, int], torch.Tensor]


class Rule:
    """What `CustomOpDef.register_vmap` takes. Kernels read memory by the strides that they are given or take for granted, so
    that they get contiguous tensors, wherever the batch's axis lies."""

    def __init__(self, operator: CustomOpDef, method: str) -> None:
        self.operator, self.method = operator, method
        schema = operator._opoverload._schema
        self.written = [i for i, a in enumerate(schema.arguments) if a.alias_info is not None and a.alias_info.is_write]

    def __call__(self, info: Any, in_dims: Sequence[Any], *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        for i in self.written:
            if i >= len(args) or in_dims[i] is None:
                name = self.operator._opoverload._schema.arguments[i].name
                message = f"{self.operator._qualname} writes to `{name}`, of which there is one for the whole batch"
                raise error(ValueError, message, hint="give each element of the batch its own, by position")
        call = self._each_call if self.method == "sequential" else self._call_on_all
        result = call(info.batch_size, in_dims, args, kwargs)
        if returns_arguments(self.operator):
            return args[self.written[0]], in_dims[self.written[0]]
        return result, [0] * len(result) if isinstance(result, list) else None if result is None else 0

    def _each_call(self, size: int, in_dims: Sequence[Any], args: Sequence[Any], kwargs: Any) -> Any:
        def call(i: int) -> Any:
            return self._call(args, in_dims, kwargs, lambda tensor, dim: tensor.select(dim, i), lambda tensor: tensor)

        results = [call(i) for i in range(size)]
        if isinstance(results[0], (tuple, list)):
            return [torch.stack(parts) for parts in zip(*results)]
        return None if results[0] is None else torch.stack(results)

    def _call_on_all(self, size: int, in_dims: Sequence[Any], args: Sequence[Any], kwargs: Any) -> Any:
        def alone(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.unsqueeze(0).expand(1 if self.method == "expand_dims" else size, *tensor.shape)

        result = self._call(args, in_dims, kwargs, lambda tensor, dim: tensor.movedim(dim, 0), alone)
        result = list(result) if isinstance(result, (tuple, list)) else result
        for tensor in result if isinstance(result, list) else [] if result is None else [result]:
            if not tensor.ndim or tensor.shape[0] != size:
                message = f"{self.operator._qualname} gives the shape {tuple(tensor.shape)} for a batch of {size} in front"
                hint = 'vmap_method="sequential" is for functions that do not take further axes in front'
                raise error(ValueError, message, hint=hint)
        return result

    def _call(
        self, args: Sequence[Any], in_dims: Sequence[Any], kwargs: Any, view: _View, alone: Callable[[torch.Tensor], torch.Tensor]
    ) -> Any:
        """The operator on view(tensor, dim) of what has a batch and alone(tensor) of what has none. What was written goes back to
        where it came from."""
        places = [_mapped(arg, dim, view, alone) for arg, dim in zip(args, in_dims)]
        given = [_mapped(place, None, view, torch.Tensor.contiguous) for place in places]
        result = self.operator(*given, **kwargs)
        for i in self.written:
            if given[i] is not places[i]:
                places[i].copy_(given[i])
        return result


def returns_arguments(operator: CustomOpDef) -> bool:
    """Does it return what it has written to? Other results are no arguments."""
    return any(result.alias_info is not None for result in operator._opoverload._schema.returns)


def _mapped(value: Any, dim: Any, view: _View, alone: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """A tensor, or those of a list, by `view` where it has a batch, else by `alone`; anything else as it is."""
    if isinstance(value, torch.Tensor):
        return alone(value) if dim is None else view(value, dim)
    if isinstance(value, (tuple, list)):
        return [_mapped(v, d, view, alone) for v, d in zip(value, dim if isinstance(dim, (tuple, list)) else [None] * len(value))]
    return value
