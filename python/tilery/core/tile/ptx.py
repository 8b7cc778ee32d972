"""inline_asm_elementwise: the common instructions of PTX, each as the operation it is, so that every target runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ignored import ignore
from .types import unwrap
from .value import constant_of, native, to_tensor, tracer, wrap


def inline_asm_elementwise(
    asm: str, constraints: str, args: Sequence[Any], dtype: Any, is_pure: bool, pack: int
) -> Any:
    """The elements that a piece of PTX computes of those of the arguments, `pack` consecutive ones at a time. The common
    instructions are understood, on every target."""
    ignore("tl.inline_asm_elementwise", is_pure=unwrap(is_pure))
    tracer().acts |= not unwrap(is_pure)
    pack = constant_of(pack, "inline_asm_elementwise's pack")
    several = isinstance(unwrap(dtype), (tuple, list))
    kinds = [unwrap(k) for k in (dtype if several else (dtype,))]
    made = native().inline_asm(
        unwrap(asm),
        unwrap(constraints),
        [(kind.__tile_dtype__, kind.primitive_bitwidth) for kind in kinds],
        pack,
        [to_tensor(argument) for argument in args],
        tracer().touches_memory,
    )
    tiles = tuple(wrap(handle) for handle in made)
    return tiles if several else tiles[0]
