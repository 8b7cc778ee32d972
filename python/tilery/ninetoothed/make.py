"""`make`: a kernel from an arrangement and an application."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tilery._native.arrange import Tensor

from ..core.names import takes_options
from ..errors import error
from .arguments import parameters_of
from .jit import CALLERS, Kernel

if TYPE_CHECKING:
    from .aot import Launcher


@takes_options
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
    arranged = arrangement(*tensors)
    if arranged is None:
        hint = "return the arranged tensors: `return x.tile(...), y.tile(...)`"
        raise error(TypeError, "the arrangement returns nothing", hint=hint)
    if not isinstance(arranged, tuple):
        arranged = (arranged,)
    names = parameters_of(application, len(arranged))
    arranged = arranged[: len(names)]  # more are ignored
    for name, tensor in zip(names, arranged):
        if not isinstance(tensor, Tensor):
            raise error(
                TypeError, f"the arrangement gives {tensor!r} for `{name}` of `{application.__name__}`; a Tensor is expected"
            )

    if caller in CALLERS:
        from .aot import aot

        kernel = Kernel(
            application, list(arranged), "torch", arrangement, kernel_name, {"num_warps": num_warps, "num_stages": num_stages}
        )
        return aot(kernel, caller, kernel_name, output_dir)
    options = {"num_warps": num_warps, "num_stages": num_stages, "max_num_configs": max_num_configs}
    return Kernel(application, list(arranged), caller, arrangement, kernel_name, options, output_dir=output_dir)
