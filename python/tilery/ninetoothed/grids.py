"""Calls whose arguments do not fit together: of different grids, cut into the same tiles and of other sizes, or multiplied."""

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


def is_launched(wrong: Error) -> bool:
    """Does a launch go on, as upstream's does, which is refused only where sizes are checked?"""
    return arrange.DIFFERENT_GRIDS in wrong.message or arrange.DIFFERENT_INNER_SIZES in wrong.message


def warn_of_sizes(kernel: str, wrong: Error) -> None:
    """Such a launch says what of its tensors it leaves out."""
    found = _NAMES.match(wrong.message)
    first, other = found.groups() if found else ("x", "y")
    if arrange.DIFFERENT_INNER_SIZES in wrong.message:
        what = "what the larger one has beyond the smaller counts as multiplied by 0"
    else:
        what = (
            f"there is a program for each tile of `{first}`: tiles that `{other}` has beyond these are left as they are, those "
            f"that it lacks are read as its `other` and not stored"
        )
    warnings.warn(f"kernel `{kernel}`: {wrong.message}; {what}", RuntimeWarning, stacklevel=callers_level())


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
