"""Machines that code is made for ahead of time, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilery import _native

from ..errors import error
from ..frontend.wording import did_you_mean
from .bundle import Condition

# What "cuda" means where no target is named: the GPU here, else code for Hopper and for every GPU that we know.
CUDA_TARGETS = ("sm_90a", "sm_80")
# Levels of x86-64, and the targets that make code for them. "avx512" asks for more than the level: VNNI and bf16 (Zen 4, Sapphire
# Rapids and later ones); a call on a processor without them takes code of the level below.
LEVELS = {"x86-64-v3": "avx2", "x86-64-v4": "avx512"}
CPU_TARGETS = ("host", "avx2", "avx512", "sapphirerapids", "aarch64-neon", "aarch64-dotprod")


def targets_of(device: str) -> tuple[str, ...]:
    """Targets for a device as users name it: "cpu", "cuda", or a target of the compiler."""
    if device == "cpu":
        return ("host",)
    if device == "cuda":
        return (_native.gpu_target(0),) if _native.gpu_count() else CUDA_TARGETS
    return (device,)


def targets_named(names: Iterable[str]) -> list[str]:
    """The compiler's targets for a user's names of machines, each once, and in the order in which a bundle's variants are tried:
    those first that ask for most. Names: "cpu", "cuda", a level of x86-64, or a target.

    :raises tilery.ValueError: for a name that is none of these."""
    found: dict[str, None] = {}
    for name in names:
        found.update(dict.fromkeys(targets_of(LEVELS.get(name, name))))
    known = ("cpu", "cuda", *LEVELS, *CPU_TARGETS, *CUDA_TARGETS)
    for target in found:
        number = re.fullmatch(r"sm_(\d+)a?(:\w+)?", target)
        if target not in CPU_TARGETS and not (number and int(number[1]) >= 80):
            near = did_you_mean(target, known) or "known: " + ", ".join(known) + ", and the other GPUs from sm_80 on"
            raise error(ValueError, f"there is no target {target!r}", hint=near)
    return sorted(found, key=_demand, reverse=True)


def on_gpu(target: str) -> bool:
    return target.startswith("sm_")


def _demand(target: str) -> tuple[bool, int, int]:
    if not on_gpu(target):
        features: int = _native.cpu_features_of(target)
        return True, features.bit_count(), 0
    _, _, _, number = place(target)
    return False, number, "a" in target.partition(":")[0]


def place(target: str) -> Condition:
    """The condition that a call is for a machine that runs this target's code."""
    if not on_gpu(target):
        return ("cpu", 0, 0, _native.cpu_features_of(target))
    digits = target[3:].partition(":")[0]

    return ("gpu exactly", 0, 0, int(digits[:-1])) if digits.endswith("a") else ("gpu", 0, 0, int(digits))
