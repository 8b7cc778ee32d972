"""@T.prim_func and @T.macro: functions whose source is traced."""

import ast
import copy
import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from ....core import cache
from ....core.frames import trimmed
from ....core.ignored import Ignored, told
from ....core.kept import Kept
from ....errors import Error, error
from ....frontend.source import remember, tree_of
from ...tracing import program
from ...tracing.context import current
from ...tracing.dtypes import dtype
from ...tracing.memory import Element, LocalVar, Memory, Reference
from ...tracing.shapes import TensorType
from ...tracing.sides import Sides, acts
from ...tracing.values import Var, read
from .. import pointer as _pointer  # noqa: F401  (gives buffers their access_ptr)
from .survey import Declared, survey

# How messages of checks begin that upstream makes when a function is compiled, not where it is defined.
SEMANTIC_CHECK = "[Tilelang Semantic Check]"


class Ref:
    """Annotation of a macro's parameter that is passed by reference: a variable, an element or a region."""


class PrimFunc:
    """A function of tensors and scalars whose body launches kernels. `params`: [(name, TensorType or dtype)]."""

    __name__: str

    def __init__(self, function: Callable[..., Any], names: Mapping[str, Any]) -> None:
        remember(function)  # type: ignore[arg-type]
        self.function = function
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.params: list[tuple[str, Any]] = []
        for parameter in inspect.signature(function).parameters.values():
            annotation = parameter.annotation
            if isinstance(annotation, str) and not isinstance(annotation, dtype):  # from __future__ import annotations
                annotation = eval(annotation, function.__globals__, names)
            self.params.append((parameter.name, annotation))
        self._declare()
        self.params = [(name, self._kind(name, annotation)) for name, annotation in self.params]
        try:
            cache.check_once(function, ["tilelang", self.__name__, list(self.params)], self._trace)
        except Error as failure:
            if not failure.message.startswith(SEMANTIC_CHECK) and not failure.when_compiled:
                raise
            self.failure = failure

    def _declare(self) -> None:
        """Parameters without an annotation are declared in the body: `A: T.Tensor(...)`."""
        if not any(annotation is inspect.Parameter.empty for _, annotation in self.params):
            return
        known = {name: kind for name, kind in self.params if isinstance(kind, (TensorType, dtype))}
        found = survey(self.function, {}, known)
        self.params = [
            (name, found.tensors.get(name, kind) if kind is inspect.Parameter.empty else kind) for name, kind in self.params
        ]
        self.eager = Declared(found.dynamics, {})

    failure: Error | None = None  # of a check that comes when the function is compiled

    def check(self, texts: Sequence[str] = ()) -> None:
        """Raises what makes the function impossible to compile. texts: device functions of the compilation's flags."""
        if self.failure is not None and not (texts and self.failure.awaits_texts):
            raise self.failure

    def _trace(self) -> None:
        """Errors of the function come where it is defined. What is made is kept for the first call."""
        layouts = program.usual_layouts(self.params)
        self.traced = layouts, Kept.of(lambda: program.build(self, [], dict(layouts)))

    def _kind(self, name: str, annotation: Any) -> Any:
        if isinstance(annotation, TensorType):
            return annotation
        if annotation is inspect.Parameter.empty:
            raise error(
                TypeError,
                f"parameter `{name}` of `{self.__name__}` has no annotation",
                hint="annotate it with T.Tensor(shape, dtype) or a type like T.int32",
            )
        if isinstance(annotation, (str, type)):
            return dtype(annotation)
        raise error(
            TypeError,
            f"parameter `{name}` of `{self.__name__}` is annotated with {annotation!r}",
            hint="use T.Tensor(shape, dtype) or a type like T.int32",
        )

    eager: Any = None  # see jit/eager.py
    ignored: tuple[Ignored, ...] = ()  # options of the decorator that change nothing
    traced: tuple[Any, Kept] | None = None  # (layouts, the module for them): what the definition has traced
    compile_time: tuple[Any, ...] = ()  # arguments of the function that are no parameters: part of what the disk cache looks up

    def bind(self, values: Sequence[Any]) -> tuple[Sequence[Any], Mapping[str, Any]]:
        """(positional, keyword) arguments of the function for the values of the parameters."""
        return values, {}

    def script(self) -> Any:
        """The tile IR of the function."""
        return self._module().text()

    def show(self) -> None:
        print(self.script())

    def _module(self) -> Any:
        self.check()
        if not self.traced:
            self._trace()
        assert self.traced
        return self.traced[1].module

    own_attrs: dict[str, Any] = {}  # what with_attr has added
    notes: Any = None  # what the last trace has noted: hints, and which tensors are returned

    @property
    def attrs(self) -> dict[str, Any]:
        """The function's name, the hints of its body, and `tilelang_out_idx` where it returns tensors."""
        self._module()
        own = {name: value for name, value in self.notes.items() if name not in ("gpu_only", "outputs")}
        return {"global_symbol": self.__name__, **own, **self.own_attrs}

    used: Any = None  # names of the tensors that the last trace has read or written

    def unused(self) -> list[str]:
        """The tensors that no kernel reads or writes."""
        if self.used is None:
            self._trace()
        return [name for name, kind in self.params if isinstance(kind, TensorType) and name not in self.used]

    def with_attr(self, attr_key_or_dict: Any, attr_value: Any = None) -> Any:
        """The function with attributes, which its `attrs` then has; "global_symbol" is its name."""
        given = attr_key_or_dict if isinstance(attr_key_or_dict, Mapping) else {attr_key_or_dict: attr_value}
        other = copy.copy(self)
        other.own_attrs = {**self.own_attrs, **given}
        if "global_symbol" in given:
            other.__name__, other.traced = str(given["global_symbol"]), None
        return other

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise error(
            RuntimeError,
            f"`{self.__name__}` is not compiled",
            hint="return it from a function decorated with @tilelang.jit, or pass it to tilelang.compile",
        )

    def __repr__(self) -> str:
        return f"<prim_func {self.__name__}>"


def prim_func(func: Any = None, private: bool = False, check_well_formed: bool = True) -> Any:
    """Decorator: a function of tensors whose body launches kernels."""
    names = dict(sys._getframe(1).f_locals)
    ignored = tuple(told("T.prim_func", {"private": private, "check_well_formed": check_well_formed}))

    def decorated(function: Callable[..., Any]) -> PrimFunc:
        try:
            made = PrimFunc(function, names)
        except Error as wrong:
            raise trimmed(wrong)
        made.ignored = ignored
        return made

    return decorated if func is None else decorated(func)


class Macro:
    """A function that is traced inline wherever a kernel calls it."""

    __name__: str

    def __init__(self, function: Callable[..., Any], owner: Any = None) -> None:
        remember(function)  # type: ignore[arg-type]
        self.function, self.owner = function, owner
        functools.update_wrapper(self, function)
        self.by_reference = {
            p.name for p in inspect.signature(function).parameters.values() if p.annotation in (Ref, Var, "T.Ref", "T.Var")
        }

    @property
    def __tile_digest__(self) -> Any:
        return self.function, self.owner, self.by_reference

    @functools.cached_property
    def acts(self) -> bool:
        return acts(self.function, self.by_reference)  # type: ignore[arg-type]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else Macro(self.function, instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = current()
        if trace is None:
            raise error(RuntimeError, f"macro `{self.__name__}` is called outside of a kernel")
        return Macro.__tile_trace__(self, trace, args, kwargs)

    def __tile_trace__(self, trace: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        if self.owner is not None:
            args = (self.owner, *args)
        bound = inspect.signature(self.function).bind(*args, **kwargs)
        bound.apply_defaults()
        sides = trace if isinstance(trace, Sides) else None  # in a kernel of another language: as its functions have it
        for name, value in bound.arguments.items():
            if sides:
                sides.named(value)
            if name in self.by_reference:
                if not isinstance(value, (LocalVar, Element, Memory)) and not hasattr(value, "extents"):
                    raise error(
                        ValueError,
                        f"argument `{name}` of macro `{self.__name__}` is passed by reference",
                        hint="give it a T.alloc_var, an element or a region",
                    )
                if isinstance(value, Element):
                    bound.arguments[name] = Reference(value.memory, value.indices)
            elif isinstance(value, (LocalVar, Element)):
                bound.arguments[name] = read(value)
        if sides and sides.chosen_sides and self.acts:
            return sides.where_chosen(lambda: trace.inline(self.function, bound.args, bound.kwargs))
        return trace.inline(self.function, bound.args, bound.kwargs)


def macro(func: Any = None) -> Any:
    """Decorator: a helper of kernels, traced inline at each call."""
    return Macro(func) if func is not None else Macro


def meta_class(cls: type) -> type:
    """Decorator: a class of helpers of kernels. Methods that store to elements are traced inline; buffers that `__init__` makes
    are called after their attributes."""
    for name, function in list(vars(cls).items()):
        if isinstance(function, types.FunctionType) and not name.startswith("__") and _stores(function):
            setattr(cls, name, Macro(function))
    begin: Callable[..., None] = getattr(cls, "__init__")

    @functools.wraps(begin)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **kwargs)
        prefix = getattr(self, "name", None) or cls.__name__
        for attribute, value in vars(self).items():
            if isinstance(value, LocalVar) and not value.bound:
                value.bound, value.memory.name = True, f"{prefix}_{attribute}"
                setattr(value, "name", value.memory.name)
            elif isinstance(value, Memory) and value.name is None:
                value.name = f"{prefix}_{attribute}"

    setattr(cls, "__init__", init)
    return cls


def _stores(function: types.FunctionType) -> bool:
    """Does a function assign to elements, or have control flow of its own?"""
    kinds = (ast.For, ast.While, ast.If, ast.With)
    return any(
        isinstance(node, kinds) or (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        for node in ast.walk(tree_of(function))
    )


def const(names: str) -> Any:
    """Sizes of the call's tensors as compile-time numbers: `M, N = T.const("M, N")`."""
    trace = current()
    if trace is None or trace.eager is None:
        raise error(
            RuntimeError,
            "T.const is used outside of an eager kernel",
            hint="it belongs in the body of a @tilelang.jit function that declares its tensors; elsewhere use T.dynamic",
        )
    made = tuple(trace.eager.constant(name) for name in names.replace(",", " ").split())
    return made[0] if len(made) == 1 else made
