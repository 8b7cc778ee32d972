"""A digest of a function and of everything it may read, without running or parsing it: what a warm start compares with the
disk cache.

It covers the code objects (also their lines, which end up in line tables), the values of all globals and closure names that
the code
mentions, through modules (`config.BLOCK`) and through other functions, and defaults. What it cannot describe makes it give up."""

from __future__ import annotations

import dataclasses
import dis
import enum
import types
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import _Hash

_ATTRIBUTE = {"LOAD_ATTR", "LOAD_METHOD"}
_OUTSIDE = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF"}
_MISSING = object()


def sha256(data: bytes = b"") -> _Hash:
    """hashlib's, which is imported at the first call: it loads OpenSSL, which takes 2 ms."""
    import hashlib

    return hashlib.sha256(data)


class _Unknown(Exception):
    pass


# Asked for by the cache's key and again by the trace; as long as the code lives.
_reads: weakref.WeakKeyDictionary[types.CodeType, frozenset[tuple[str, ...]]] = weakref.WeakKeyDictionary()


def reads_of(code: types.CodeType) -> frozenset[tuple[str, ...]]:
    """Dotted names that a code object (and those inside it) may read from outside, as tuples."""
    if (known := _reads.get(code)) is not None:
        return known
    paths: set[tuple[str, ...]] = set()
    path: tuple[str, ...] | None = None
    for instruction in dis.get_instructions(code):
        if instruction.opname in _OUTSIDE:
            path = (instruction.argval,)
        elif instruction.opname in _ATTRIBUTE and path:
            path = (*path, instruction.argval)
        else:
            path = None
            continue
        paths.add(path)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            paths |= reads_of(constant)
    found = _reads[code] = frozenset(paths)
    return found


class _Digest:
    def __init__(self) -> None:
        self.hash = sha256()
        self.seen: dict[int, tuple[int, Any]] = {}

    def text(self, *parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self.hash.update(len(data).to_bytes(8, "little") + data)

    def code(self, code: types.CodeType) -> None:
        self.text(
            "code",
            code.co_code,
            code.co_names,
            code.co_varnames,
            code.co_freevars,
            code.co_flags,
            code.co_linetable,
            code.co_firstlineno,
            code.co_filename,
            code.co_name,
        )
        for constant in code.co_consts:
            self.code(constant) if isinstance(constant, types.CodeType) else self.value(constant)

    def function(self, function: types.FunctionType) -> None:
        code = function.__code__
        self.code(code)
        self.value(function.__defaults__)
        self.value(function.__kwdefaults__)
        cells = dict(zip(code.co_freevars, function.__closure__ or ()))
        for path in sorted(reads_of(code)):
            try:
                value = cells[path[0]].cell_contents if path[0] in cells else function.__globals__.get(path[0], _MISSING)
            except ValueError:
                value = _MISSING
            for name in path[1:]:
                if not isinstance(value, types.ModuleType) or value.__name__.startswith("tilery."):
                    break  # what a module of ours offers is known by our sources, and made when it is asked for
                value = getattr(value, name, _MISSING)
            if value is not _MISSING:
                self.text(".".join(path))
                self.value(value)

    def members_of(self, cls: type) -> None:
        """What a class says of the values that kernels make of it: its fields, and the functions among its members."""
        self.value(getattr(cls, "_fields", None))
        self.value(getattr(cls, "__tile_fields__", None))
        for name, member in sorted(vars(cls).items()):
            member = getattr(member, "function", member)
            if isinstance(member, types.FunctionType) or isinstance(getattr(member, "fn", None), types.FunctionType):
                self.text(name)
                self.value(member)
        for base in cls.__bases__:
            self.value(base)

    def value(self, value: Any) -> Any:
        kind = type(value)
        if value is None or value is Ellipsis or kind in (bool, int, float, complex, str, bytes):
            return self.text(kind.__name__, repr(value))
        if id(value) in self.seen:
            return self.text("seen", self.seen[id(value)][0])
        self.seen[id(value)] = len(self.seen), value  # kept alive: the id of an object that is gone may be another's
        if kind in (tuple, list):
            self.text(kind.__name__, len(value))
            for item in value:
                self.value(item)
        elif kind is dict:
            self.text("dict", len(value))
            for key, item in value.items():
                self.value(key)
                self.value(item)
        elif kind in (set, frozenset):
            self.text(kind.__name__, sorted(map(repr, value)))
        elif kind is types.FunctionType:
            self.text("function", value.__module__, value.__qualname__)
            if not (value.__module__ or "").startswith("tilery."):
                self.function(value)
        elif isinstance(value, (type, types.BuiltinFunctionType, types.ModuleType)):
            self.text(kind.__name__, getattr(value, "__module__", ""), getattr(value, "__qualname__", value.__name__))
            if isinstance(value, type) and not value.__module__.startswith(("tilery.", "builtins")):
                self.members_of(value)
        elif isinstance(getattr(value, "fn", None), types.FunctionType):  # a kernel or another decorated function
            self.text("decorated", kind.__qualname__)
            self.value(value.fn)
        elif isinstance(value, enum.Enum):
            self.text("enum", kind.__qualname__, value.name)
        elif hasattr(value, "__tile_digest__"):
            self.text(kind.__qualname__)
            self.value(value.__tile_digest__)
        elif dataclasses.is_dataclass(value):
            self.text("dataclass", kind.__qualname__)
            for f in dataclasses.fields(value):
                self.value(getattr(value, f.name))
        else:
            raise _Unknown


def watched(function: types.FunctionType) -> list[tuple[dict[str, Any], str, Any]]:
    """[(namespace, name, value)] of the globals that a function and its helpers read: code made of them is stale once one
    is rebound."""
    found, seen, pending = {}, set(), [function]
    while pending:
        current = pending.pop()
        if id(current) in seen:
            continue
        seen.add(id(current))
        cells = dict(zip(current.__code__.co_freevars, current.__closure__ or ()))
        for path in reads_of(current.__code__):
            namespace = {} if path[0] in cells else current.__globals__
            try:
                value = cells[path[0]].cell_contents if path[0] in cells else namespace.get(path[0], _MISSING)
            except ValueError:
                continue
            name = path[0]
            for attribute in path[1:]:
                if not isinstance(value, types.ModuleType) or value.__name__.startswith("tilery."):
                    break
                namespace, name, value = value.__dict__, attribute, value.__dict__.get(attribute, _MISSING)
            if value is _MISSING or isinstance(value, (types.ModuleType, type, types.BuiltinFunctionType)):
                continue
            if namespace:
                found[id(namespace), name] = (namespace, name, value)
            inner = value if isinstance(value, types.FunctionType) else getattr(value, "fn", None)
            if isinstance(inner, types.FunctionType) and not (inner.__module__ or "").startswith("tilery."):
                pending.append(inner)
    return list(found.values())


def fingerprint(function: Any, *values: Any) -> str | None:
    """Hex digest of a function, of what it reads, and of further values; None if something read cannot be described.
    Objects of a language describe themselves by an attribute `__tile_digest__`."""
    digest = _Digest()
    try:
        digest.value(function)
        for value in values:
            digest.value(value)
    except _Unknown:
        return None
    return digest.hash.hexdigest()
