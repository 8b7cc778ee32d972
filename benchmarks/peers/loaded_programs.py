"""One source for us and for the rival: a file that names the rival's package is imported as it is, and by tilery.compat."""

import importlib.util
import itertools
import tempfile
from pathlib import Path

from tilery import compat

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples"
_folder = tempfile.TemporaryDirectory()
_numbers = itertools.count()


def ours(path):
    return compat.load(path)


def rivals(path):
    """The module at `path`, its imports meaning what is installed."""
    spec = importlib.util.spec_from_file_location(f"rival_{path.stem}_{next(_numbers)}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def as_triton(path):
    """A Tileon program as a Triton program: the two differ in the name they import."""
    copy = Path(_folder.name) / f"{path.stem}_{next(_numbers)}.py"
    copy.write_text(path.read_text().replace("tileon", "triton"))
    return rivals(copy)
