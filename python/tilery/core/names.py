"""Names: of functions that are made, and those that programs get wrong, options of decorators and functions, and what a module
has."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

from ..errors import Error, error
from ..frontend.wording import did_you_mean
from .frames import trimmed

_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(function: _Function, name: str, text: str) -> _Function:
    """A function that is made, with its name and what it does."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = text
    return function


def takes_options(function: _Function, trims: bool = False) -> _Function:
    """Decorator of what programs call with options: a name that it does not have is refused with the one that may be meant.

    :param trims: its errors show the program's frames, and the line of the call where they have none.

    :raises tilery.TypeError: in calls, for such a name."""
    code = function.__code__
    known = frozenset(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs.keys() <= known:
            wrong = next(name for name in kwargs if name not in known)
            told = sorted(name for name in known if name != "self" and not name.startswith("_"))
            name = function.__qualname__.removesuffix(".__init__")
            hint = did_you_mean(wrong, told) or "its options: " + ", ".join(told)
            raise error(TypeError, f"{name}() got an unexpected keyword argument '{wrong}'", hint=hint)
        return function(*args, **kwargs)

    @functools.wraps(function)
    def call_of_program(*args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except Error as wrong:
            raise trimmed(wrong)

    return cast(_Function, call_of_program if trims else call)


def told_name(function: Any) -> str:
    """What reports and messages call the kernel of a function whose name many others may have (`application`, `main`): with the
    function that makes it in front, or with its module, unless that is the program itself."""
    *around, name = function.__qualname__.replace(".<locals>", "").split(".")
    module = [] if function.__module__ in ("__main__", None) else [function.__module__.rpartition(".")[2]]
    return ".".join([*(around or module)[-1:], name])


def no_attribute(module: str, name: str) -> AttributeError:
    """What a module's `__getattr__` raises for a name that the module does not have."""
    message = f"module {module!r} has no attribute {name!r}"
    if name.startswith("__"):  # Python's own, which it asks for often
        return AttributeError(message)
    wrong = error(AttributeError, message, hint=did_you_mean(name, getattr(sys.modules[module], "__all__", ())))
    return cast(AttributeError, wrong)
