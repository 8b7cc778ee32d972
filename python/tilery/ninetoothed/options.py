"""What programs tell of a kernel beside its arrangement and application."""

from __future__ import annotations

import keyword
from collections.abc import Iterable, Mapping
from typing import Any

from ..core.checks import power_of_two, whole
from ..errors import error
from ..frontend.wording import shown

NAMES = ("num_warps", "num_stages", "max_num_configs")  # that calls may give, too
_ALTERNATIVES = ("num_warps", "num_stages")  # several values are alternatives for a tuning run


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options, numbers as Python's and several of them as tuples.

    :raises tilery.Error: one holds what it cannot hold."""
    return {name: _checked(name, value) for name, value in given.items()}


def _checked(name: str, value: Any) -> Any:
    if value is None or name not in NAMES:
        return value
    if name in _ALTERNATIVES and isinstance(value, Iterable) and not isinstance(value, str):
        return tuple(_checked(name, each) for each in value)
    if name == "num_warps":
        return power_of_two("`num_warps`", value)
    return whole(f"`{name}`", value, least=0 if name == "num_stages" else 1)


def checked_name(kernel_name: Any) -> str | None:
    """The name that a program gives a kernel; functions in C have it.

    :raises tilery.ValueError: it is no name."""
    if kernel_name is None:
        return None
    if not isinstance(kernel_name, str):
        raise error(TypeError, f"`kernel_name` is {shown(kernel_name)}; text is expected")
    if not kernel_name.isidentifier() or not kernel_name.isascii() or keyword.iskeyword(kernel_name):
        hint = "a name has letters, digits and underscores, and does not begin with a digit"
        raise error(ValueError, f"`kernel_name` is {kernel_name!r}, which is no name of a function", hint=hint)
    return kernel_name
