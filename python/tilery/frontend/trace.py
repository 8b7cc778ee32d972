"""One run of a function with symbolic values: what is being traced, which run-time regions are open."""

from __future__ import annotations

import ast
import enum
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import Error, Place, error, kind
from . import position
from .collection import no_collection
from .rewrite import rewrite
from .structure import Undefined
from .wording import did_you_mean, in_words

_MUTATORS: dict[type, set[str]] = {
    list: {"append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse"},
    dict: {"update", "pop", "popitem", "clear", "setdefault"},
    set: {"add", "discard", "remove", "pop", "clear", "update", "difference_update", "intersection_update"},
}


class Region:
    """A branch or loop body that runs at run time, under a condition or many times."""

    def __init__(self, kind: str, place: int) -> None:
        self.kind, self.place = kind, place
        self.born: dict[int, Any] = {}  # id -> host object made inside


def _from_a_program(exception: BaseException) -> bool:
    """Was it raised in code of the user's or a library's, not by an operator of Python on values of ours?"""
    traceback = exception.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    name = traceback.tb_frame.f_globals.get("__name__", "") if traceback else ""
    return not name.startswith("tilery.") and traceback is not None and id(traceback.tb_frame.f_code) not in position.CODES


def _nearest(exception: Exception) -> str | None:
    """The attribute that may have been meant where an object has none of that name."""
    if not isinstance(exception, AttributeError) or getattr(exception, "obj", None) is None:
        return None
    instead = getattr(exception.obj, "__tile_instead__", None)
    if instead and (hint := instead(exception.name)):
        return str(hint)
    return did_you_mean(exception.name, [name for name in dir(exception.obj) if name[:1] != "_"])


class Trace:
    prepare: Callable[[ast.FunctionDef], ast.FunctionDef] | None = None  # changes a function's tree before it is rewritten
    words: Mapping[str, str] = {}  # what the language calls the classes of its values, for messages
    has_with = True  # does it take `with`? Upstream of one that does not, no object is a context manager
    narrow = False  # does the language read little of what is around a function, and take no functions inside it?

    def __init__(self, builder: Any) -> None:
        self.b = builder
        self.keeps_frames = False  # do errors show where in the compiler they were raised?
        self.regions: list[Region] = []
        self.dry = 0  # > 0 while a trace is made only to be thrown away
        self.warned: set[str] = set()
        self.active: list[tuple[types.FunctionType, int]] = []  # (function, number of open regions) of the helpers being traced
        self.functions: dict[types.FunctionType, types.FunctionType] = {}  # function -> its bound, rewritten form

    # -- running -----------------------------------------------------------------------------------------------------
    def run(self, function: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None) -> Any:
        """Traces a function from outside any trace. Every exception of the program comes out as an Error at the user's line."""
        try:
            with no_collection():
                return self.inline(function, args, kwargs or {})
        except Error as e:
            if not e.chain:
                e.chain = position.of_exception(e)
            if self.keeps_frames:
                e.shows_frames = True
                raise
            raise e.with_traceback(None) from None
        except RecursionError as e:
            raise error(
                RecursionError, f"`{self.active[-1][0].__name__}` calls itself without end", chain=position.of_exception(e)[:3]
            ) from None
        except Exception as e:
            chain = position.of_exception(e)
            if not chain:
                raise
            wrong = self.explain(e, chain)
            wrong.by_python, wrong.shows_frames = True, self.keeps_frames
            raise wrong from e if _from_a_program(e) else None

    def explain(self, exception: Exception, chain: list[Place]) -> Error:
        """The Error for an exception that Python or a host library raised."""
        builtin = next(t for t in type(exception).__mro__ if issubclass(t, BaseException) and t.__module__ == "builtins")
        if isinstance(exception, NameError):
            there = [name for name, value in position.names(exception).items() if not isinstance(value, Undefined)]
            meant = did_you_mean(exception.name, there)
            return error(NameError, f"`{exception.name}` is not defined", hint=meant, chain=chain)
        if builtin is Exception or issubclass(builtin, SyntaxError):
            return kind()(f"{type(exception).__name__}: {exception}", chain=chain)
        owner = getattr(exception, "obj", None)
        if isinstance(exception, AttributeError) and isinstance(owner, enum.EnumMeta):  # whose message is the name alone
            known = "known: " + ", ".join(owner.__members__)
            return error(AttributeError, f"{owner.__name__} has no `{exception.name}`", hint=known, chain=chain)
        message = in_words(str(exception), self.words) or type(exception).__name__
        return error(builtin, message, hint=self.advice(message) or _nearest(exception), chain=chain)

    def advice(self, message: str) -> str | None:
        """The hint of an error that Python found."""
        return None

    def inline(self, function: types.FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Traces a function's body here."""
        for other, regions in self.active:
            if other is function and regions < len(self.regions):
                raise error(
                    RecursionError,
                    f"`{function.__name__}` calls itself under a run-time condition",
                    hint="helpers are traced inline, so a recursion must end at compile time; write it as a loop",
                )
        bound = self.functions.get(function)
        if bound is None:
            rewritten = rewrite(function, type(self).prepare, self.narrow, self.has_with)
            bound = self.functions[function] = rewritten.bind(function, self)
        if len(self.active) > 100:
            raise error(RecursionError, f"`{function.__name__}` calls itself without end", chain=position.current()[:3])
        self.active.append((function, len(self.regions)))
        try:
            return bound(*args, **kwargs)
        finally:
            self.active.pop()

    # -- host objects inside run-time regions ------------------------------------------------------------------------
    def made(self, value: Any) -> Any:
        """A list, dict or set was made here: changing it in the same region is fine."""
        if self.regions:
            self.regions[-1].born[id(value)] = value
        return value

    def check_change(self, owner: Any, what: str) -> None:
        if self.regions and id(owner) not in self.regions[-1].born:
            region = self.regions[-1]
            raise error(
                RuntimeError,
                f"{what} is changed inside a run-time `{region.kind}` (line {region.place})",
                hint="the change would happen once, at compile time; use a local name, or make the object inside",
            )

    def check_method(self, function: types.BuiltinMethodType) -> None:
        owner = getattr(function, "__self__", None)
        names = _MUTATORS.get(type(owner))
        if names and function.__name__ in names:
            self.check_change(owner, f"a host {type(owner).__name__} (by `{function.__name__}`)")

    def warn(self, message: str) -> None:
        """A warning at the program's line, once a trace."""
        if not self.dry and message not in self.warned:
            self.warned.add(message)
            position.warn(message)

    def line(self) -> int:
        chain = position.current()
        return chain[0][1] if chain else 0
