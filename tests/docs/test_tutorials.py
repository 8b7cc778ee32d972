"""NumPy is enough for tutorials, up to where they say that PyTorch is needed. (All of each program: ./run docs.)"""

import os

import pytest
import site_pages as pages

TUTORIALS = sorted((pages.ROOT / "docs" / "tutorials").glob("*.py"))
BEYOND = "# %% [markdown]\n# ## Beside PyTorch\n"


@pytest.mark.parametrize("tutorial", TUTORIALS, ids=lambda path: path.stem)
def test_numpy_is_enough_up_to_the_comparison(tutorial, tmp_path):
    text, beyond = tutorial.read_text().split(BEYOND)
    assert "import torch" in beyond and "A model that learns" in beyond
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / "program.py").write_text(text)
    missing = tmp_path / "missing"  # stands in front of what is installed
    missing.mkdir()
    for name in ("torch", "matplotlib"):
        (missing / f"{name}.py").write_text(f"raise ModuleNotFoundError('there is no {name} here', name='{name}')\n")
    environment = pages.environment_in(tmp_path, tmp_path / "nowhere")
    environment["PYTHONPATH"] = os.pathsep.join([str(missing), environment.get("PYTHONPATH", "")])
    printed = pages.run(["python", "program.py"], tmp_path / "page", environment)
    kernels = ("add", "softmax", "matmul", "attention")
    agreed = [line for line in printed.splitlines() if line.startswith(kernels)]
    assert agreed == [f"{name} agrees with NumPy" for name in kernels], printed
