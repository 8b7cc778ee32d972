"""Gluon is another language than Triton: importing it says so.

:raises tilery.ModuleNotFoundError: always."""

from ...errors import error

raise error(
    ModuleNotFoundError,
    "Gluon's programs are not taken: they place a GPU's registers, shared memory and warps themselves, where those of Triton "
    "and Tileon say what is computed",
    hint="write the kernel with triton.language; what is behind `except ImportError` runs as it does without Gluon",
)
