"""`make`: a kernel from an arrangement and an application."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tilery._native.arrange import Tensor

from ..core.frames import of_function
from ..core.names import takes_options
from ..errors import error
from ..frontend.wording import counted, shown
from .arguments import parameters_of
from .jit import CALLERS, Kernel

if TYPE_CHECKING:
    from .aot import Launcher


def _arranged(arrangement: Callable[..., Any], application: Callable[..., Any], tensors: tuple[Any, ...]) -> list[Tensor]:
    """What the arrangement makes of the tensors, for each parameter of the application."""
    place = of_function(arrangement)
    try:
        inspect.signature(arrangement).bind(*tensors)
    except ValueError:  # one that Python knows no signature of
        pass
    except TypeError as wrong:
        takes, given = inspect.signature(arrangement), counted(len(tensors), "tensor")
        raise error(
            TypeError,
            f"the arrangement takes {takes}, and `make` has {given} for it: {wrong}",
            hint="give it a parameter for each tensor, in the order of `make`'s list",
            chain=place,
        ) from None
    arranged = arrangement(*tensors)
    if arranged is None:
        hint = "return the arranged tensors: `return x.tile(...), y.tile(...)`"
        raise error(TypeError, "the arrangement returns nothing", hint=hint, chain=place)
    if not isinstance(arranged, tuple):
        arranged = (arranged,)
    names = parameters_of(application, len(arranged))
    for name, tensor in zip(names, arranged):
        if not isinstance(tensor, Tensor):
            given = f"the arrangement gives {tensor!r} for `{name}` of `{application.__name__}`; a Tensor is expected"
            raise error(TypeError, given, chain=place)
    return list(arranged[: len(names)])  # more are ignored


@functools.partial(takes_options, trims=True)
def make(
    arrangement: Callable[..., Any],
    application: Callable[..., Any],
    tensors: Iterable[Tensor],
    caller: str = "torch",
    kernel_name: str | None = None,
    output_dir: Any = None,
    num_warps: int | Sequence[int] | None = None,
    num_stages: int | Sequence[int] | None = None,
    max_num_configs: int | None = None,
) -> Kernel | Launcher:
    """A kernel from an arrangement and an application: `arrangement(*tensors)` gives the application's arguments in order.

    :param caller: "torch": compiled when it is called; "cpu" or "cuda": compiled now, into `output_dir`, as `aot` says.
    """
    application = getattr(application, "fn", application)  # a function of Tileon, too
    if not isinstance(tensors, Iterable):
        given = f"`make` has {shown(tensors)} as its tensors; a tuple of them is expected"
        raise error(TypeError, given, hint="write (Tensor(1), Tensor(1))")
    arranged = _arranged(arrangement, application, tuple(tensors))
    if caller in CALLERS:
        from .aot import aot

        kernel = Kernel(
            application, arranged, "torch", arrangement, kernel_name, {"num_warps": num_warps, "num_stages": num_stages}
        )
        return aot(kernel, caller, kernel_name, output_dir)
    options = {"num_warps": num_warps, "num_stages": num_stages, "max_num_configs": max_num_configs}
    return Kernel(application, arranged, caller, arrangement, kernel_name, options, output_dir=output_dir)
