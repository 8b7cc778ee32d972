"""The kernels of the published matmul, at other sizes; tests/examples runs the whole program."""

from pathlib import Path

import numpy as np
import torch
from language.bounds import product, within

from tilery import compat

EXAMPLE = Path(__file__).parents[3] / "examples" / "tilelang" / "seed_matmul.py"


def test_kernels(tmp_path):
    functions = tmp_path / "functions.py"
    functions.write_text(EXAMPLE.read_text().split("# --- ")[0])
    module = compat.load(functions)
    M, N, K = 150, 200, 70
    a, b = torch.randn(M, K, dtype=torch.float16), torch.randn(K, N, dtype=torch.float16)
    c = torch.full((M, N), float("nan"), dtype=torch.float16)
    kernel = module.matmul_kernel_builder(M, N, K, 64, 32, 16)
    kernel(a, b, c)
    within(c, product(a, b, c.dtype))
    # The main loop that pointer programs reach: one contraction over all of K, nothing left of the buffers.
    stages = kernel.asm
    assert "tile.contract" in stages["passes"] and "scf.for" not in stages["passes"] and "tile.alloc" not in stages["passes"]

    empty = module.my_first_kernel(4, 8)
    x = np.full((4, 8), 3, np.float32)
    assert empty(x, x, x) is None and (x == 3).all()
