"""A file that is edited between the import and the first call: what was imported runs, or one error says so; the disk cache
keeps neither under the other's name."""

import importlib.util
import os
import sys

import pytest
import torch

TILEON = """
from tilery import tileon
from tilery.tileon import language as tl

@tileon.jit
def helper(x):
    return x + {0}

@tileon.jit
def kernel(O):
    tl.store(O, helper(tl.load(O)) + {0})

def run(o):
    kernel[(1,)](o)
"""
PLUS = TILEON.replace("helper(tl", "plus(tl").replace(
    "from tilery import tileon", "from helpers import plus\nfrom tilery import tileon"
)
NINETOOTHED = """
from tilery import ninetoothed
from tilery.ninetoothed import Tensor

def arrangement(a, b):
    return a.tile((16,)), b.tile((16,))

def application(a, b):
    b = a + 2 * {0}

kernel = ninetoothed.make(arrangement, application, (Tensor(1), Tensor(1)))

def run(o):
    kernel(o.clone(), o)
"""
TILELANG = """
from tilery import tilelang
from tilery.tilelang import language as T

@T.macro
def helper(O):
    O[0] = O[0] + {0}

@tilelang.jit
def make():
    @T.prim_func
    def kernel(O: T.Tensor((16,), "float32")):
        with T.Kernel(1, threads=32):
            for i in T.Parallel(1):
                O[i] = O[i] + {0}
            helper(O)
    return kernel

def run(o):
    make()(o)
"""
PROGRAMS = {"tileon": TILEON, "ninetoothed": NINETOOTHED, "tilelang": TILELANG}


def imported(path, name="program"):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def edit(path, text):
    before = os.stat(path).st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


@pytest.fixture(autouse=True)
def no_other_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("TILERY_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    yield
    for name in ("program", "helpers"):
        sys.modules.pop(name, None)


def result(module):
    out = torch.zeros(16)
    module.run(out)
    return out[0].item()


@pytest.mark.parametrize("language", PROGRAMS)
def test_what_was_imported_runs(language, tmp_path):
    path, text = tmp_path / "program.py", PROGRAMS[language]
    edit(path, text.format("1.0"))
    first = imported(path)
    edit(path, text.format("4.0"))
    assert result(first) == 2
    assert result(imported(path)) == 8
    assert result(first) == 2
    edit(path, text.format("1.0"))
    assert result(imported(path)) == 2


@pytest.mark.parametrize("language", PROGRAMS)
def test_a_moved_function_is_not_taken_for_another(language, tmp_path):
    path, text = tmp_path / "program.py", PROGRAMS[language]
    edit(path, text.format("1.0"))
    module = imported(path)
    edit(path, "# a line\n" * 9 + text.format("4.0"))
    assert result(module) == 2


def test_a_helper_of_another_module_that_nobody_decorated(tmp_path):
    edit(tmp_path / "helpers.py", "def plus(x):\n    return x + 1.0\n")
    edit(tmp_path / "program.py", PLUS.format("1.0"))
    module = imported(tmp_path / "program.py")
    edit(tmp_path / "helpers.py", "def plus(x):\n    return x + 5.0\n")
    edit(tmp_path / "program.py", TILEON.format("9.0"))
    with pytest.raises(OSError, match="the file of `plus` was edited after Python had read it"):
        result(module)
    edit(tmp_path / "helpers.py", "def plus(x):\n    return x + 1.0\n")
    assert result(module) == 2  # nothing of the failed call is kept


def test_the_source_that_a_kernel_shows_is_the_one_that_runs(tmp_path):
    edit(tmp_path / "program.py", TILEON.format("1.0"))
    module = imported(tmp_path / "program.py")
    key = module.kernel.cache_key
    edit(tmp_path / "program.py", TILEON.format("4.0"))
    assert "1.0" in module.kernel.src and "4.0" not in module.kernel.src and module.kernel.cache_key == key
