"""What an arrangement gives to whom, as tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from tilery._native.arrange import Tensor

from ..errors import error
from .eval import eval


def simulate_arrangement(
    arrangement: Callable[..., Any], tensors: Iterable[Tensor], device: Any = None
) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """The elements that each program of an arrangement gets.

    :param tensors: what the arrangement takes; tensors of known sizes.
    :param device: where the results are, the CPU by default.
    :return: (sources, targets), torch tensors of int64. A source holds its elements' numbers, row-major. A target has the shape
        (programs, next level..., innermost level...) and holds numbers of its source's elements, -1 where there is none.
    :raises ValueError: if a size is not known.
    """
    import torch

    device = torch.device("cpu" if device is None else device)
    tensors = tuple(tensors)
    arranged = arrangement(*tensors)
    arranged = arranged if isinstance(arranged, tuple) else (arranged,)
    sources, targets = [], []
    for tensor in tensors:
        if isinstance(tensor, Tensor):
            shape = _known(tensor, tensor.source.sizes)
            sources.append(torch.arange(math.prod(shape), device=device).reshape(shape))
    for tensor in arranged:
        _known(tensor, tensor.source.sizes)
        table = torch.from_numpy(eval(tensor)).to(device)
        grid = tensor.ndim
        targets.append(table.reshape(math.prod(table.shape[:grid]), *table.shape[grid:]) if grid else table)

    return tuple(sources), tuple(targets)


def _known(tensor: Tensor, shape: Iterable[Any]) -> list[int]:
    sizes = [size.simplified().constant for size in shape]
    if None in sizes:
        raise error(
            ValueError,
            f"size {sizes.index(None)} of `{tensor.source.name}` is not known",
            hint="simulate with tensors of known sizes: Tensor(shape=(4, 8))",
        )

    return sizes
