"""Adds two vectors on a GPU in a process without torch: the primary context, the driver's own memory, the default stream."""

import ctypes
import sys
from array import array

from gpu.bare_tensor import Vector

import tilery.tileon as tileon
import tilery.tileon.language as tl

COUNT = 1000


@tileon.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask), mask=mask)


def main():
    driver = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        assert getattr(driver, name)(*arguments) == 0, name

    context = ctypes.c_void_p()
    call("cuInit", 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), 0)
    call("cuCtxSetCurrent", context)
    addresses = [ctypes.c_uint64() for _ in range(3)]
    for address in addresses:
        call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(4 * COUNT))
    values = array("f", range(COUNT))
    for address in addresses[:2]:
        call("cuMemcpyHtoD_v2", address, ctypes.c_void_p(values.buffer_info()[0]), ctypes.c_size_t(4 * COUNT))
    call("cuCtxSetCurrent", None)  # the launch finds its own way to the device
    x, y, out = (Vector(address.value, COUNT) for address in addresses)
    add_kernel[(-(-COUNT // 256),)](x, y, out, COUNT, BLOCK=256)
    found = array("f", bytes(4 * COUNT))
    call("cuCtxSetCurrent", context)
    call("cuMemcpyDtoH_v2", ctypes.c_void_p(found.buffer_info()[0]), addresses[2], ctypes.c_size_t(4 * COUNT))
    assert list(found) == [2.0 * i for i in range(COUNT)]
    assert "torch" not in sys.modules


main()
