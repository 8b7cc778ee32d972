import importlib.util
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kernels():
    """kernels.py as a module: operators are registered once a process."""
    if "torch_operators_kernels" not in sys.modules:
        spec = importlib.util.spec_from_file_location("torch_operators_kernels", Path(__file__).with_name("kernels.py"))
        sys.modules[spec.name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules["torch_operators_kernels"]
