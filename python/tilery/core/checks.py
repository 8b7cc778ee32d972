"""What options hold: numbers and switches as programs write them, numpy's too, and errors that name the option where it is
something else."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

from ..errors import error
from ..frontend.wording import did_you_mean, shown


def host_number(value: Any) -> Any:
    """A scalar of numpy's as Python's number, anything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value


def is_whole(value: Any) -> bool:
    """Is it an integer, numpy's too, and no truth value?"""
    return not isinstance(value, bool) and hasattr(type(value), "__index__") and not getattr(value, "shape", ())


def whole(what: str, value: Any, least: int = 0, most: int | None = None, hint: str | None = None) -> int:
    """The integer that an option holds.

    :raises tilery.TypeError: it is none.
    :raises tilery.ValueError: it is not between `least` and `most`."""
    bounds = f"from {least} to {most}" if most is not None else "that is positive" if least == 1 else f"of at least {least}"
    if not is_whole(value):
        raise error(TypeError, f"{what} is {shown(value)}; an int {bounds} is expected", hint=hint)
    number = int(value)
    if number < least or most is not None and number > most:
        raise error(ValueError, f"{what} is {number}; an int {bounds} is expected", hint=hint)
    return number


def power_of_two(what: str, value: Any) -> int:
    """The integer that an option holds, a power of 2.

    :raises tilery.AssertionError: it is no power of 2."""
    if not is_whole(value):
        raise error(TypeError, f"{what} is {shown(value)}; a power of 2 is expected")
    number = int(value)
    if number < 1 or number & (number - 1):
        raise error(AssertionError, f"{what} must be a power of 2, got {number}")
    return number


def truth(what: str, value: Any) -> bool:
    """The truth value that an option holds; 0 and 1 are such, texts are none.

    :raises tilery.TypeError: it is none."""
    known = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") or is_whole(value) and int(value) in (0, 1)
    if not known:
        raise error(TypeError, f"{what} is {shown(value)}; True or False is expected")
    return bool(value)


def amount(what: str, value: Any, unit: str = "") -> float:
    """A number of milliseconds or the like, at least 0.

    :raises tilery.TypeError: it is no number.
    :raises tilery.ValueError: it is negative, or NaN."""
    kind = f"a number of {unit}" if unit else "a number"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise error(TypeError, f"{what} is {shown(value)}; {kind} is expected")
    number = float(value)
    if not number >= 0:
        raise error(ValueError, f"{what} is {shown(value)}; {kind} that is not negative is expected")
    return number


def known_name(what: str, name: Any, names: Iterable[str], kind: str) -> None:
    """Refuses a name that is none of `names`, with the one that may have been meant.

    :raises tilery.ValueError: it is none of them."""
    names = list(names)
    if name in names:
        return
    hint = did_you_mean(name, names, repr) or f"known: {', '.join(names)}"
    raise error(ValueError, f"{what} names {name!r}, which is no {kind}", hint=hint)
