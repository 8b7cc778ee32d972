"""Functions with signatures of their own, made from rows: a template of so many parameters under other names."""

import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

Call = Callable[..., Any]

_QUALIFIED = {"co_qualname"} if sys.version_info >= (3, 11) else set()


def _one(call: Call) -> Call:
    def function(a: Any) -> Any:
        return call(a)

    return function


def _two(call: Call) -> Call:
    def function(a: Any, b: Any) -> Any:
        return call(a, b)

    return function


def _three(call: Call) -> Call:
    def function(a: Any, b: Any, c: Any) -> Any:
        return call(a, b, c)

    return function


def _four(call: Call) -> Call:
    def function(a: Any, b: Any, c: Any, d: Any) -> Any:
        return call(a, b, c, d)

    return function


_TEMPLATES = (_one, _two, _three, _four)


def make(
    call: Call, name: str, parameters: Sequence[str], defaults: Iterable[Any], module: str, meaning: str
) -> types.FunctionType:
    """The function `name` of `module` with these parameters; the last ones have defaults. It passes them on to `call`."""
    template = _TEMPLATES[len(parameters) - 1](call)
    renamed: dict[str, Any] = {"co_name": name, "co_varnames": tuple(parameters), **dict.fromkeys(_QUALIFIED, name)}
    function = types.FunctionType(
        template.__code__.replace(**renamed), template.__globals__, name, tuple(defaults) or None, template.__closure__
    )
    # The disk cache tells functions of this package apart by module and name.
    function.__module__, function.__qualname__, function.__doc__ = module, name, meaning
    return function
