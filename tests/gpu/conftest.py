"""Tests for NVIDIA GPUs. Those marked `gpu` need one; the others look at the code that one would run."""

import ptx
import pytest
import torch

from tilery import _native


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU and a torch that sees it"))


@pytest.fixture(scope="session")
def assemble():
    """assemble(ptx, arch) -> what ptxas says of it. Skips where there is no ptxas."""
    if not ptx.PTXAS:
        pytest.skip(ptx.MISSING)
    return ptx.assemble


@pytest.fixture
def goes_through_blocks(assemble):
    """goes_through_blocks(module) asserts that Hopper's path takes its kernel, and that its registers suffice."""

    def check(module):
        compiled = _native.compile(module, disjoint=True, texts=True, target="sm_90a")
        assert ": blocks consumers=" in compiled.plan, compiled.plan
        assert "0 bytes spill stores, 0 bytes spill loads" in assemble(compiled.asm, "sm_90a")

    return check
