"""What programs ask of upstream's runtime."""

from ..autotuner import Autotuner, Config, Heuristics  # noqa: F401
from ..jit import JITFunction, KernelInterface, reinterpret  # noqa: F401
from . import errors  # noqa: F401
from .driver import driver  # noqa: F401
from .errors import OutOfResources  # noqa: F401
