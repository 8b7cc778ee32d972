import pytest
from processes import python, tilery_run  # noqa: F401 # fixtures

UPSTREAM = {
    "site/tilelang/__init__.py": "UPSTREAM = True\ndef lazily():\n    from . import extra\n    return extra\n",
    "site/tilelang/extra.py": "import tilelang\nassert tilelang.UPSTREAM\n",
}


@pytest.fixture
def upstream():
    """Files of a package under an upstream name, as if the real one were installed."""
    return UPSTREAM
