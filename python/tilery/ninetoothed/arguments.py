"""What is known of an application's arguments when it is compiled."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Sequence
from typing import Any

from tilery._native.arrange import Symbol

from ..core.frames import of_function
from ..errors import error
from ..frontend.wording import counted
from .flattened import Flattened


def parameters_of(application: Callable[..., Any], count: int) -> list[str]:
    """The parameters of an application that `count` arranged tensors go to, in order; those behind them keep their defaults.

    :raises TypeError: if it is no function, gathers its arguments (`*args`), or a parameter without a default gets no tensor.
    """
    name = getattr(application, "__name__", type(application).__name__)
    if not isinstance(application, types.FunctionType):
        raise error(
            TypeError,
            f"the application must be a function, got {name} ({type(application).__name__})",
            hint="write `def application(x, y): ...`, with what else it needs as constexpr tensors",
        )
    parameters = inspect.signature(application).parameters.values()
    gathering = [p for p in parameters if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if gathering:
        raise error(TypeError, f"`{name}` gathers arguments in `{gathering[0]}`: an application has a parameter for each tensor")
    missing = [p.name for p in list(parameters)[count:] if p.default is p.empty]
    if missing:
        raise error(
            TypeError,
            f"the arrangement gives {counted(count, 'tensor')}, `{name}` also takes " + ", ".join(f"`{n}`" for n in missing),
            hint=f"return a tensor for each parameter: {', '.join(p.name for p in parameters if p.default is p.empty)}",
            chain=of_function(application),
        )

    return [p.name for p in parameters][:count]


class Argument:
    """What is known of one argument when a kernel is compiled.

    :param tensor: its arrangement, with numbers for block sizes.
    :param dtype: the element type (of a scalar: its own type).
    :param strides: one entry per dimension: 1 if the stride is 1, 16 if it is divisible by 16, else 0.
    :param extents: the same of the tensor's extents.
    :param value: of a compile-time scalar.
    :param offsets: of a jagged tensor, whose `strides` and `extents` are those of what lies in memory: the type of where its
        rows begin; `lengths`: of how long they are, None where each ends where the next begins.

    ``flattened``: how its dimensions are to be seen, if otherwise than as they are.
    """

    flattened: Flattened | None = None

    def __init__(
        self,
        name: str,
        tensor: Any,
        dtype: str | None = None,
        strides: Sequence[int] = (),
        divisibility: int = 1,
        value: Any = None,
        extents: Sequence[int] = (),
        offsets: str | None = None,
        lengths: str | None = None,
    ) -> None:
        self.name, self.tensor, self.dtype, self.strides, self.extents = name, tensor, dtype, strides, extents
        self.divisibility, self.value = divisibility, value
        self.rank = tensor.source.ndim
        self.is_scalar = self.rank == 0 and tensor.levels == 1
        self.is_constant = dtype is None
        self.offsets, self.lengths = offsets, lengths

    def size_name(self, d: int) -> str:
        return f"ninetoothed_{self.tensor.name}_" + ("seq_len" if d == self.tensor.jagged_dim else f"size_{d}")


def describe(arguments: Sequence[Argument]) -> Any:
    """Plain values that, with the application, decide what a trace builds. Tensors go by their argument's name, not their own."""
    names = {a.size_name(d): Symbol(f"{a.name}_size_{d}") for a in arguments for d in range(a.rank)}

    return [
        (
            a.name,
            a.tensor.substitute(names).describe(),
            a.dtype,
            a.strides,
            a.extents,
            a.divisibility,
            a.value,
            a.flattened and a.flattened.key,
            a.tensor.other,
            a.offsets,
            a.lengths,
        )
        for a in arguments
    ]


def host_name(application: Callable[..., Any]) -> str:
    return f"{application.__name__}_host"
