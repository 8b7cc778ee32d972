"""Vector addition, which memory bounds, beside torch."""

import torch
from gpu_rounds import Contest
from programs import EXAMPLES, ours

PATH = EXAMPLES / "tileon" / "rows.py"


def vector_add():
    """z = x + y over 2^28 floats."""
    n, block = 2**28, 1024
    x, y = torch.randn(n, device="cuda"), torch.randn(n, device="cuda")
    z = torch.empty_like(x)

    def check():
        if not torch.equal(z, x + y):
            raise ValueError("the sum is wrong")
        z.fill_(float("nan"))

    launch = ours(PATH).add_kernel[(n // block,)]
    contest = Contest()
    contest.enter("ours", lambda: lambda: launch(x, y, z, n, BLOCK=block, num_warps=4), check)
    contest.enter("torch", lambda: lambda: torch.add(x, y, out=z), check)
    yield from contest.run().result("vector add 2^28 f32", "ours", "torch", 12 * n / 1e9, "GB/s", 1.0)


ROWS = {"vector-add": vector_add}
