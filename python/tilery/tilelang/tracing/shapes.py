"""Shapes, and what a tensor parameter is declared as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...core.checks import host_number
from ...errors import error
from ...frontend.wording import counted
from .dtypes import dtype
from .values import Expr


class TensorType:
    """Annotation of a tensor parameter: shape (ints, sizes and expressions of them), element type, strides (None: row-major)."""

    def __init__(self, shape: Any, element: Any = "float32", strides: Sequence[Any] | None = None) -> None:
        self.shape = shape_of(shape)
        self.dtype = dtype(element)
        self.strides = None if strides is None else tuple(strides)
        if self.strides is not None and len(self.strides) != len(self.shape):
            raise error(
                ValueError,
                f"T.StridedTensor has {counted(len(self.shape), 'dimension')} but {counted(len(self.strides), 'stride')}",
            )

    @property
    def __tile_digest__(self) -> tuple[Any, ...]:
        return self.shape, self.dtype, self.strides

    def __repr__(self) -> str:
        strides = "" if self.strides is None else f", {show(self.strides)}"
        return f"T.{'Tensor' if self.strides is None else 'StridedTensor'}({show(self.shape)}{strides}, {self.dtype!r})"


def shape_of(shape: Any) -> tuple[Any, ...]:
    """A tuple of ints and sizes."""
    shape = tuple(map(host_number, shape)) if isinstance(shape, (tuple, list)) else (host_number(shape),)
    for size in shape:
        if isinstance(size, bool) or not isinstance(size, (int, Expr)):
            raise error(TypeError, f"a shape holds integers and sizes, got {size!r}")
        if isinstance(size, int) and size < 0:
            raise error(ValueError, f"a shape has no negative sizes, got {size}")
    return shape


def row_major(shape: Sequence[Any]) -> list[Any]:
    """Strides of a tensor without gaps."""
    strides: list[Any] = []
    step: Any = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step = step * size
    return strides


def show(items: Sequence[Any]) -> str:
    return "(" + ", ".join(map(repr, items)) + ("," if len(items) == 1 else "") + ")"
