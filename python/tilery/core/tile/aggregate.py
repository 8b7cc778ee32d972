"""Classes of values: `@aggregate` makes of a class with annotated fields one whose objects kernels make, carry and return."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

from ...errors import error
from .types import constexpr
from .value import tensor, to_tensor, tracer


class _Bound:
    """A method of an object, made of a kernel's helper."""

    def __init__(self, function: Any, owner: Any) -> None:
        self.function, self.owner = function, owner

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return tracer().call(self.function, self.owner, *args, **kwargs)

    def __tile_trace__(self, tracer: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        return tracer.call(self.function, self.owner, *args, **kwargs)


class _Method:
    """Binds a helper that is a member of a class to the object that it is asked of."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, owner: Any, cls: type) -> Any:
        return self.function if owner is None else _Bound(self.function, owner)


def _set(fields: dict[str, Any], self: Any, name: str, value: Any) -> None:
    if name not in fields:
        raise error(AttributeError, f"{type(self).__name__} has no attribute '{name}'", hint="annotate it in the class")
    kind = fields[name]
    if kind is constexpr and not isinstance(value, (constexpr, tensor)):
        value = constexpr(value)
    elif kind is tensor and isinstance(value, (bool, int, float, constexpr)):
        value = to_tensor(value)
    if isinstance(kind, type) and not isinstance(value, kind):
        raise error(TypeError, f"Expected {kind.__name__} for attribute '{name}', got {type(value).__name__}")
    object.__setattr__(self, name, value)


def aggregate(cls: type) -> type:
    """Decorator: objects of the class are values with the annotated fields. `__init__` runs at compile time and sets every one
    (without one, the fields are its parameters); members made by @jit and @constexpr_function are methods."""
    # Other members are Python's; what the class inherits comes along.
    fields: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        fields.update(typing.get_type_hints(base) if "__annotations__" in vars(base) else {})
    members: dict[str, Any] = {
        name: _Method(member) for name, member in vars(cls).items() if hasattr(type(member), "__tile_trace__")
    }
    initialise: Callable[..., None] = cls.__init__  # type: ignore[misc]
    if getattr(initialise, "launch_plainly", None):
        raise error(ValueError, f"{cls.__name__}.__init__ cannot be a @jit function", hint="it runs at compile time")

    if initialise is object.__init__:
        parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in fields]
        signature = inspect.Signature(parameters)

        def initialise(self: Any, *args: Any, **kwargs: Any) -> None:
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                setattr(self, name, value)

    @functools.wraps(initialise)
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        initialise(self, *args, **kwargs)
        missing = [name for name in fields if not hasattr(self, name)]
        if missing and type(self) is made:
            raise error(AttributeError, f"constructor for {cls.__name__} did not initialize attribute '{missing[0]}'")

    members |= {
        "__init__": __init__,
        "__setattr__": lambda self, name, value: _set(fields, self, name, value),
        "__tile_fields__": tuple(fields),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    made = type(cls.__name__, (cls,), members)
    return made
