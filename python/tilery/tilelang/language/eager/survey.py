"""A first trace, up to the first T.Kernel or what needs a constant's value: what a function's body declares of its parameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tilery import _native

from ....errors import Error, error
from ...tracing.arithmetic import Arithmetic
from ...tracing.dtypes import dtype
from ...tracing.memory import Memory
from ...tracing.shapes import TensorType, row_major
from ...tracing.values import Var


def is_tensor(value: Any) -> bool:
    if isinstance(value, TensorType) or hasattr(value, "__dlpack__"):
        return True
    return hasattr(value, "__array_interface__") and not is_number_of_numpy(value)


def is_number_of_numpy(value: Any) -> bool:
    """np.int64(32), say, which has no length and no elements, but for the rest is like an array."""
    return hasattr(value, "__array_interface__") and not hasattr(value, "__len__")


class Reached(BaseException):
    """The first trace has seen all declarations. No Exception: those become the user's errors."""


class Survey:
    """Which parameters are tensors or run-time scalars, and of what shapes in terms of the constants."""

    surveys = True  # sizes have no values yet

    def __init__(self) -> None:
        self.tensors: dict[str, Any] = {}  # name -> TensorType, or dtype of a scalar
        self.constants: dict[str, Var] = {}
        self.dynamics: list[Var] = []

    def constant(self, name: str) -> Any:
        return self.constants.setdefault(name, Var(name, "int32"))

    def declare(self, name: str, kind: Any, value: Any) -> Any:
        if isinstance(kind, dtype):
            self.tensors[name] = kind
            return Var(name, kind)
        if not isinstance(kind, TensorType):
            return value
        self.tensors[name] = kind
        return Memory(kind.shape, kind.dtype, "global", name, strides=row_major(kind.shape))

    def reached_kernel(self) -> None:
        raise Reached

    def complete(self, function: Callable[..., Any], values: Mapping[str, Any]) -> bool:
        """Is all declared that has no value, or is a tensor?"""
        return all(
            parameter.name in self.tensors or (parameter.name in values and not is_tensor(values[parameter.name]))
            for parameter in inspect.signature(function).parameters.values()
        )


class Declared:
    """The other side of a survey: a later trace of a function whose declarations are known."""

    def __init__(self, dynamics: list[Var], constants: Mapping[str, Any]) -> None:
        self.dynamics, self.constants = dynamics, constants
        self.bound: Mapping[str, Any] = {}  # what declared parameters are in this trace

    def constant(self, name: str) -> Any:
        if name not in self.constants:
            raise error(
                RuntimeError,
                f"constant `{name}` is named after the first line that needs a constant's value",
                hint="write T.const before it",
            )
        return self.constants[name]

    def declare(self, name: str, kind: Any, value: Any) -> Any:
        return self.bound.get(name, value)  # a name that was assigned before is the parameter again

    def reached_kernel(self) -> None:
        pass


def survey(function: Callable[..., Any], values: Mapping[str, Any], signature: Mapping[str, Any]) -> Survey:
    """What the body of `function` declares, called with `values`; signature: what its annotations say already."""
    from ...tracing.trace import Trace  # what the disk cache has is not traced

    found = Survey()
    with Trace(_native.Builder("tir"), function.__name__) as trace:
        trace.eager, trace.arithmetic = found, Arithmetic(fast=False, fused=True)
        try:
            given = {name: values.get(name) for name in inspect.signature(function).parameters}
            for name, kind in signature.items():
                given[name] = found.declare(name, kind, given[name])
            trace.run(function, (), given)
        except Reached:
            pass
        except Error:  # needs a constant's value, as `if M > 64` does, or is wrong: the next trace says so
            if not found.complete(function, values):
                raise
    return found
