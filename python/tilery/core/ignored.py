"""Options that programs set and that change neither what a kernel computes nor how fast it does: each stands in a table with its
reason (docs/reference/ignored.md), and a kernel's explanation names those that its program set."""

from __future__ import annotations

import contextlib
import contextvars
import importlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Place
from ..frontend import position
from ..frontend.wording import shown

TABLES = {
    "tl": "tileon.ignored",
    "tileon": "tileon.ignored",
    "kernel[grid]": "tileon.ignored",
    "knobs": "tileon.ignored",
    "T": "tilelang.ignored",
    "tilelang": "tilelang.ignored",
    "ninetoothed": "ninetoothed.ignored",
}


@dataclass(frozen=True)
class Option:
    """Why an option is ignored, and the values with which nobody asks for anything. hint: the one (compiler/ir/hints.h) that it
    gives; code that heeds it does not ignore the option."""

    reason: str
    unset: tuple[Any, ...] = (None, False)
    hint: str = ""

    def is_unset(self, value: Any) -> bool:
        return any(value is known or type(value) is type(known) and value == known for known in self.unset)


@dataclass(frozen=True)
class Ignored:
    """An option that a program set. place: (file, line, column, function), where a kernel's own code sets it. hint: Option's."""

    option: str
    reason: str
    place: Place | None = None
    hint: str = ""

    @staticmethod
    def text_of(ignored: Sequence[Ignored]) -> str:
        """For the disk cache."""
        import json  # few kernels have any

        return json.dumps([(each.option, each.reason, each.place, each.hint) for each in ignored]) if ignored else ""

    @classmethod
    def of_text(cls, text: str) -> list[Ignored]:
        if not text:
            return []
        import json

        return [cls(option, reason, tuple(place) if place else None, hint) for option, reason, place, hint in json.loads(text)]

    def __str__(self) -> str:
        where = f"{self.place[0]}:{self.place[1]}: " if self.place else ""
        return f"{where}{self.option} is ignored: {self.reason}"


def table(function: str) -> Mapping[str, Option]:
    """{option: why it is ignored} of a function by the name that programs use, as in "tl.range"."""
    module = importlib.import_module(f"tilery.{TABLES[function.partition('.')[0]]}")
    options: Mapping[str, Option] = module.ROWS[function]
    return options


def told(function: str, given: Mapping[str, Any], place: Place | None = None, called: str | None = None) -> list[Ignored]:
    """Those of the given options that ask for something. Each must be in the table; "" is the call itself. called: the function's
    name in the program, where it is not that of the table."""
    rows = table(function)
    return [
        Ignored(f"{called or function}({name and f'{name}={shown(value)}'})", rows[name].reason, place, rows[name].hint)
        for name, value in given.items()
        if not rows[name].is_unset(value)
    ]


_record: contextvars.ContextVar[tuple[dict[Ignored, None], str] | None] = contextvars.ContextVar("ignored", default=None)


def ignore(function: str, **given: Any) -> None:
    """Says in the explanation of the kernel that is traced which of these options its program sets."""
    record = _record.get()
    if record is None or not told(function, given):
        return
    found, shared = record
    places = position.current()
    called = f"{shared}.{function.removeprefix('tl.')}" if function.startswith("tl.") else function
    found.update(dict.fromkeys(told(function, given, places[0] if places else None, called)))


@contextlib.contextmanager
def recording(shared: str = "tl") -> Iterator[dict[Ignored, None]]:
    """What `ignore` is told within, each once: a kernel may be traced several times. shared: what the program's language calls
    the functions that the table has as tl's."""
    record: dict[Ignored, None] = {}
    token = _record.set((record, shared))
    try:
        yield record
    finally:
        _record.reset(token)
