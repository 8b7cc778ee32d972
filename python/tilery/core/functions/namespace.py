"""Modules whose functions come from rows: made when they are first asked for, with a reason for every name that is not there."""

from __future__ import annotations

import functools
import importlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import error

if TYPE_CHECKING:
    from .row import Row, Written

ELEMENTWISE = "core.functions.table:ROWS"
LIBDEVICE = "core.tile.libdevice:_names"


def find(place: str) -> Any:
    """What a place below `tilery` holds: "module:name"."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module("tilery." + module), name)


class Namespace:
    """What a module offers of a language: `__getattr__, __dir__ = Namespace(...).hooks()`. `__all__` is theirs, too.

    module   name of the module, which is what its functions say of themselves
    language column of the rows
    rows     places of rows, elementwise and written ones
    call     place of call(language, row, name, *arguments), which builds an elementwise function's result; or the module that
             has these functions already
    prefix   what users write before the names
    refused  place of {reason: names of upstream}: why those of them that have no row are not offered
    modules  modules below it that belong to what it offers, imported when they are first asked for
    only     which of the rows it offers
    others   what else it has: the value of a name, or None
    later    {name: place} of what is imported when it is first asked for"""

    def __init__(
        self,
        module: str,
        language: str,
        rows: Sequence[str],
        call: str,
        prefix: str,
        refused: str | None = None,
        modules: Sequence[str] = (),
        only: Callable[[Row | Written], bool] = lambda row: True,
        others: Callable[[str], Any] = lambda name: None,
        later: Mapping[str, str] | None = None,
    ) -> None:
        self.module, self.language, self.places, self.call = module, language, rows, call
        self.prefix, self.modules, self.only, self.others = prefix, modules, only, others
        self.later, self.reasons = later or {}, refused
        self.read: dict[str, dict[str, tuple[Row | Written, Any]]] = {}  # place of rows -> {name: (row, parameters)}

    def rows_at(self, place: str) -> dict[str, tuple[Row | Written, Any]]:
        if place not in self.read:
            rows = [row for row in find(place) if self.only(row)]
            self.read[place] = {name: (row, parameters) for row in rows for name, parameters in row.spelled(self.language)}
        return self.read[place]

    def row(self, name: str) -> tuple[Row | Written, Any] | None:
        """(row, parameters) of a function; tables behind the one that has it are not read."""
        return next((rows[name] for rows in map(self.rows_at, self.places) if name in rows), None)

    @property
    def offered(self) -> dict[str, tuple[Row | Written, Any]]:
        """(row, parameters) of all functions."""
        return {name: found for place in self.places for name, found in self.rows_at(place).items()}

    @functools.cached_property
    def refused(self) -> dict[str, str]:
        reasons = find(self.reasons) if self.reasons else {}
        return {name: reason for reason, names in reasons.items() for name in names.split()}

    def get(self, name: str) -> Any:
        """The function of that name, or an AttributeError with the reason."""
        space = vars(sys.modules[self.module])
        if name in space:  # asked through a module that hands this one's names on
            return space[name]
        if name in self.modules:
            return importlib.import_module(f"{self.module}.{name}")
        if name == "__all__":
            space[name] = list(dict.fromkeys([*self.offered, *self.own, *self.later, *self.modules]))
        elif name.startswith("__") and name.endswith("__"):  # Python's own
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        elif name in self.later:
            space[name] = find(self.later[name])
        else:
            found = self.row(name)
            value = self.function(name, *found) if found else self.others(name)
            if value is None:
                raise self.missing(name)
            space[name] = value
        return space[name]

    def function(self, name: str, row: Row | Written, parameters: Any) -> Any:
        """The function of that name, made of its row."""
        from .make import make
        from .row import Written

        if isinstance(row, Written):
            return find(row.place if ":" in row.place else f"{row.place}:{row.name}")
        if ":" not in self.call:
            return find(f"{self.call}:{name}")
        call = functools.partial(find(self.call), self.language, row, name)
        return make(call, name, (*parameters, *row.options), row.defaults, self.module, row.meaning)

    def missing(self, name: str) -> Exception:
        if name in self.refused:
            return error(AttributeError, f"{self.prefix}.{name} is not supported", hint=self.refused[name])
        from ...frontend.wording import did_you_mean
        from .elsewhere import hint_for

        known = [*self.offered, *self.later, *(n for n in vars(sys.modules[self.module]) if not n.startswith("_"))]
        hint = hint_for(self.prefix, name, lambda: find(LIBDEVICE).row(name) is not None)
        hint = hint or did_you_mean(name, known, lambda near: f"{self.prefix}.{near}")
        return error(AttributeError, f"there is no {self.prefix}.{name}", hint=hint)

    def hooks(self) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
        """The module's `__getattr__` and `__dir__`, at the end of its source."""
        space = vars(sys.modules[self.module])
        self.own = [n for n, v in space.items() if not n.startswith("_") and not isinstance(v, types.ModuleType)]

        def names() -> list[str]:
            return sorted({*space, *self.offered, *self.later})

        return self.get, names
