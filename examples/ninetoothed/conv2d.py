"""2-D convolution: the windows of the input, arranged as rows of a matrix, are multiplied with the filters; nothing is copied.

Runs as it is: `./run python -m tilery run examples/ninetoothed/conv2d.py`.
"""

import ninetoothed
import ninetoothed.language as ntl
from ninetoothed import Tensor, block_size

BLOCK_SIZE_M, BLOCK_SIZE_N, BLOCK_SIZE_K = block_size(), block_size(), block_size()


def mm_arrangement(lhs, rhs, output):
    output_arranged = output.tile((BLOCK_SIZE_M, BLOCK_SIZE_N))

    lhs_arranged = lhs.tile((BLOCK_SIZE_M, BLOCK_SIZE_K)).tile((1, -1)).expand((-1, output_arranged.shape[1]))
    lhs_arranged.dtype = lhs_arranged.dtype.squeeze(0)

    rhs_arranged = rhs.tile((BLOCK_SIZE_K, BLOCK_SIZE_N)).tile((-1, 1)).expand((output_arranged.shape[0], -1))
    rhs_arranged.dtype = rhs_arranged.dtype.squeeze(1)

    return lhs_arranged, rhs_arranged, output_arranged


def arrangement(input, filter, output):
    # (images, rows, columns) of windows of (channels, rows, columns) -> a matrix with a row for each window.
    windows = input.tile((1, *filter.shape[1:]), strides=(-1, -1, 1, 1)).squeeze(1)
    windows.dtype = windows.dtype.squeeze(0)
    windows_flattened = windows.ravel().flatten(end_dim=3).flatten(start_dim=1)
    filter_flattened = filter.flatten(start_dim=1).permute((1, 0))
    output_flattened = output.permute((0, 2, 3, 1)).flatten(end_dim=3)

    return mm_arrangement(windows_flattened, filter_flattened, output_flattened)


def application(lhs, rhs, output):
    accumulator = ntl.zeros(output.shape, dtype=ntl.float32)
    for k in range(lhs.shape[0]):
        accumulator += ntl.dot(lhs[k], rhs[k])
    output = accumulator


conv2d = ninetoothed.make(arrangement, application, tuple(Tensor(4, shape_options={"constexpr": True}) for _ in range(3)))


if __name__ == "__main__":
    import torch
    import torch.nn.functional as F

    input, filter = torch.randn(2, 24, 17, 15, dtype=torch.float16), torch.randn(40, 24, 3, 3, dtype=torch.float16)
    expected = F.conv2d(input.double(), filter.double())
    output = torch.empty(expected.shape, dtype=torch.float16)
    conv2d(input, filter, output)
    torch.testing.assert_close(output.double(), expected, rtol=2**-11, atol=1e-4)  # one rounding to f16
    print("conv2d agrees with torch")
