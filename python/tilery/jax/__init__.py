"""Kernels of all languages as calls of XLA.

    add = tilery.jax.kernel_call(add_kernel, jax.ShapeDtypeStruct((n,), "float32"), grid=(cdiv(n, 1024),))
    z = add(x, y, n=n, BLOCK=1024)"""

from .calls import kernel_call, register

__all__ = ["kernel_call", "register"]
