"""Functions with signatures of their own, made from rows: a template of so many parameters under other names."""

import sys
import types

_QUALIFIED = {"co_qualname"} if sys.version_info >= (3, 11) else set()


def _one(call):
    def function(a):
        return call(a)

    return function


def _two(call):
    def function(a, b):
        return call(a, b)

    return function


def _three(call):
    def function(a, b, c):
        return call(a, b, c)

    return function


def _four(call):
    def function(a, b, c, d):
        return call(a, b, c, d)

    return function


_TEMPLATES = (None, _one, _two, _three, _four)


def make(call, name, parameters, defaults, module, meaning):
    """The function `name` of `module` with these parameters; the last ones have defaults. It passes them on to `call`."""
    template = _TEMPLATES[len(parameters)](call)
    renamed = {"co_name": name, "co_varnames": tuple(parameters), **dict.fromkeys(_QUALIFIED, name)}
    function = types.FunctionType(
        template.__code__.replace(**renamed), template.__globals__, name, tuple(defaults) or None, template.__closure__
    )
    # The disk cache tells functions of this package apart by module and name.
    function.__module__, function.__qualname__, function.__doc__ = module, name, meaning
    return function
