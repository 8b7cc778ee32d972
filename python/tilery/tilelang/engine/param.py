"""What a compiled function takes, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..language.eager.builder import PrimFunc
from ..tracing.dtypes import dtype as element_type
from ..tracing.shapes import TensorType


@dataclass
class KernelParam:
    """A parameter: its element type and shape, which is empty for a scalar."""

    dtype: element_type
    shape: list[Any]

    @classmethod
    def of(cls, kind: TensorType | element_type) -> KernelParam:
        return cls(kind.dtype, list(kind.shape)) if isinstance(kind, TensorType) else cls(kind, [])

    def is_scalar(self) -> bool:
        return not self.shape

    def is_unsigned(self) -> bool:
        return self.dtype.startswith("uint")

    def is_float8(self) -> bool:
        return self.dtype.startswith("float8")

    def is_boolean(self) -> bool:
        return self.dtype == "bool"

    def torch_dtype(self) -> Any:
        return self.dtype.as_torch()


@dataclass
class CompiledArtifact:
    """What `tilelang.lower` gives: the function's IR as text, and its parameters."""

    prim_func: PrimFunc
    params: list[KernelParam]
    kernel_source: str
    host_mod: Any = None
    device_mod: Any = None
    rt_mod: Any = None
