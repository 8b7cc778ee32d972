"""What programs ask of the machine before they make a kernel."""

from __future__ import annotations

from tilery import _native

_NUM_WARPS = 8
_BYTES_PER_STAGE = 32768


def calculate_default_configs() -> tuple[int, int]:
    """(num_warps, num_stages) where a kernel names none: as many stages of 32 KiB as a block of the first GPU has shared memory,
    or of a CPU's second-level cache, taken as 256 KiB, on a machine without a GPU."""
    shared = 256 * 1024
    if _native.gpu_count():
        shared = _native.gpu_properties(0)["shared_bytes"]

    return _NUM_WARPS, shared // _BYTES_PER_STAGE
