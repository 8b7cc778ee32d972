"""Environment variables that are on or off: those of the languages. Tilery's own are known to `_native.environment_switch`."""

from __future__ import annotations

import os

from ..errors import error

_ON, _OFF = ("1", "true", "on", "yes", "y"), ("0", "false", "off", "no", "n")


def is_on(name: str, text: str) -> bool:
    """Whether a text that stands in the environment variable `name` means on: 1, true, on, yes and y do, in any case; 0, false,
    off, no and n mean off.

    :raises tilery.ValueError: it is something else."""
    word = text.lower()
    if word not in _ON and word not in _OFF:
        message = f"the environment variable {name} is {text!r}; expected 1 (true, on, yes, y) or 0 (false, off, no, n)"
        raise error(ValueError, message, hint="set it to that, or unset it")
    return word in _ON


def switch(name: str, default: bool = False) -> bool:
    """Is the environment variable on? Unset or empty it is what `default` says.

    :raises tilery.ValueError: it holds no word for on or off."""
    text = os.environ.get(name)
    return default if not text else is_on(name, text)
