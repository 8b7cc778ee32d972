"""What torch remembers of Triton: it asks once whether there is one."""

from __future__ import annotations

import sys
import warnings
from types import ModuleType

_ANSWERS = "torch.utils._triton"
_BOUND = "torch._inductor.runtime.triton_compat"  # the modules of torch's compiler take what this one found when it was imported


def forget() -> None:
    """Torch asks again. Its compiler, if it was imported before, cannot."""
    for function in vars(sys.modules.get(_ANSWERS, object)).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()
    if _BOUND in sys.modules:
        warnings.warn(
            "torch's compiler was imported before the name triton meant Tilery's: it goes on without",
            stacklevel=3,
        )


def allow_descriptors(answers: ModuleType) -> None:
    """Programs that make TensorDescriptors are compiled on CPUs, too: torch looks for a Hopper before it looks for the class."""
    setattr(answers, "has_triton_tensor_descriptor_host_tma", answers.has_triton_package)
