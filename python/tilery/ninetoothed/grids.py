"""Calls whose arguments do not fit together: of different grids, or cut into the same tiles and of different sizes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tilery._native import arrange

from ..core.frames import of_function
from ..core.unwritten import callers_level
from ..errors import Error

_NAMES = re.compile(r"arguments `(\w+)` and `(\w+)`")


def warn_of_grids(kernel: str, wrong: Error) -> None:
    """A launch goes on, as upstream's does: it says what of its tensors it leaves out."""
    found = _NAMES.match(wrong.message)
    first, other = found.groups() if found else ("x", "y")
    text = (
        f"kernel `{kernel}`: {wrong.message}; there is a program for each tile of `{first}`: tiles that `{other}` has beyond "
        f"these are left as they are, those that it lacks are read as its `other` and not stored"
    )
    warnings.warn(text, RuntimeWarning, stacklevel=callers_level())


def with_sizes(wrong: Error, arguments: Mapping[str, Any], arrangement: Callable[..., Any]) -> Error:
    """The error of a check of a call's sizes, with the arrangement that was made for others and the sizes of this call."""
    found = _NAMES.match(wrong.message)
    if not found:
        return wrong
    shapes = {name: tuple(arguments[name].shape) for name in found.groups() if hasattr(arguments.get(name), "shape")}
    told = ", ".join(f"`{name}` has shape {shape}" for name, shape in shapes.items())
    remedy = "an arrangement gives each argument as many tiles, by their sizes or by expand()"
    if arrange.DIFFERENT_GRIDS not in wrong.message:
        remedy = "give both one size, or say by Tensor(..., other=0) what lies outside of the smaller one"
    wrong.hint = wrong.hint or f"{told}; {remedy}" if told else remedy
    wrong.chain = of_function(arrangement) + wrong.chain
    return wrong
