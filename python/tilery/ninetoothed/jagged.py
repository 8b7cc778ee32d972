"""Jagged arguments: nested tensors whose rows differ in length, and what a kernel takes of one."""

from __future__ import annotations

from typing import Any

from ..errors import error

# What a kernel takes of one, by the ends of the parameters' names: the rows' elements, where each row begins, how long it is
# (None: up to the next one) and the length of the longest.
PARTS = ("", "_row_offsets", "_row_lengths", "_max_seq_len")


class Rows:
    """A nested tensor of PyTorch with `layout=torch.jagged`, as a tensor with the longest row's length for the jagged dimension.

    ``parts``: the values of the parameters of :data:`PARTS`. ``shape``, ``device``, ``itemsize`` and ``stride()`` are a tensor's.
    """

    def __init__(self, values: Any, offsets: Any, lengths: Any, longest: int, jagged_dim: int) -> None:
        self.parts = (values, offsets, lengths, longest)
        shape = [offsets.shape[0] - 1, *values.shape]
        shape[jagged_dim] = longest
        self.shape, self._values = tuple(shape), values
        self.device, self.itemsize = values.device, values.itemsize
        self.is_meta = values.is_meta

    def stride(self) -> tuple[int, ...]:
        return (0, *self._values.stride())


def rows_of(function: str, name: str, rank: int, jagged_dim: int, value: Any) -> Rows:
    """The rows of an argument of `function`, whose arrangement starts from a tensor of `rank` dimensions.

    :raises TypeError: if the argument is no jagged nested tensor.
    :raises ValueError: if its rows differ in another dimension than the arrangement says.
    """
    values, offsets = getattr(value, "_values", None), getattr(value, "_offsets", None)
    if values is None or offsets is None or callable(values):
        raise error(
            TypeError,
            f"argument `{name}` of kernel `{function}` must be a jagged nested tensor, got {type(value).__name__}",
            hint="make it with torch.nested.nested_tensor(rows, layout=torch.jagged)",
        )
    given = value._ragged_idx
    if given != jagged_dim or values.ndim + 1 != rank:
        raise error(
            ValueError,
            f"argument `{name}` of kernel `{function}` has {values.ndim + 1} dimensions "
            f"and rows that differ in dimension {given}",
            hint=f"its arrangement starts from Tensor({rank}, jagged_dim={jagged_dim})",
        )

    return Rows(values, offsets, value._lengths, _longest(value), jagged_dim)


def _longest(value: Any) -> int:
    """The length of the longest row: asked for once by each nested tensor, which remembers it (on a GPU that is a wait)."""
    if value.shape[0] == 0:
        return 0
    lengths = value._lengths

    return int(value._get_max_seqlen() if lengths is None else lengths.max())
