"""What Tileon and Triton programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

_SCHEDULE = "what waits for what is found from the loop's loads and products"

# {function: {option: why}}
ROWS = {
    "kernel[grid]": {
        "maxnreg": Option("a CPU's code takes the registers that there are"),
    },
    "tl.range": {
        "disallow_acc_multi_buffer": Option("sums stay in registers, in one buffer"),
        "flatten": Option(_SCHEDULE),
        "warp_specialize": Option(_SCHEDULE),
        "disable_licm": Option("what does not change in a loop is computed once, where that keeps its value"),
    },
}
