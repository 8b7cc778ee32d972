"""The names of upstream's extension module: what describes arguments is here; its compiler is not."""

from __future__ import annotations

from types import ModuleType
from typing import Any


class _Absent:
    """A part of upstream's compiler."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise NotImplementedError(
            f"triton._C.libtriton.{self._name}.{name} belongs to upstream's compiler, which is not here; "
            "kernel.asm has the text of each stage, triton.compile(ASTSource(...)) compiles"
        )


class _IR(_Absent):
    """The part in which upstream's IR is made and read: as far as ASTSource.make_ir is called with it."""

    @staticmethod
    def context() -> object:
        """What operations would belong to."""
        return object()

    @staticmethod
    def load_dialects(context: object) -> None:
        """There are none to load."""


class _Nvidia(_Absent):
    """Of upstream's back end for NVIDIA: its products by cuBLAS."""

    @property
    def cublas(self) -> ModuleType:
        from . import blas

        return blas


ir, nvidia = _IR("ir"), _Nvidia("nvidia")
passes, llvm, amd, proton, gluon_ir, linear_layout = (
    _Absent(name) for name in ("passes", "llvm", "amd", "proton", "gluon_ir", "linear_layout")
)


def native_specialize_impl(backend: Any, arg: Any, is_const: bool, specialize_value: bool, align: bool) -> tuple[Any, Any]:
    """(type of a signature, what is known of the value) of an argument of a launch."""
    from ..runtime.specialize import specialize_impl

    return specialize_impl(backend, arg, is_const, specialize_value, align)
