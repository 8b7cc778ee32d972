"""A kernel and the kind of call that it is compiled for, written out: what `compile` takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from ...core.tile import types
from ...errors import error
from ...frontend.wording import did_you_mean

_ELEMENTS = {name: types.dtype(name).__tile_dtype__ for name in types.dtype.FP_TYPES}
_ELEMENTS.update({"f32": "float32", "f64": "float64", "i1": "bool", "u1": "bool"}, **types.INTEGERS)
_SHORT = {str(element): name for name, element in reversed(_ELEMENTS.items()) if element}  # {"float32": "fp32", ...}
_SHORT.update({"half": "fp16", "float": "fp32", "double": "fp64", "int": "i32"})
KNOWN = "known"  # in a description: a number inside a structure that is 1, or None, and so known
_DESCRIPTOR = re.compile(r"tensordesc<(\w+)\[([\d, ]+)\].*>")


class IRSource:
    """Upstream's IR as text, which only upstream's compiler reads.

    :raises tilery.NotImplementedError: always."""

    def __init__(self, path: Any, context: Any = None, backend: Any = None) -> None:
        raise error(
            NotImplementedError,
            f"{path}: only kernels are compiled, not upstream's IR",
            hint="compile(ASTSource(kernel, signature, constexprs))",
        )


class ASTSource:
    """A kernel for arguments of these types.

    :param signature: {parameter: type}: "i32", "fp32", "*fp16" (a pointer), "*kfp16" (one that is only read), "constexpr",
        "tensordesc<fp16[64, 32]>", or a tuple of such.
    :param constexprs: {parameter, its position, or a path of positions: value}; ``constants`` is the same by an older name.
    :param attrs: {path of positions: [["tt.divisibility", 16]]}: what is known of arguments.
    """

    ext = "ttir"

    def __init__(
        self,
        fn: Any,
        signature: Mapping[Any, Any],
        constexprs: Mapping[Any, Any] | None = None,
        attrs: Mapping[Any, Sequence[Sequence[Any]]] | None = None,
        constants: Mapping[Any, Any] | None = None,
    ) -> None:
        self.fn = fn
        self.name = fn.__name__
        self.signature = {fn.arg_names[k] if isinstance(k, int) else k: v for k, v in signature.items()}
        for name in self.signature:
            self._path(name)
        self.constants = {self._path(k): types.unwrap(v) for k, v in {**(constants or {}), **(constexprs or {})}.items()}
        self.attrs: dict[tuple[int, ...], Any] = {self._path(k): v for k, v in (attrs or {}).items()}

    def _path(self, key: Any) -> tuple[int, ...]:
        if isinstance(key, str):
            if key not in self.fn.arg_names:
                raise error(ValueError, f"{self.name}() has no parameter '{key}'")
            return (self.fn.arg_names.index(key),)
        return (key,) if isinstance(key, int) else tuple(key)

    def hash(self) -> str:
        """Equal for equal sources of equal kinds of call."""
        import hashlib  # milliseconds

        constants = sorted(self.constants.items(), key=lambda item: item[0])
        parts = [self.fn.src, sorted(self.signature.items()), constants, self.attrs]
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def parse_options(self) -> dict[str, Any]:
        """Options that the source itself gives."""
        return {}

    def call(self, plan: Callable[..., Any]) -> tuple[Any, Any]:
        """(the kernel, or one whose parameters are the leaves of structured arguments; the kind of call, as the native launcher
        describes those that it meets: arguments that do not overlap). plan: what a launcher of such a kernel asks."""
        known: list[tuple[Any, ...]] = []
        structure = tuple(
            self._describe((p.index,), p, self.signature.get(p.name, "constexpr"), known) for p in self.fn.params
        )
        kernel = self.fn
        if any(structure):
            from ..runtime.structured import Flat

            kernel = Flat(self.fn, structure, plan)
        return kernel, SimpleNamespace(params=tuple(known), aliases=(), device=-1)

    def _describe(self, path: tuple[int, ...], parameter: Any, kind: Any, known: list[tuple[Any, ...]]) -> Any:
        """As `take_apart` describes an argument of this type; appends what is known of its leaves."""
        if path in self.constants and len(path) > 1 and kind != KNOWN:
            return "constant", type(self.constants[path]), self.constants[path]
        if path in self.constants or kind == "constexpr":
            default = parameter.default if parameter.has_default and len(path) == 1 else None
            known.append(("const", types.unwrap(self.constants.get(path, default))))
            return None
        if isinstance(kind, tuple):
            made = type(kind) if hasattr(kind, "_fields") else tuple
            return "tuple", made, *[self._describe((*path, i), parameter, k, known) for i, k in enumerate(kind)]
        if kind[:1] == "*" and kind[1:] in types.CODED:
            known.append(self._leaf(path, parameter, "*u8"))
            return "coded", kind[1:]
        found = _DESCRIPTOR.fullmatch(kind)
        if found is None:
            known.append(self._leaf(path, parameter, kind))
            return None
        block = tuple(int(size) for size in found.group(2).split(","))
        element = self._element(parameter, found.group(1))
        width = types.dtype(found.group(1)).itemsize if types.dtype.is_dtype(found.group(1)) else 1
        known += [("pointer", element, 16), *[("int", "int32", 1)] * len(block)]
        known += [("int", "int64", 16 // width)] * (len(block) - 1)
        return "descriptor", len(block), "zero", *block

    def _leaf(self, path: tuple[int, ...], parameter: Any, kind: str) -> tuple[Any, ...]:
        divisor = max((int(value) for name, value in self.attrs.get(path, ()) if name == "tt.divisibility"), default=1)
        if kind.startswith("*"):
            return "pointer", self._element(parameter, kind[1:].removeprefix("k").strip(), kind), divisor
        element = self._element(parameter, kind)
        return ("bool",) if element == "bool" else ("int", element, divisor) if kind in types.INTEGERS else ("float", element)

    def _element(self, parameter: Any, name: str, written: str | None = None) -> str:
        """:param written: the type with what stands around the element's."""
        element = _ELEMENTS.get(name)
        if element is None:
            written = written or name
            meant = _SHORT.get(name.removeprefix("tl.").removeprefix("torch."))
            near = did_you_mean(meant or name, _ELEMENTS, lambda element: written.replace(name, element))
            raise error(
                TypeError,
                f"parameter `{parameter.name}` of {self.name} has the type {written!r}, which is none of a kernel's arguments",
                hint=near or "known are " + ", ".join(_ELEMENTS) + "; * before one makes a pointer",
            )
        return element
