"""Tests for NVIDIA GPUs. Those marked `gpu` need one; the others look at the code that one would run."""

import ptx
import pytest
import torch


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
