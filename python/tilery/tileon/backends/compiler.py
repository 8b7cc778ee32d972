"""What kernels are compiled for, and the options a compilation takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tilery import _native


class GPUTarget(NamedTuple):
    """A device as upstream names it: ("cuda", 90, 32), or ("cpu", "x86_64", 1)."""

    backend: str
    arch: int | str
    warp_size: int

    @property
    def native(self) -> str:
        """The compiler's own name of this target."""
        if self.backend == "cpu":
            return "host"
        return f"sm_{self.arch}a" if self.arch == 90 else f"sm_{self.arch}"


DEFAULTS: dict[str, Any] = {
    "num_warps": 4,
    "num_stages": 3,
    "num_ctas": 1,
    "cluster_dims": (1, 1, 1),
    "maxnreg": None,
    "debug": False,
    "sanitize_overflow": True,
    "enable_fp_fusion": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "supported_fp8_dtypes": ("fp8e5", "fp8e4nv"),
    "default_dot_input_precision": "tf32",
    "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee"),
    "extern_libs": (),
    "backend_name": "",
    "arch": "",
}


class Options:
    """Options of a compilation, those of DEFAULTS, as attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update({**DEFAULTS, **values})

    def __repr__(self) -> str:
        return f"Options({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class BaseBackend:
    """Compiles for one target."""

    binary_ext = ""

    def __init__(self, target: GPUTarget) -> None:
        self.target = target

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        raise NotImplementedError

    def hash(self) -> str:
        """Changes with the compiler and with what decides about code for the target."""
        import hashlib  # milliseconds

        return hashlib.sha256(f"{_native.build_id()} {_native.target_id(self.target.native)}".encode()).hexdigest()

    def parse_options(self, opts: Mapping[str, Any]) -> Options:
        """The options of these names; others, of other compilers, have no meaning here."""
        known = {name: value for name, value in opts.items() if name in DEFAULTS and value is not None}
        return Options(**{"backend_name": self.target.backend, "arch": self.target.native, **known})


class CPUBackend(BaseBackend):
    """Machine code of this processor."""

    binary_ext = "so"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"


class CUDABackend(BaseBackend):
    """PTX for NVIDIA GPUs."""

    binary_ext = "cubin"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"
