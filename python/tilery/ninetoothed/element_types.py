"""Element types that tensors declare, by each of the names that programs give them."""

from __future__ import annotations

from ..core.frames import of_caller
from ..core.tile.types import dtype as element_type
from ..errors import error
from ..frontend.wording import did_you_mean
from . import dtype as dtypes

# What C callers name types by, and how configurations of `build` do: the position.
DTYPES = tuple(dtypes.NAMES.values())


def tile_dtype(name: str) -> str:
    """The tile IR's name of `fp32` (which is ninetoothed.float32), `float32` or what Triton's signatures have.

    :raises tilery.ValueError: there is no such type."""
    known = name.removeprefix("ninetoothed.")
    if known in DTYPES:
        return known
    if known in dtypes.NAMES:
        return dtypes.NAMES[known]
    try:
        return str(element_type(known).__tile_dtype__)
    except ValueError:
        hint = did_you_mean(known, (*DTYPES, *dtypes.NAMES)) or f"there are {', '.join(DTYPES)}"
        if known.startswith("*"):
            hint = f"write `{known.lstrip('*')}`: a tensor of NineToothed is named by the type of its elements"
        raise error(ValueError, f"there is no element type `{name}`", hint=hint, chain=of_caller()) from None
