"""The oracle reads memory that the CPU can read."""

import pytest
import torch
from gpu.programs import EXAMPLES

from tilery import compat, debug
from tilery.errors import Error

MESSAGE = "the reference interpreter runs on the CPU's memory only"


def test_is_not_for_launches_on_a_gpu(monkeypatch):
    monkeypatch.delenv("TILERY_ORACLE", raising=False)
    assert debug.wanted(True) and not debug.wanted(False) and not debug.wanted(False, device=0)
    with pytest.raises(Error, match=MESSAGE):
        debug.wanted(True, device=0)


@pytest.mark.gpu
def test_launch_is_refused():
    kernel = compat.load(EXAMPLES / "ninetoothed" / "matmul.py").matmul_kernel
    a = torch.randn(64, 64, dtype=torch.float16, device="cuda")
    with pytest.raises(Error, match=MESSAGE):
        kernel(a, a, torch.empty_like(a), debug=True)
