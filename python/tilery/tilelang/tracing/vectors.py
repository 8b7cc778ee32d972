"""Several numbers side by side: what `T.Ramp` names, slices in expressions, packed arithmetic. Lanes are values of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

from ...errors import error
from ...frontend.wording import counted
from .dtypes import dtype
from .values import Expr, is_number, register_vectors


class Vector(Expr):
    """Lanes, first to last."""

    __slots__ = ("lanes",)

    def __init__(self, lanes: Iterable[Any]) -> None:
        super().__init__()
        self.lanes = list(lanes)

    @property
    def dtype(self) -> dtype:
        kinds = {lane.dtype for lane in self.lanes if isinstance(lane, Expr)}
        element = kinds.pop() if kinds else "float32" if any(isinstance(lane, float) for lane in self.lanes) else "int32"
        return dtype(f"{element}x{len(self.lanes)}") if len(self.lanes) > 1 else dtype(element)

    @property
    def __tile_value__(self) -> NoReturn:
        raise error(
            TypeError,
            f"a vector of {counted(len(self.lanes), 'number')} stands where one is expected",
            hint="store it to a slice of as many elements",
        )

    def __getitem__(self, lane: Any) -> Any:
        return self.lanes[lane]

    def __repr__(self) -> str:
        return f"<vector of {len(self.lanes)}>"


class Ramp:
    """`A[T.Ramp(base, stride, lanes)]`: the elements at base, base + stride, ..."""

    def __init__(self, base: Any, stride: Any, lanes: Any) -> None:
        if not isinstance(lanes, int) or not isinstance(stride, int) or lanes < 1:
            raise error(TypeError, f"T.Ramp takes a stride and a count known at compile time, got {stride!r}, {lanes!r}")
        self.base, self.stride, self.lanes = base, stride, lanes

    def indices(self) -> list[Any]:
        return [self.base + lane * self.stride if lane else self.base for lane in range(self.lanes)]


MOST_LANES = 64


def lanes_of(value: Any) -> list[Any] | None:
    """The lanes of a vector or of a slice; None of a single number."""
    if isinstance(value, Vector):
        return value.lanes
    elements = getattr(value, "elements", None)
    return elements() if elements is not None else None


def lanewise(function: Callable[..., Any], operands: Sequence[Any]) -> Vector | None:
    """function of each lane of the operands, numbers for all lanes; None if no operand has lanes."""
    split = [lanes_of(operand) for operand in operands]
    counts = {len(lanes) for lanes in split if lanes is not None}
    if not counts:
        return None
    if len(counts) > 1:
        raise error(ValueError, f"vectors of {' and '.join(map(str, sorted(counts)))} numbers do not fit each other")
    (count,) = counts
    columns = [[operand] * count if lanes is None else lanes for operand, lanes in zip(operands, split)]
    return Vector([function(*lane) for lane in zip(*columns)])


def is_plain(value: Any) -> bool:
    """A number or a run-time value, whether of one lane or of several."""
    return is_number(value) or isinstance(value, Expr)


register_vectors(lanewise)
