"""What TileLang programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

_ORDER = Option("the order of blocks is chosen for the machine's caches, where that is worth it")
_STEPS = Option("what waits for what is found from the copies and products")

# {function: {option: why}}
ROWS = {
    "T.gemm": {
        "policy": Option("how warps share a product follows from its tile and the machine", unset=(0,)),
    },
    "T.use_swizzle": dict.fromkeys(("panel_size", "order"), _ORDER),
    "T.annotate_min_blocks_per_sm": {"count": Option("how many blocks fit follows from the tiles")},
    "T.Pipelined": dict.fromkeys(("order", "stage", "group"), _STEPS),
}
