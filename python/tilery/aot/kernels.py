"""Entries from compiled kernels of any language."""

from __future__ import annotations

from collections.abc import Sequence

from tilery import _native

from ..core.compile import CompiledKernel
from .bundle import Condition, Entry, Parameter, Variant
from .targets import on_gpu, place


def image_for(compiled: CompiledKernel, target: str, conditions: Sequence[Condition] = ()) -> Variant:
    """A variant with a kernel's code for a target."""
    if compiled.options["disjoint"]:
        conditions = [*conditions, ("disjoint", 0, 0, 0)]
    second = compiled.image(target=target, boxes=False) if on_gpu(target) else b""
    image = compiled.image(target=target)

    return Variant(image, [place(target), *conditions], b"" if second == image else second)


def entry_of(name: str, image: bytes, target: str = "host", conditions: Sequence[Condition] = ()) -> Entry:
    """An entry with the code of an image, which takes what the image's host program or its only kernel takes."""
    found = _native.image_parameters(image)
    parameters = [Parameter(*p) for p in found]

    return Entry(name, parameters, [Variant(image, [place(target), *conditions])], takes_grid=not _native.CodeImage(image).host)
