"""What a target has no code for is refused by one message that names it."""

import numpy as np
import pytest
from language.tileon import kernels

from tilery import _native
from tilery.errors import Error

REGIONS = {
    "tile.threads": "tile.threads 32 {\n  ^bb0(%t: i32):\n    tile.sync\n    tile.yield\n  }",
    "tile.roles": "tile.roles [32, 128] {\n    tile.sync\n  }, {\n    tile.sync\n  }",
}


@pytest.mark.parametrize("op", REGIONS)
def test_explicit_threads_on_a_cpu(op):
    module = _native.Module.parse(f"tile.kernel @kernel() {{\n  {REGIONS[op]}\n  tile.return\n}}\n")
    with pytest.raises(Error, match=f"the CPU target cannot run {op} yet$") as caught:
        _native.compile(module)
    assert isinstance(caught.value, NotImplementedError)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_other_programs_than_matmuls_on_a_gpu(target):
    x = np.ones(64, np.float32)
    module = kernels.add[(1,)](x, x, x.copy(), 64, BLOCK_SIZE=64).module
    with pytest.raises(Error, match="the GPU target cannot run this program yet") as caught:
        _native.compile(module, target=target)
    assert isinstance(caught.value, NotImplementedError)
