"""ntl has every name that tl has: an application is written in the same language."""

from types import ModuleType

import torch

from tilery import ninetoothed
from tilery.ninetoothed import Tensor
from tilery.ninetoothed import language as ntl
from tilery.tileon import language as tl


def test_every_name_of_tl():
    names = [name for name in dir(tl) if not name.startswith("_")]
    missing = [name for name in names if not hasattr(ntl, name) and not isinstance(getattr(tl, name), ModuleType)]
    assert not missing  # tl has more modules below it once somebody has imported them
    for path in ("extra.libdevice.tanh", "extra.cuda.libdevice.pow", "core.load", "standard.cdiv", "math.exp", "random.rand"):
        value = ntl
        for part in path.split("."):
            value = getattr(value, part)
        assert callable(value)


def test_names_in_an_application(device):
    def arrangement(x, y):
        return x.tile((8,)), y.tile((8,))

    def application(x, y):
        low = ntl.standard.zeros((8,), dtype=ntl.core.float32)
        y = ntl.maximum(ntl.extra.libdevice.abs(x), low)  # noqa: F841

    x = torch.randn(21, device=device)
    y = torch.empty_like(x)
    ninetoothed.make(arrangement, application, (Tensor(1), Tensor(1)))(x, y)
    assert torch.equal(y, x.abs())
