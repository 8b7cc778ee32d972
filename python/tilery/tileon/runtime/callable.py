"""Functions that kernels call, as objects: where their source is, and what it hangs on."""

from __future__ import annotations

import functools
import inspect
import itertools
import linecache
import re
import textwrap
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...errors import error
from ...frontend.fingerprint import fingerprint, watched
from ...frontend.source import lines_of

if TYPE_CHECKING:
    import ast

_numbers = itertools.count()


class JITCallable:
    """A decorated function; ``fn`` is the function."""

    fn: Callable[..., Any]

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @functools.cached_property
    def _lines(self) -> tuple[list[str], int]:
        return lines_of(self.fn)  # type: ignore[arg-type]

    @property
    def raw_src(self) -> list[str]:
        """The lines of the definition, decorators included."""
        return self._lines[0]

    @property
    def starting_line_number(self) -> int:
        return self._lines[1]

    @property
    def src(self) -> str:
        """The definition, from its `def` on."""
        text = textwrap.dedent("".join(self.raw_src))
        found = re.search(r"^def\s+\w+\s*\(", text, re.MULTILINE)
        return text[found.start() :] if found else text

    @property
    def _fn_name(self) -> str:
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    def parse(self) -> ast.Module:
        """The syntax tree of the definition."""
        import ast

        return ast.parse(self.src)

    @property
    def def_file_name(self) -> str:
        return self.fn.__code__.co_filename

    @property
    def def_file_line_number(self) -> int:
        return self.starting_line_number

    @functools.cached_property
    def hash(self) -> str:
        """A digest of the function and of all it may read; of its source alone where that cannot be told."""
        found = fingerprint(self.fn)
        if found:
            return found
        import hashlib  # milliseconds

        return hashlib.sha256(self.src.encode()).hexdigest()

    @property
    def cache_key(self) -> str:
        self.__dict__.pop("hash", None)  # globals may have changed
        return self.hash

    @functools.cached_property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, dict[str, Any]]]:
        """{(name, id of the namespace): (value, namespace)} of the globals that it and its helpers read."""
        return {(name, id(namespace)): (value, namespace) for namespace, name, value in watched(self.fn)}

    def get_capture_scope(self) -> dict[str, Any]:
        """What names mean in the function: the globals of its module, and what it keeps of the functions around it."""
        return self.fn.__globals__ | inspect.getclosurevars(self.fn).nonlocals

    @property
    def base_fn(self) -> Callable[..., Any]:
        return self.fn

    def _unsafe_update_src(self, new_src: str) -> None:
        """Gives the function another body, as text from `def` on; globals, defaults and closure stay."""
        self.fn = _defined(self.fn, new_src)
        for name in ("_lines", "hash", "signature", "used_global_vals"):
            self.__dict__.pop(name, None)


def _defined(like: Any, source: str) -> Any:
    """The function that the text defines, among the names that `like` sees."""
    file = f"<{like.__name__} {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    names = like.__code__.co_freevars
    if names:  # compiled inside a function that has these names, so that they stay names of a closure
        values = dict(zip(names, like.__closure__))
        source = f"def {names[0]}_():\n  {' = '.join(names)} = None\n" + textwrap.indent(source, "  ")
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        code = _inner(_inner(compile(source, file, "exec"), None), like.__name__)
        closure = tuple(values[name] for name in code.co_freevars)
    else:
        code, closure = _inner(compile(source, file, "exec"), like.__name__), None
    made = types.FunctionType(code, like.__globals__, like.__name__, like.__defaults__, closure)
    made.__kwdefaults__, made.__module__, made.__qualname__ = like.__kwdefaults__, like.__module__, like.__qualname__
    made.__annotations__ = like.__annotations__
    return made


def _inner(code: types.CodeType, name: str | None) -> types.CodeType:
    """The code of the function of that name among those that `code` defines; None: of the first."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType) and name in (None, constant.co_name):
            return constant
    raise error(ValueError, f"the source defines no function `{name}`")
