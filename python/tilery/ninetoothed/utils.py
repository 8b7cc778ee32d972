"""What programs ask of the machine before they make a kernel."""

from __future__ import annotations

_NUM_WARPS = 8
_BYTES_PER_STAGE = 32768


def calculate_default_configs() -> tuple[int, int]:
    """(num_warps, num_stages) where a kernel names none: as many stages of 32 KiB as a block's shared memory has room for; of a
    CPU's second-level cache, taken as 256 KiB, on a machine without a GPU."""
    shared = 256 * 1024
    try:
        import torch

        if torch.cuda.is_available():
            shared = torch.cuda.get_device_properties(torch.cuda.current_device()).shared_memory_per_block_optin
    except (ImportError, AttributeError, RuntimeError):
        pass

    return _NUM_WARPS, shared // _BYTES_PER_STAGE
