"""Functions whose source is traced."""

from .builder import Macro, PrimFunc, Ref, const, macro, prim_func

__all__ = ["Macro", "PrimFunc", "Ref", "const", "macro", "prim_func"]
