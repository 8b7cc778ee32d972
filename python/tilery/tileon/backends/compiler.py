"""What kernels are compiled for, and the options a compilation takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from tilery import _native

from ...errors import error


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
    "warp_size": 32,
    "cluster_dims": (1, 1, 1),
    "maxnreg": None,
    "ptx_version": None,
    "ptx_options": None,
    "ir_override": None,
    "debug": False,
    "sanitize_overflow": True,
    "enable_fp_fusion": True,
    "enable_reflect_ftz": True,
    "launch_cooperative_grid": False,
    "launch_pdl": False,
    "supported_fp8_dtypes": ("fp8e5", "fp8e4nv"),
    "deprecated_fp8_dot_operand_dtypes": (),
    "default_dot_input_precision": "tf32",
    "allowed_dot_input_precisions": ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"),
    "max_num_imprecise_acc_default": 0,
    "extern_libs": (),
    "backend_name": "",
    "arch": "",
    "instrumentation_mode": "",
}


class Options:
    """Options of a compilation, those of DEFAULTS, as attributes."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update({**DEFAULTS, **values})

    def hash(self) -> str:
        """A digest of all of them."""
        import hashlib  # milliseconds

        return hashlib.sha256(repr(self).encode()).hexdigest()

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
        if isinstance(known.get("extern_libs"), dict):
            known["extern_libs"] = tuple(known["extern_libs"].items())
        own = {"backend_name": self.target.backend, "arch": self.target.native, "warp_size": self.target.warp_size}
        return Options(**{**own, **known})

    def add_stages(self, stages: dict[str, Any], options: Any, language: Any = None) -> None:
        """The stages of the compiler are not functions from text to text.

        :raises tilery.NotImplementedError: always."""
        raise error(
            NotImplementedError,
            "a back end's stages cannot be taken out or replaced",
            hint="kernel.asm has the text that each of them leaves",
        )

    def get_module_map(self) -> dict[str, Any]:
        """{name of a module: the module that stands for it on this target}"""
        from ..language.extra import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        """Rules of the target: the smallest operands of a product."""
        return {"min_dot_size": lambda lhs, rhs: (1, 1, 1)}

    def load_dialects(self, context: Any) -> None:
        """There are none beside the compiler's own."""

    @staticmethod
    def parse_attr(desc: str) -> list[list[Any]]:
        """What the letters of a signature say of an argument."""
        return [["tt.divisibility", 16]] if "D" in desc else []

    @staticmethod
    def get_int_specialization(arg: int, **kwargs: Any) -> str:
        return "D" if kwargs.get("align", False) and arg % 16 == 0 else ""

    @staticmethod
    def get_tensor_specialization(arg: Any, **kwargs: Any) -> str:
        return "D" if kwargs.get("align", False) and arg.data_ptr() % 16 == 0 else ""


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
