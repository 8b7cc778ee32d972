"""A case: one program of others as it is, its inputs, and what it must compute. Files in `programs` hold them."""

import contextlib
import importlib
import importlib.machinery
import os
import sys
import types
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable

import torch

SMALL = os.environ.get("SMALL") == "1"  # sizes for a CPU and for the emulated GPU
CASES: dict[str, tuple[str, Callable[[], "Case"]]] = {}  # name: (family, what makes the case)
ROOT: Path | None = None  # the folder of examples


@dataclass
class Case:
    """call() launches and gives a tensor or several; seen(what it gives) are the tensors that are compared (sets in one order,
    without parts that nothing writes), with those of expected(), which torch makes. tolerance: of the relative error of a whole
    tensor (Frobenius)."""

    call: Callable[[], Any]
    expected: Callable[[], Any]
    tolerance: float = 1e-2
    seen: Callable[[Any], Any] = lambda result: result


def case(name, family):
    def add(make):
        assert name not in CASES, name
        CASES[name] = family, make
        return make

    return add


def S(size, small):
    """`size`, or `small` on a CPU."""
    return small if SMALL else size


def randn(*shape, dtype=torch.bfloat16, scale=1.0):
    return (torch.randn(*shape, device="cuda") * scale).to(dtype)


def load(programs, examples=None):
    """Fills CASES from the Python files of the folder `programs`; `examples`: where `example` looks."""
    global ROOT
    ROOT = Path(examples).resolve() if examples else None
    sys.path.insert(0, str(programs))
    for file in sorted(Path(programs).glob("*.py")):
        importlib.import_module(file.stem)


class _Absent(types.ModuleType):
    """A package that an example compares itself with: anything in it is a decorator that changes nothing."""

    __file__, __version__ = str(Path(__file__).with_name("absent")), "0.4.0"
    __path__: list[str] = []

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *given, **named: given[0] if given else None


class _Finder:
    ROOTS = "fla", "FLA_KDA", "tqdm", "flash_attn", "scipy"

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.ROOTS:
            return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return _Absent(spec.name)

    def exec_module(self, module):
        pass


class _Imported(Exception):
    pass


_ahead = False


def import_ahead(make):
    """Imports what the case begins with and leaves it there: neither its time nor its errors are the case's yet."""
    global _ahead
    _ahead = True
    with contextlib.suppress(Exception):
        make()
    _ahead = False


def example(path, **names):
    """The module PATH.py of the folder of examples; its neighbours can be imported, too. names: what the module has only when it
    is a program, as globals that its functions read."""
    assert ROOT, "no folder of examples is given"
    file = ROOT / f"{path}.py"
    sys.path.insert(0, str(file.parent))
    sys.meta_path.insert(0, _Finder())
    sys.argv = [str(file)]
    module = importlib.import_module(file.stem)
    if _ahead:
        raise _Imported
    vars(module).update(names)
    return module
