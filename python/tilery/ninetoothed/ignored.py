"""What NineToothed programs may set in vain (core/ignored.py)."""

from ..core.ignored import Option

_KERNEL = {
    "num_warps": Option("how many threads run a program follows from its tiles and the device", hint="num_warps"),
    "num_stages": Option("how far loads run ahead is found from the loop's loads and products"),
}
_TUNING = {
    "max_num_configs": Option("a model chooses sizes, and nothing is timed without TILERY_TUNE=1 or kernel.tune(...)"),
}

# {function: {option: why}}
ROWS: dict[str, dict[str, Option]] = {
    "ninetoothed.jit": {**_KERNEL, **_TUNING, "_prettify": Option("no code is generated as text")},
    "ninetoothed.make": {**_KERNEL, **_TUNING, "output_dir": Option("code of a kernel that is called lies in the disk cache")},
    "ninetoothed.aot": _KERNEL,
    "ninetoothed.build": _KERNEL,
    "ninetoothed.generation.CodeGenerator": {
        "caller": Option("the listing is the same for all", ("torch",)),
        "prettify": Option("the listing is written for people"),
    },
    "ninetoothed.Tensor": {"dtype": Option("a call takes its argument's type; what is built ahead of time takes this one")},
    "ninetoothed.kernel": {**_KERNEL, "max_num_configs": Option("it is said where the kernel is made")},
}
