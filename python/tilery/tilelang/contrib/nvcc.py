"""Questions that programs ask NVIDIA's compiler; it is not used, the driver answers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tilery import _native

from ...errors import error
from ..refused import TEXT, function
from ..tvm.target import Target

compile_cuda = function("compile_cuda", TEXT)
find_cuda_path = function("find_cuda_path", "no toolkit is needed: the driver assembles what is made")


def get_target_arch(compute_version: str) -> str:
    """ "9.0" as "90a", "8.0" as "80"."""
    major, _, minor = compute_version.partition(".")
    return f"{major}{minor}" + ("a" if int(major) >= 9 else "")


def get_target_compute_version(target: Any = None) -> str:
    """The compute capability of a target or, without one, of the first GPU, as "9.0"."""
    arch = Target(target).arch if target is not None else ""
    if not arch:
        if not _native.gpu_count():
            raise error(ValueError, "there is no GPU here to take the compute version from", hint="name one: cuda -arch=sm_90a")
        arch = _native.gpu_target(0)
    digits = "".join(c for c in arch.rpartition("_")[2] if c.isdigit())
    return f"{digits[:-1]}.{digits[-1]}"


def parse_compute_version(compute_version: str) -> tuple[int, int]:
    """ "9.0" as (9, 0)."""
    major, _, minor = compute_version.partition(".")
    return int(major), int(minor or 0)


def get_cuda_version(cuda_path: str | None = None) -> tuple[int, int]:
    """The version of CUDA that torch was built with; what assembles kernels is the driver's. cuda_path: that of the toolkit in
    this folder.

    :raises tilery.RuntimeError: there is no toolkit."""
    import torch

    text = (torch.version.cuda or "12.8") if cuda_path is None else _version_in(cuda_path)
    major, _, minor = text.partition(".")
    return int(major), int(minor.partition(".")[0])


def _version_in(folder: str) -> str:
    """What a toolkit says of itself: version.json, or version.txt of older ones."""
    for name in ("version.json", "version.txt"):
        try:
            text = (Path(folder) / name).read_text(encoding="utf-8")
        except OSError:
            continue
        found = re.search(r'"cuda"\s*:\s*{[^}]*"version"\s*:\s*"(\d+\.\d+)|CUDA Version (\d+\.\d+)', text)
        if found:
            return found[1] or found[2]
    message = f"get_cuda_version: there is no toolkit of CUDA in {str(folder)!r}"
    raise error(RuntimeError, message, hint="leave cuda_path out: no toolkit is needed here")


def have_fp16(compute_version: str) -> bool:
    return parse_compute_version(compute_version) >= (5, 3)


def have_tensorcore(compute_version: str | None = None, target: Any = None) -> bool:
    return parse_compute_version(compute_version or get_target_compute_version(target))[0] >= 7
