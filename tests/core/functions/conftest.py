"""Programs run by the oracle, as machine code, and on a GPU where there is one."""

import pytest
import torch


@pytest.fixture(params=["oracle", "machine", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request, monkeypatch):
    """Where the tensors lie."""
    monkeypatch.setenv("TILERY_ORACLE", "1" if request.param == "oracle" else "0")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU and a torch that sees it")
    return "cuda" if request.param == "cuda" else "cpu"
