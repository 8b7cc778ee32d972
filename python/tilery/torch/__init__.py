"""Kernels of all languages as operators of torch.

    @tilery.torch.custom_op("mine::silu", mutates_args=())
    def silu(x: torch.Tensor) -> torch.Tensor:
        y = torch.empty_like(x)
        silu_kernel[grid](x, y, ...)
        return y

    @tilery.torch.backward(silu)
    def silu_backward(grad: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        ..."""

from .gradients import backward
from .named import named_launches
from .operators import custom_op
from .sharded import sharding

__all__ = ["backward", "custom_op", "named_launches", "sharding"]
