"""How kernels unpack weights of few bits."""

from ....quantize import *  # noqa: F403
