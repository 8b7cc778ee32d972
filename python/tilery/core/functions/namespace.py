"""Modules whose functions come from rows: made when they are first asked for, with a reason for every name that is not there."""

import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...errors import error
from .make import make
from .row import Row, Written


class Namespace:
    """What a module offers of a language: `__getattr__, __dir__, __all__ = Namespace(...).hooks()`.

    module   name of the module, which is what its functions say of themselves
    language column of the rows
    rows     elementwise and written ones
    call     call(language, row, name, *arguments) builds an elementwise function's result; or the module below `tilery` that
             has these functions already
    prefix   what users write before the names
    refused  {reason: names of upstream}: why those of them that have no row are not offered
    modules  modules below it that belong to what it offers, imported when they are first asked for
    others   what else it has: the value of a name, or None"""

    def __init__(
        self,
        module: str,
        language: str,
        rows: Iterable[Row | Written],
        call: Callable[..., Any] | str,
        prefix: str,
        refused: Mapping[str, str] | None = None,
        modules: Sequence[str] = (),
        others: Callable[[str], Any] = lambda name: None,
    ) -> None:
        self.module, self.language, self.rows, self.call = module, language, tuple(rows), call
        self.prefix, self.modules, self.others = prefix, modules, others
        self.offered = {name: (row, parameters) for row in self.rows for name, parameters in row.spelled(language)}
        self.refused = {name: reason for reason, names in (refused or {}).items() for name in names.split()}

    def get(self, name: str) -> Any:
        """The function of that name, or an AttributeError with the reason."""
        space = vars(sys.modules[self.module])
        if name in space:  # asked through a module that hands this one's names on
            return space[name]
        if name in self.modules:
            return importlib.import_module(f"{self.module}.{name}")
        if name not in self.offered:
            if name.startswith("__"):
                raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
            other = self.others(name)
            if other is None:
                raise self.missing(name)
            space[name] = other
            return other
        row, parameters = self.offered[name]
        value: Any
        if isinstance(row, Written):
            place, _, attribute = row.place.partition(":")
            value = getattr(importlib.import_module("tilery." + place), attribute or row.name)
        elif isinstance(self.call, str):
            value = getattr(importlib.import_module("tilery." + self.call), name)
        else:
            call = functools.partial(self.call, self.language, row, name)
            value = make(call, name, (*parameters, *row.options), row.defaults, self.module, row.meaning)
        space[name] = value
        return value

    def missing(self, name: str) -> Exception:
        if name in self.refused:
            return error(AttributeError, f"{self.prefix}.{name} is not supported", hint=self.refused[name])
        import difflib

        known = [*self.offered, *(n for n in vars(sys.modules[self.module]) if not n.startswith("_"))]
        near = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {self.prefix}.{near[0]}?" if near else None
        return error(AttributeError, f"there is no {self.prefix}.{name}", hint=hint)

    def hooks(self) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
        """The module's `__getattr__`, `__dir__` and `__all__`."""
        space = vars(sys.modules[self.module])

        def names() -> list[str]:
            return sorted({*space, *self.offered})

        others = [n for n, v in space.items() if not n.startswith("_") and not isinstance(v, types.ModuleType)]
        return self.get, names, list(dict.fromkeys([*self.offered, *others, *self.modules]))
