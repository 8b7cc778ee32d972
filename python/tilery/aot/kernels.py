"""Entries from compiled kernels of any language."""

from __future__ import annotations

from collections.abc import Sequence

from tilery import _native

from ..core.compile import CompiledKernel
from .bundle import Condition, Entry, Parameter, Variant

# What "cuda" means where no target is named: the GPU here, else code for Hopper and for every GPU that we know.
CUDA_TARGETS = ("sm_90a", "sm_80")


def targets_of(device: str) -> tuple[str, ...]:
    """Targets for a device as users name it: "cpu", "cuda", or a target of the compiler."""
    if device == "cpu":
        return ("host",)
    if device == "cuda":
        return (_native.gpu_target(0),) if _native.gpu_count() else CUDA_TARGETS
    return (device,)


def place(target: str) -> Condition:
    """The condition that a call is for a machine that runs this target's code."""
    if not target.startswith("sm_"):
        return ("cpu", 0, 0, _native.cpu_features_of(target))
    digits = target[3:].partition(":")[0]

    return ("gpu exactly", 0, 0, int(digits[:-1])) if digits.endswith("a") else ("gpu", 0, 0, int(digits))


def image_for(compiled: CompiledKernel, target: str, conditions: Sequence[Condition] = ()) -> Variant:
    """A variant with a kernel's code for a target."""
    on_gpu = target.startswith("sm_")
    if compiled.options["disjoint"]:
        conditions = [*conditions, ("disjoint", 0, 0, 0)]
    second = compiled.image(target=target, boxes=False) if on_gpu else b""
    image = compiled.image(target=target)

    return Variant(image, [place(target), *conditions], b"" if second == image else second)


def entry_of(name: str, image: bytes, target: str = "host", conditions: Sequence[Condition] = ()) -> Entry:
    """An entry with the code of an image, which takes what the image's host program or its only kernel takes."""
    found = _native.image_parameters(image)
    parameters = [Parameter(*p) for p in found]

    return Entry(name, parameters, [Variant(image, [place(target), *conditions])], takes_grid=not _native.CodeImage(image).host)
