"""What threads of a block say to each other and to the machine: without effect, a tile program is one thread."""


def disable_warp_group_reg_alloc():
    """Leaves the registers of threads as they are; a hint."""


def no_set_max_nreg():
    """Leaves the registers of threads as they are; a hint."""


def set_max_nreg(reg_count, is_inc):
    """Registers of a thread from here on; a hint."""


def inc_max_nreg(reg_count):
    """Registers of a thread from here on; a hint."""


def dec_max_nreg(reg_count):
    """Registers of a thread from here on; a hint."""


def sync_threads(barrier_id=None, arrive_count=None):
    """Waits for the threads of a block; statements of a tile program take effect in order anyway."""


def sync_warp(mask=None):
    """Waits for the threads of a warp; statements of a tile program take effect in order anyway."""


def sync_global():
    """Waits for writes to tensors; statements of a tile program take effect in order anyway."""


def fence_proxy_async(*buffers):
    """Orders writes before asynchronous copies; statements of a tile program take effect in order anyway."""
