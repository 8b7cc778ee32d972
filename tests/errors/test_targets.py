"""What a target has no code for is refused by one message that names it."""

import pytest

from tilery import _native
from tilery.errors import Error

REGIONS = {
    "tile.threads": "tile.threads 32 {\n  ^bb0(%t: i32):\n    tile.sync\n    tile.yield\n  }",
    "tile.roles": "tile.roles [32, 128] {\n    tile.sync\n  }, {\n    tile.sync\n  }",
}


@pytest.mark.parametrize("target, noun", [("host", "CPU"), ("sm_80", "GPU"), ("sm_90a", "GPU")])
@pytest.mark.parametrize("op", REGIONS)
def test_explicit_threads(op, target, noun):
    module = _native.Module.parse(f"tile.kernel @kernel() {{\n  {REGIONS[op]}\n  tile.return\n}}\n")
    with pytest.raises(Error, match=f"the {noun} target cannot run {op} yet$") as caught:
        _native.compile(module, target=target)
    assert isinstance(caught.value, NotImplementedError)
