"""output = beta * input + alpha * (lhs @ rhs): an arrangement and an application built on those of the matrix multiplication."""

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


def mm_application(lhs, rhs, output):
    accumulator = ntl.zeros(output.shape, dtype=ntl.float32)
    for k in range(lhs.shape[0]):
        accumulator += ntl.dot(lhs[k], rhs[k])
    output = accumulator


def addmm_arrangement(input, lhs, rhs, beta, alpha, output):
    _, _, input_arranged = mm_arrangement(lhs, rhs, input)
    lhs_arranged, rhs_arranged, output_arranged = mm_arrangement(lhs, rhs, output)

    return input_arranged, lhs_arranged, rhs_arranged, beta, alpha, output_arranged


def addmm_application(input, lhs, rhs, beta, alpha, output):
    product = ntl.zeros(output.shape, dtype=ntl.float32)
    mm_application(lhs, rhs, product)
    output = beta * input + alpha * product


mm = ninetoothed.make(mm_arrangement, mm_application, tuple(Tensor(2) for _ in range(3)))
addmm = ninetoothed.make(
    addmm_arrangement, addmm_application, (Tensor(2), Tensor(2), Tensor(2), Tensor(0), Tensor(0), Tensor(2))
)


if __name__ == "__main__":
    import torch

    input, lhs, rhs = (torch.randn(shape, dtype=torch.float16) for shape in ((300, 200), (300, 500), (500, 200)))
    output = torch.empty_like(input)
    addmm(input, lhs, rhs, 0.5, 2.0, output)
    expected = torch.addmm(input.double(), lhs.double(), rhs.double(), beta=0.5, alpha=2.0)
    torch.testing.assert_close(output.double(), expected, rtol=2**-11, atol=1e-4)  # one rounding to f16
    print("addmm agrees with torch")
