"""Options of a launch beside the arguments: which there are, and which ask for what is not to be had. Those that change nothing
are in tileon/ignored.py."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...core import ignored
from ...core.checks import power_of_two, truth, whole
from ...core.tile.products import PRECISIONS, Products
from ...errors import error
from ...frontend.wording import shown

LAUNCH = "kernel[grid]"  # what the table calls a launch

HEEDED = (
    "debug",
    "num_warps",  # of a GPU's code that does not depend on it, and on a CPU, it is told to be ignored
    "enable_fp_fusion",
    "sanitize_overflow",
    "default_dot_input_precision",
    "allowed_dot_input_precisions",
    "max_num_imprecise_acc_default",
    "maxnreg",
    "launch_cooperative_grid",
    "launch_pdl",
)

# {option: (kind of error, message, hint)}
_DEPRECATED = "option is deprecated; current {} will be used"
REFUSED = {
    "ir_override": (
        NotImplementedError,
        "a kernel is compiled from its function; none of its stages can be given as a file",
        "leave `ir_override` out; `kernel.asm` has each stage as text",
    ),
    "instrumentation_mode": (
        NotImplementedError,
        "machine code is not instrumented",
        "leave `instrumentation_mode` out; a launch with debug=True finds races and accesses outside of tensors",
    ),
    "stream": (AssertionError, f"stream {_DEPRECATED.format('stream')}", "launch within `with torch.cuda.stream(stream):`"),
    "device": (AssertionError, f"device {_DEPRECATED.format('device')}", "a kernel runs where its tensors are"),
    "device_type": (AssertionError, f"device_type {_DEPRECATED.format('target')}", "a kernel runs where its tensors are"),
}
# What each holds, where it is set.
_SWITCHES = (
    "debug", "enable_fp_fusion", "sanitize_overflow", "launch_cooperative_grid", "launch_pdl", "enable_reflect_ftz",
    "enable_fast_math", "assume_in_bounds", "ukernels", "generate_native_code",
)  # fmt: skip
_COUNTS = (
    "num_stages", "num_ctas", "max_num_imprecise_acc_default", "warp_size", "num_buffers_warp_spec", "num_consumer_groups",
    "reg_dec_producer", "reg_inc_consumer", "ptx_version", "waves_per_eu", "matrix_instr_nonkdim", "kpack", "num_cpu_threads",
    "num_threads",
)  # fmt: skip
_TEXTS = ("arch", "backend_name", "ptx_options", "vec_lib", "instrumentation_mode", "default_dot_input_precision")
_REGISTERS = 24, 255  # of a GPU's thread: what its assembler gives at least, and what an instruction can name
_CLUSTERS = ("num_ctas", "cluster_dims")  # refused on GPUs, and on CPUs in the table

OPTIONS = tuple(dict.fromkeys((*HEEDED, *REFUSED, *ignored.table(LAUNCH))))


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """What a launch, or `compile`, is given beside the arguments, numbers as Python's.

    :raises tilery.Error: an option holds what it cannot hold."""
    values = dict(given)
    for name, value in given.items():
        what = f"`{name}`"
        if value is None or name not in OPTIONS:
            continue
        if name in _SWITCHES:
            values[name] = truth(what, value)
        elif name in _COUNTS:
            values[name] = whole(what, value)
        elif name == "num_warps":
            values[name] = power_of_two(what, value)
        elif name == "maxnreg":
            values[name] = whole(f"{what}, the registers that a thread may have,", value, least=1)
        elif name in _TEXTS and not isinstance(value, str):
            raise error(TypeError, f"{what} is {shown(value)}; text is expected")
        elif name == "allowed_dot_input_precisions" and isinstance(value, str):
            raise error(TypeError, f"{what} is {shown(value)}; a tuple of precisions is expected", hint=f"write ({value!r},)")
    return values


def refuse(given: Mapping[str, Any], gpu: bool) -> None:
    """What a launch, or `compile`, may not ask for.

    :raises tilery.Error: it does."""
    for name, (kind, message, hint) in REFUSED.items():
        if given.get(name) not in (None, ""):
            raise error(kind, message, hint=hint)
    if gpu and given.get("maxnreg") is not None:
        whole("`maxnreg`, the registers that a GPU's thread may have,", given["maxnreg"], *_REGISTERS)
    if gpu:
        asked = ignored.told(LAUNCH, {name: given.get(name) for name in _CLUSTERS})
        if asked:
            from ..runtime.errors import UnsupportedCluster

            raise UnsupportedCluster(
                f"{asked[0].option}: a program runs on one block of a GPU, or on as many as the compiler finds it needs",
                hint="leave num_ctas at 1",
            )


def in_vain(given: Mapping[str, Any]) -> list[ignored.Ignored]:
    """Those of the options that are in the table, and those that nobody knows."""
    rows = ignored.table(LAUNCH)
    known = {name: value for name, value in given.items() if name in rows}
    unknown = [name for name in given if name not in OPTIONS]  # `compile` takes any, as upstream's does
    return [
        *ignored.told(LAUNCH, known),
        *(ignored.Ignored(f"{LAUNCH}({name}={shown(given[name])})", "there is no option of that name") for name in unknown),
    ]


def products(given: Mapping[str, Any], named_triton: bool) -> Products:
    """What the environment, then a launch's options, say of products."""
    allowed = given.get("allowed_dot_input_precisions")
    tf32 = named_triton and (allowed is None or "tf32" in allowed)
    asked = os.environ.get("TRITON_F32_DEFAULT")
    if asked and asked not in PRECISIONS:
        message = f"the environment variable TRITON_F32_DEFAULT is {asked!r}; expected one of {', '.join(PRECISIONS)}"
        raise error(ValueError, message, hint="set it to that, or unset it")
    default = asked or given.get("default_dot_input_precision") or ("tf32" if tf32 else "ieee")
    if default not in PRECISIONS:
        message = f"default_dot_input_precision is {default!r}; expected one of {', '.join(PRECISIONS)}"
        raise error(ValueError, message)
    imprecise = given.get("max_num_imprecise_acc_default")
    return Products(default, None if allowed is None else tuple(allowed), imprecise)
