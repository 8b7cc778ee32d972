"""A kernel and the kind of call that it is compiled for, written out: what `compile` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ...core.tile import types
from ...errors import error

_INTEGERS = {f"{sign}{bits}": f"{name}{bits}" for sign, name in (("i", "int"), ("u", "uint")) for bits in (8, 16, 32, 64)}
_ELEMENTS = {name: types.dtype(name).__tile_dtype__ for name in types.dtype.FP_TYPES}
_ELEMENTS.update({"f32": "float32", "f64": "float64", "i1": "bool", "u1": "bool"}, **_INTEGERS)


class ASTSource:
    """A kernel for arguments of these types.

    :param signature: {parameter: type}: "i32", "fp32", "*fp16" (a pointer), "*kfp16" (one that is only read), "constexpr".
    :param constexprs: {parameter, its position, or a path of one position: value}.
    :param attrs: {(position,): [["tt.divisibility", 16]]}: what is known of arguments.
    """

    ext = "ttir"

    def __init__(
        self,
        fn: Any,
        signature: Mapping[str | int, str],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Sequence[Sequence[Any]]] | None = None,
    ) -> None:
        self.fn = fn
        self.name = fn.__name__
        self.signature = {fn.arg_names[k] if isinstance(k, int) else k: v for k, v in signature.items()}
        self.constants = {self._path(k): v for k, v in (constexprs or {}).items()}
        self.attrs = {self._path(k): v for k, v in (attrs or {}).items()}

    def _path(self, key: Any) -> tuple[int, ...]:
        if isinstance(key, str):
            if key not in self.fn.arg_names:
                raise error(ValueError, f"{self.name}() has no parameter '{key}'")
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def hash(self) -> str:
        """Equal for equal sources of equal kinds of call."""
        import hashlib  # milliseconds

        parts = [self.fn.src, sorted(self.signature.items()), sorted(self.constants.items(), key=lambda item: item[0]), self.attrs]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def call(self) -> Any:
        """The kind of call, as the native launcher describes those that it meets: arguments that do not overlap."""
        return SimpleNamespace(params=tuple(self._argument(p) for p in self.fn.params), aliases=(), device=-1)

    def _argument(self, parameter: Any) -> tuple[Any, ...]:
        path = (parameter.index,)
        kind = self.signature.get(parameter.name, "constexpr")
        if path in self.constants or kind == "constexpr":
            default = parameter.default if parameter.has_default else None
            return "const", types.unwrap(self.constants.get(path, default))
        divisor = max((int(value) for name, value in self.attrs.get(path, ()) if name == "tt.divisibility"), default=1)
        if kind.startswith("*"):
            return "pointer", self._element(parameter, kind[1:].removeprefix("k").strip()), divisor
        element = self._element(parameter, kind)
        return ("bool",) if element == "bool" else ("int", element, divisor) if kind in _INTEGERS else ("float", element)

    def _element(self, parameter: Any, name: str) -> str:
        element = _ELEMENTS.get(name)
        if element is None:
            raise error(
                TypeError,
                f"parameter `{parameter.name}` of {self.name} has the type {name!r}, which is none of a kernel's arguments",
                hint="known are " + ", ".join(_ELEMENTS) + "; * before one makes a pointer",
            )
        return element
