"""z = x + y, as in NineToothed's README. Runs as it is: `./run python -m tilery run examples/ninetoothed/vector_add.py`."""

import ninetoothed
from ninetoothed import Symbol, Tensor

BLOCK_SIZE = Symbol("BLOCK_SIZE", meta=True)


@ninetoothed.jit
def add_kernel(
    x: Tensor(1).tile((BLOCK_SIZE,)),
    y: Tensor(1).tile((BLOCK_SIZE,)),
    z: Tensor(1).tile((BLOCK_SIZE,)),
):
    z = x + y


if __name__ == "__main__":
    import torch

    x, y = torch.randn(98432), torch.randn(98432)
    z = torch.empty_like(x)
    add_kernel(x, y, z)
    torch.testing.assert_close(z, x + y)
    print("vector addition agrees with torch")
