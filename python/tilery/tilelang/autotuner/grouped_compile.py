"""Several configurations compiled together."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..jit import compile, prepare
from ..jit.kernel import JITKernel
from .param import CompileArgs

Outcome = tuple[int, dict[str, Any], "JITKernel | None", "Exception | None"]


def compile_grouped_unit_tvm_ffi(
    unit_items: Iterable[tuple[int, dict[str, Any]]],
    compile_args: CompileArgs,
    elaborate_func: Callable[..., Any],
) -> list[Outcome]:
    """[(number, configuration, kernel or None, what went wrong or None)]: kernels of elaborate_func(**configuration), whose
    machine code is made side by side."""
    outcomes: list[Outcome] = []
    for number, config in unit_items:
        arguments = {name: value for name, value in config.items() if name != "pass_configs"}
        try:
            kernel = compile(elaborate_func(**arguments), **compile_args.options(config.get("pass_configs")))
            outcomes.append((number, config, kernel, None))
        except Exception as failure:
            outcomes.append((number, config, None, failure))
    prepare([kernel for _, _, kernel, _ in outcomes if kernel])
    return outcomes
