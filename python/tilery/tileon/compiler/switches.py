"""What switches of knobs, or their environment variables, ask of a compilation: what is not to be had, and what is in vain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import Any

from ...core.ignored import Ignored
from ...core.present import present
from ...errors import error
from ...frontend.wording import shown
from ..ignored import ROWS

_STAGES = "a kernel is compiled from its function; none of its stages can be replaced"
_NO_CHECKS = "machine code is not instrumented"
_CHECKED = "a launch with debug=True finds races and accesses outside of tensors"
# {group: {switch: (why it is refused, what to do)}}
REFUSED = {
    "compilation": {
        "override": (_STAGES, "kernel.asm has each stage as text, and knobs.compilation.dump_ir writes them"),
        "enable_asan": (_NO_CHECKS, _CHECKED),
        "instrumentation_mode": (_NO_CHECKS, _CHECKED),
    },
    "runtime": {"add_stages_inspection_hook": (_STAGES, "kernel.asm has each stage as text")},
}
# Without these in the environment, and without `knobs` imported, nothing is asked.
_VARIABLES = re.compile(
    r"TRITON_(?!CACHE_DIR|HOME)|AMDGCN_|NVPTX_|DISABLE_PTXAS_OPT|PTXAS_OPTIONS|USE_IR_LOC|LLVM_EXTRACT_DI_LOCAL_VARIABLES"
)


def may_ask() -> bool:
    """Is any switch set, or any function around compilations?"""
    return present("tilery.tileon.knobs") is not None or any(map(_VARIABLES.match, os.environ))


def refuse(target: str | None) -> None:
    """target: the compiler's name of a GPU; None: a CPU.

    :raises tilery.NotImplementedError: a switch asks for what is not to be had."""
    if not may_ask():
        return
    from .. import knobs

    for group, switches in REFUSED.items():
        for name, (why, instead) in switches.items():
            value = getattr(getattr(knobs, group), name)
            if value:
                raise error(NotImplementedError, f"knobs.{group}.{name} is {shown(value)}: {why}", hint=instead)
    arch = knobs.runtime.override_arch
    if target and arch and re.sub(r"\D", "", arch) != re.sub(r"\D", "", target.partition(":")[0]):
        message = f"knobs.runtime.override_arch is {arch!r}: code is made for the GPU that is there, {target.partition(':')[0]}"
        raise error(NotImplementedError, message, hint="TILERY_GPU_TARGET=sm_80 makes it for an older one")


def in_vain() -> list[Ignored]:
    """The switches of the table that are set."""
    return list(_in_vain()) if may_ask() else []


def _in_vain() -> Iterator[Ignored]:
    from .. import knobs

    for function, rows in ROWS.items():
        kind, _, group_name = function.partition(".")
        if kind != "knobs":
            continue
        group: Any = getattr(knobs, group_name)
        for name, option in rows.items():
            descriptor = group.knob_descriptors[name]
            if name not in vars(group) and descriptor.key not in os.environ:
                continue
            value = getattr(group, name)
            if value is not None and value != descriptor.default:
                yield Ignored(f"{function}.{name}={shown(getattr(value, 'path', value))}", option.reason)
