"""Programs that are no matrix products: their PTX is assembled for the oldest and the newest GPUs.

That its threads compute the right thing is tested by `tilery-fuzz --against blocks`, whose threads are fibers, and by the tests
marked `gpu`."""

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import _native, compat

ROWS = compat.load(EXAMPLES / "tileon" / "rows.py")


def launches(device):
    """name -> (a launch of a kernel of examples/tileon/rows.py that returns the kernel, its output, what that should be)."""
    x, y, w, b = (torch.randn(*shape, device=device) for shape in ((37, 1000), (37, 1000), (1000,), (1000,)))
    out = torch.full_like(x, float("nan"))
    scale = x.double().pow(2).mean(-1, keepdim=True).add(1e-5).rsqrt()
    normed = torch.nn.functional.layer_norm(x.double(), (1000,), w.double(), b.double(), 1e-5)
    rows, row = (37,), (1000, 1000, 1000)
    return {
        "add": (lambda: ROWS.add_kernel[(10,)](x, y, out, 37000, BLOCK=4096), out, x.double() + y.double()),
        "softmax": (lambda: ROWS.softmax_kernel[rows](out, x, *row, BLOCK=1024), out, torch.softmax(x.double(), -1)),
        "layer_norm": (lambda: ROWS.layer_norm_kernel[rows](out, x, w, b, *row, 1e-5, BLOCK=1024), out, normed),
        "rms_norm": (lambda: ROWS.rms_norm_kernel[rows](out, x, w, *row, 1e-5, BLOCK=1024), out, x.double() * scale * w.double()),
    }


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", ["add", "softmax", "layer_norm", "rms_norm"])
def test_assembles(name, arch, assemble):
    module = launches("cpu")[name][0]().module
    compiled = _native.compile(module, disjoint=True, texts=True, target=arch)
    assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, arch)
    assert ("shfl.sync.down" in compiled.asm) == (name != "add")  # rows are reduced by warps


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["add", "softmax", "layer_norm", "rms_norm"])
def test_against_float64(name):
    launch, out, expected = launches("cuda")[name]
    launch()
    torch.testing.assert_close(out.double(), expected, rtol=1e-5, atol=1e-5)
