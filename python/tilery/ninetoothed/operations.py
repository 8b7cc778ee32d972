"""What arrangements call of a tensor: each gives a new tensor and leaves the one that it is called on as it is."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from tilery._native.arrange import Tensor

from ..core.frames import of_caller
from ..core.names import takes_options
from ..errors import Error, error
from ..frontend.wording import in_words

Sizes = Sequence[Any]  # integers and symbols


def tile(
    self: Tensor, tile_shape: Sizes, strides: Sizes | None = None, dilation: Sizes | None = None, floor_mode: bool = False
) -> Tensor:
    """Cuts this level into tiles: the result has one element for each tile, which is its `dtype`.

    Args:
        tile_shape: the tile's size in each dimension; -1: all of the dimension.
        strides: how far apart tiles begin in each dimension; -1 or None, and by default: the tile's size, so that tiles lie side
            by side. Smaller ones make windows that overlap.
        dilation: how far apart the elements of a tile lie in each dimension, 1 by default.
        floor_mode: whole tiles only. By default the last tile of a dimension may reach beyond the tensor: what it reads there is
            the tensor's `other` (0), what it stores there is dropped.

    Of a level (8, 6), `tile((4, 3))` makes (2, 2) of (4, 3); `tile((3, 3), strides=(1, -1))` makes (6, 2) of (3, 3).

    :raises tilery.ValueError: there is not one entry for each dimension, or one is not positive (nor -1).
    """
    return _tile(self, tile_shape, strides, dilation, floor_mode)


def expand(self: Tensor, shape: Sizes) -> Tensor:
    """Repeats dimensions of size 1, as torch's `expand`; -1, or the size that a dimension has, keeps it. Of a level (1, 6),
    `expand((5, -1))` makes (5, 6).

    :raises tilery.ValueError: there is not one size for each dimension, or a dimension that is to be repeated has a size other
        than 1. Where only a launch knows it, the launch raises it.
    """
    return _expand(self, shape)


def squeeze(self: Tensor, dim: int | Sequence[int]) -> Tensor:
    """Without these dimensions, which have size 1; negative ones count from the end. Of a level (1, 6, 1), `squeeze((0, 2))`
    makes (6,).

    :raises tilery.ValueError: one has another size. Where only a launch knows it, the launch raises it.
    :raises tilery.IndexError: there is no such dimension.
    """
    return _squeeze(self, dim)


def unsqueeze(self: Tensor, dim: int) -> Tensor:
    """With a new dimension of size 1 at this place; negative ones count from the end of the result. Of a level (6,),
    `unsqueeze(0)` makes (1, 6), `unsqueeze(-1)` (6, 1).

    :raises tilery.IndexError: there is no such place.
    """
    return _unsqueeze(self, dim)


def permute(self: Tensor, dims: Sequence[int]) -> Tensor:
    """With the dimensions in this order. Of a level (2, 3, 4), `permute((2, 0, 1))` makes (4, 2, 3).

    :raises tilery.ValueError: a dimension is missing or named twice.
    :raises tilery.IndexError: there is no such dimension.
    """
    return _permute(self, dims)


def flatten(self: Tensor, start_dim: int | None = None, end_dim: int | None = None) -> Tensor:
    """Makes one dimension of those from `start_dim` up to, but without, `end_dim`; by default of all of this level. Of a level
    (2, 3, 4), `flatten(1)` makes (2, 12), `flatten(end_dim=2)` (6, 4).

    :raises tilery.ValueError: there is no dimension between both.
    :raises tilery.IndexError: there is no such dimension.
    """
    return _flatten(self, start_dim, end_dim)


def ravel(self: Tensor) -> Tensor:
    """Makes one level of this one and those within: their dimensions one after the other, outermost first. Of
    (2, 2) of (4, 3) it makes (2, 2, 4, 3)."""
    return _ravel(self)


def pad(self: Tensor, pad: Sequence[tuple[Any, Any]]) -> Tensor:
    """With (before, after) more elements in each dimension, which read as the tensor's `other` (0) and drop what is
    stored there. Of a level (8, 6), `pad(((1, 1), (0, 2)))` makes (10, 8).

    :raises tilery.ValueError: there is not one pair for each dimension.
    """
    return _pad(self, pad)


def _checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A call that the function, or the binding behind it, does not take is refused with the line that calls."""
    named = takes_options(function)
    signature = inspect.signature(function)
    own = [p.name if p.default is p.empty else f"{p.name}={p.default}" for p in [*signature.parameters.values()][1:]]
    usage = f"Tensor.{function.__name__}({', '.join(own)})"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return named(*args, **kwargs)
        except Error as wrong:
            if not wrong.chain:
                wrong.chain = of_caller()
            raise
        except TypeError as wrong:
            said = in_words(str(wrong), {}).replace("this takes", f"{function.__name__}() takes", 1)
            raise error(TypeError, f"Tensor.{said}", hint=f"it is {usage}", chain=of_caller()) from None

    return call


_tile, _expand, _squeeze, _unsqueeze = Tensor.tile, Tensor.expand, Tensor.squeeze, Tensor.unsqueeze
_permute, _flatten, _ravel, _pad = Tensor.permute, Tensor.flatten, Tensor.ravel, Tensor.pad

for _function in (tile, expand, squeeze, unsqueeze, permute, flatten, ravel, pad):
    setattr(Tensor, _function.__name__, _checked(_function))
