"""Functions that a program set around compilations: knobs.runtime and knobs.compilation say which."""

from __future__ import annotations

import json
import time
import weakref
from collections import namedtuple
from typing import Any

from .. import knobs
from ..backends import make_backend
from .describe import described, write_description

JitFunctionInfo = namedtuple("JitFunctionInfo", ["module", "name", "jit_function"])


def observed_plan(compiled: Any, is_warmup: bool) -> Any:
    """The plan of a kernel that a launch asked for, with the functions of knobs around compiling and loading."""
    before, behind = knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook
    if before is not None and before(**_description(compiled, is_warmup)):
        return _Skipped(compiled)
    start = time.perf_counter()
    enter, leave = knobs.runtime.kernel_load_start_hook, knobs.runtime.kernel_load_end_hook
    about = (compiled.name, {}, compiled.hash) if enter or leave else ()
    if enter:
        enter(None, None, *about)
    fresh = knobs.compilation.always_compile and not compiled.debug
    plan = compiled.load(compiled.fresh_image()) if fresh else compiled.plan(compiled.debug)
    listened(compiled, start)
    dump(compiled)
    if leave:
        native = getattr(plan, "kernel", None)
        leave(native, native, *about)
    if knobs.runtime.kernel_unload_hook:
        weakref.finalize(compiled, knobs.runtime.kernel_unload_hook, None, None, compiled.name, {}, compiled.hash)
    if behind is not None:
        behind(**_description(compiled, is_warmup))
    return plan


def listened(compiled: Any, start: float | None = None) -> None:
    """Tells knobs.compilation.listener of a compilation that began at `start` (by time.perf_counter)."""
    listener = knobs.compilation.listener
    if listener is not None:
        spent = 0 if start is None else int((time.perf_counter() - start) * 1e6)
        hit = start is not None and compiled.kept is None
        times = knobs.CompileTimes(0, [("image", spent)], 0)
        listener(src=compiled.src, metadata=compiled.metadata._asdict(), metadata_group={}, times=times, cache_hit=hit)


def dump(compiled: Any) -> None:
    """Shows of a kernel what switches ask for: the text of each stage goes into files under knobs.cache.dump_dir, PTX and what a
    GPU's assembler made of it to standard output."""
    if knobs.compilation.dump_ir:
        from ..runtime.cache import get_dump_manager

        manager = get_dump_manager(compiled.hash)
        for stage, text in compiled.asm.items():
            manager.put(text, f"{compiled.name}.{stage}", binary=isinstance(text, bytes))
    if compiled.debug or compiled._place().backend == "cpu":
        return
    if knobs.nvidia.dump_nvptx:
        print("// -----// NVPTX Dump //----- //", compiled.asm["ptx"], sep="\n")
    if knobs.nvidia.dump_ptxas_log and compiled.native:
        shared = compiled.native.shared_bytes
        print(f"{compiled.name}: {compiled.n_regs} registers, {compiled.n_spills} words spilled, {shared} bytes of shared memory")


class _Skipped:
    """The plan of a launch whose compilation a function of the program refused: it does nothing, and the next one asks again."""

    def __init__(self, compiled: Any) -> None:
        self.compiled, self.asked = compiled, False

    def __call__(self, grid: Any, arguments: dict[str, Any]) -> None:
        kernel = self.compiled.kernel
        if self.asked:
            kernel.forget()
            return kernel.launch_plainly(grid, **arguments)
        self.asked = True
        return None


def _description(compiled: Any, is_warmup: bool) -> dict[str, Any]:
    """What functions around compilations are given."""
    function = compiled.jit_function
    signature, known = described(compiled)
    constants = {function.arg_names[path[0]] if len(path) == 1 else path: value for path, value in known.items()}
    options = vars(make_backend(compiled._place()).parse_options(compiled.given))
    key = f"{compiled.arguments}{sorted(options.items(), key=str)}"
    data = {"name": f"{function.__module__}.{function.__qualname__}", **write_description(compiled)}
    about = {
        "key": key,
        "signature": signature,
        "device": max(compiled.device, 0),
        "constants": constants,
        "configs": [{}],
        "specialization_data": json.dumps(data, default=str),
        "is_warmup": is_warmup,
        **options,
    }
    types = ", ".join(f"{name}: {kind}" for name, kind in signature.items())
    return {
        "key": key,
        "repr": f"{function.__name__}[num_warps={options['num_warps']}, num_ctas={options['num_ctas']}, "
        f"num_stages={options['num_stages']}]({types})",
        "fn": JitFunctionInfo(function.__module__, function.__name__, function),
        "compile": about,
        "is_manual_warmup": is_warmup,
        "already_compiled": False,
    }
