"""Emitters of Hopper's matrix instructions, which the compiler chooses here."""

from typing import Any

from .....errors import error
from ....refused import function, hook

_REASON = "instructions and their descriptors are the compiler's; T.gemm and T.wgmma_gemm say what is multiplied"
compute_gmma_descriptor = function("compute_gmma_descriptor", _REASON)


class TensorCoreIntrinEmitter:
    """A class that can be imported and refuses to be made."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        raise error(NotImplementedError, "TensorCoreIntrinEmitter of wgmma is not supported", hint=_REASON)


__getattr__ = hook("tilelang.cuda.intrinsics.macro.wgmma_macro_generator", _REASON)
