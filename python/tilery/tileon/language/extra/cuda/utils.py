"""What a kernel asks of its launch and its GPU, and casts of float8e4b15."""

from typing import Any

from .....core.tile import creation
from .....core.tile.value import native, tensor, tracer, wrap


def num_warps() -> int:
    """The warps of a block that the launch asks for: 4 where it says nothing."""
    return int(tracer().hints.get("num_warps") or 4)


def num_threads() -> int:
    """The threads of those warps."""
    return 32 * num_warps()


def convert_custom_float8_sm80(arg: Any, dst_ty: Any, fp_downcast_rounding: Any = None) -> tensor:
    """A cast from or to float8e4b15."""
    return creation.cast(arg, dst_ty, fp_downcast_rounding)


convert_custom_float8_sm70 = convert_custom_float8 = convert_custom_float8_sm80


def globaltimer() -> tensor:
    """Nanoseconds of a clock that never goes back (int64), read for the program where it is now; a GPU's global timer."""
    return wrap(native().clock())


def smid() -> tensor:
    """The number of the multiprocessor that runs the program (int32); on a CPU of the thread: 0 for one that launches."""
    return wrap(native().processor())
