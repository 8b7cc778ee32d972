"""Tensors at the end of memory."""

import ctypes
import mmap

import torch


def at_the_end_of_a_page(values):
    """A tensor whose last byte is a page's, before one that nobody may read. Keep the second result."""
    page = mmap.PAGESIZE
    size = values.numel() * values.element_size()
    pages = -(-size // page)
    memory = mmap.mmap(-1, (pages + 1) * page)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    assert protect(ctypes.c_void_p(address + pages * page), ctypes.c_size_t(page), 0) == 0
    tensor = torch.frombuffer(memory, dtype=values.dtype, count=values.numel(), offset=pages * page - size)
    return tensor.copy_(values), memory
