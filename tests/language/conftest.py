import pytest


@pytest.fixture(params=["oracle", "native"])
def engine(request, monkeypatch):
    """The oracle, then machine code, for kernels that the test itself makes: a kernel keeps what it was compiled to."""
    monkeypatch.setenv("TILERY_ORACLE", "1" if request.param == "oracle" else "0")
