"""The instructions of a GPU's code (SASS), by NVIDIA's cuobjdump, which reads a cubin file."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from .. import knobs

_LINE = re.compile(r"^\s*/\*([0-9a-f]{4,})\*/\s+(.*?);?\s*/\*\s*0x([0-9a-f]{16})\s*\*/", re.MULTILINE)
_FUNCTION = re.compile(r"^\s*Function\s*:\s*(\S+)", re.MULTILINE)


@functools.lru_cache(maxsize=None)
def path_to_cuobjdump() -> str:
    """Where cuobjdump is.

    :raises FileNotFoundError: nowhere."""
    found = shutil.which(knobs.nvidia.cuobjdump.path)
    if found is None:
        raise FileNotFoundError("cuobjdump is not installed: it comes with NVIDIA's toolkit; TRITON_CUOBJDUMP_PATH names it")
    return found


def extract(file_path: str, fun: str | None = None) -> str:
    """The instructions of a function in a cubin file, or of all, one a line after its name: `Function:NAME`."""
    command = [path_to_cuobjdump(), "-sass", *(["-fun", fun] if fun else []), file_path]
    text = subprocess.check_output(command).decode()
    lines: list[str] = []
    starts = [(m.start(), m.group(1)) for m in _FUNCTION.finditer(text)]
    for (start, name), (end, _) in zip(starts, [*starts[1:], (len(text), "")]):
        lines.append(f"Function:{name}")
        lines += [f"\t{m.group(2).strip()};" for m in _LINE.finditer(text, start, end)]
    return "\n".join([*lines, ""])


def get_sass(cubin_asm: bytes, fun: str | None = None) -> str:
    """The same of a cubin's bytes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernel.cubin"
        path.write_bytes(cubin_asm)
        return extract(str(path), fun)
