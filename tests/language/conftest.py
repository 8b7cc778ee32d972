"""Every test here runs on the CPU, and again with its tensors on a GPU where there is one. Where there is NVIDIA's
assembler, whatever is compiled for the CPU is also assembled for the oldest and the newest GPU (`--assembled K/N`: not all)."""

import pytest
import torch
from ptx import assemble_too

from tilery.tileon.compiler import compiler

GPU = pytest.mark.gpu
ENGINE = {"engine": "native"}
_watched = compiler.watched
# Kernels of Tileon forget what they were compiled to when it changes: those of a module, too, run by each engine.
compiler.watched = lambda function: [*_watched(function), (ENGINE, "engine", ENGINE["engine"])]


def pytest_generate_tests(metafunc):
    if "engine" in metafunc.fixturenames:
        places = [("oracle", "cpu"), ("native", "cpu"), pytest.param("native", "cuda", marks=GPU)]
        metafunc.parametrize("engine, device", places, indirect=True)
    else:
        places = getattr(metafunc.module, "DEVICES", ["cpu", pytest.param("cuda", marks=GPU)])
        metafunc.parametrize("device", places, indirect=True)


@pytest.fixture(autouse=True)
def device(request, monkeypatch):
    """Where torch makes the tensors of the test."""
    assemble_too(monkeypatch, request.node)
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU and a torch that sees it")
    # What a kernel leaves out is NaN, or the largest number of its type, not what another test has left in that memory.
    torch.use_deterministic_algorithms(request.param == "cpu", warn_only=True)
    with torch.device(request.param):
        yield request.param
    torch.use_deterministic_algorithms(False)


@pytest.fixture
def on_the_cpu(device):
    """torch makes the test's tensors on the CPU: the test itself sends to the device what a kernel gets."""
    with torch.device("cpu"):
        yield


@pytest.fixture
def engine(request, monkeypatch):
    """The oracle, then machine code. Kernels of TileLang and NineToothed, which keep what they were compiled to, are made by the
    test itself."""
    monkeypatch.setitem(ENGINE, "engine", request.param)
    monkeypatch.setenv("TILERY_ORACLE", "1" if request.param == "oracle" else "0")
    return request.param
