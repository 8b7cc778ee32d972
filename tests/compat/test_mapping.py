"""Who sees which package under an upstream name."""

AS_UPSTREAM = '''
def as_upstream(source, package="tilelang"):
    """Runs source as a module of this package would."""
    space = {"__name__": package + "._fake", "__package__": package}
    exec(source, space)
    return space
'''


def test_program_sees_ours(tilery_run, upstream):
    tilery_run(
        """
import sys, tilelang, tilery.tilelang, tilery.tilelang.language
import tilelang.language as T
from tilelang import language
assert tilelang is tilery.tilelang and T is language is tilery.tilelang.language
assert sys.modules["tilelang.language"] is T
assert tilelang.__name__ == "tilery.tilelang" == tilelang.__spec__.name
import importlib
assert importlib.import_module("tilelang.language") is T
assert importlib.util.find_spec("tilelang") is not None
try:
    import tilelang.no_such_module
except ModuleNotFoundError as error:
    assert error.name == "tilelang.no_such_module"
else:
    raise SystemExit("no error")
""",
        upstream,
    )


def test_upstream_sees_itself(tilery_run, upstream):
    tilery_run(
        AS_UPSTREAM
        + """
import sys
import tilelang
ours = tilelang
for _ in range(2):
    for statement in ("import tilelang", "import tilelang.extra", "from tilelang import extra"):
        as_upstream(statement)
    assert as_upstream("import tilelang")["tilelang"].UPSTREAM
    assert as_upstream("import importlib; tilelang = importlib.import_module('tilelang')")["tilelang"].UPSTREAM
    found = as_upstream("import importlib.util; spec = importlib.util.find_spec('tilelang')")
    assert found["spec"].origin.endswith("__init__.py")
    assert sys.modules["tilelang"] is ours and "tilelang.extra" not in sys.modules
assert as_upstream("import tilelang")["tilelang"] is as_upstream("import tilelang")["tilelang"]
assert as_upstream("import tilelang")["tilelang"].lazily().__name__ == "tilelang.extra"
import tilelang
assert tilelang is ours
""",
        upstream,
    )


def test_torch_sees_ours(tilery_run, upstream):
    tilery_run(
        AS_UPSTREAM
        + """
import triton, tilery.tileon
for source in ("import triton", "import importlib; triton = importlib.import_module('triton')"):
    assert as_upstream(source, "torch")["triton"] is triton is tilery.tileon
assert as_upstream("import importlib.util; spec = importlib.util.find_spec('triton')", "torch")["spec"]
import torch
from torch.utils._triton import get_triton_version, has_triton, has_triton_package, triton_hash_with_backend
assert has_triton_package() and has_triton() and get_triton_version() == (3, 6)
assert len(triton_hash_with_backend()) == 64
"""
    )


def test_what_torch_remembers_is_forgotten(python):
    done = python(
        "-c",
        """
import torch
from torch.utils import _triton
before = _triton.has_triton_package(), _triton.has_triton()
import tilery.compat
assert (_triton.has_triton_package(), _triton.has_triton()) == before
tilery.compat.install()
assert _triton.has_triton_package() and _triton.has_triton()
""",
        files={},
    )
    assert done.returncode == 0, done.stderr


def test_upstream_sees_that_there_is_none(tilery_run):
    tilery_run(
        AS_UPSTREAM
        + """
import tilelang
for source in ("import tilelang", "import importlib; importlib.import_module('tilelang')"):
    try:
        as_upstream(source)
    except ModuleNotFoundError as error:
        assert error.name == "tilelang"
    else:
        raise SystemExit("no error")
assert as_upstream("import importlib.util; spec = importlib.util.find_spec('tilelang')")["spec"] is None
"""
    )


def test_a_folder_of_the_name_is_no_package(tilery_run):
    tilery_run(
        AS_UPSTREAM
        + """
for statement in ("import tilelang", "import importlib; importlib.import_module('tilelang')"):
    try:
        as_upstream(statement)
    except ModuleNotFoundError as error:
        assert error.name == "tilelang"
    else:
        raise SystemExit(statement)
assert as_upstream("import importlib.util; spec = importlib.util.find_spec('tilelang')")["spec"] is None
import tilelang
assert tilelang.jit
""",
        {"site/tilelang/notes.txt": "what somebody keeps in a folder of this name"},
    )


def test_package_imported_before_is_mapped(python, upstream):
    done = python(
        "-c",
        """
import tilelang
assert tilelang.UPSTREAM
import tilery.compat
tilery.compat.install()
import tilelang
assert tilelang.__name__ == "tilery.tilelang"
""",
        files=upstream,
    )
    assert done.returncode == 0, done.stderr


def test_children_inherit(tilery_run, upstream):
    tilery_run(
        """
import multiprocessing, subprocess, sys
CHECK = "import tilelang, os; assert tilelang.__name__ == 'tilery.tilelang'; import site_was_here"
def work():
    import tilelang
    return tilelang.__name__
if __name__ == "__main__":
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(work) == "tilery.tilelang"
""",
        {**upstream, "site/sitecustomize.py": "import sys, types\nsys.modules['site_was_here'] = types.ModuleType('x')\n"},
    )


def test_load_maps_one_file(python, upstream):
    done = python(
        "-c",
        """
import sys, tilelang
import tilery.compat
module = tilery.compat.load("kernel.py")
assert module.tilelang.__name__ == "tilery.tilelang"
assert module.T.__name__ == module.language.__name__ == "tilery.tilelang.language"
assert module.later().__name__ == "tilery.tilelang"
assert module.Data.__module__ in sys.modules
assert sys.modules["tilelang"] is tilelang and tilelang.UPSTREAM
import tilelang as again
assert again.UPSTREAM
import inspect
assert "later" in inspect.getsource(module.later)
""",
        files={
            **upstream,
            "kernel.py": """
import dataclasses
import tilelang
import tilelang.language as T
from tilelang import language
@dataclasses.dataclass
class Data:
    x: "int"
def later():
    import tilelang
    return tilelang
""",
        },
    )
    assert done.returncode == 0, done.stderr


def test_import_of_tilery_leaves_torch_alone(python):
    done = python("-c", "import sys, tilery, tilery.compat; assert 'torch' not in sys.modules", files={})
    assert done.returncode == 0, done.stderr


def test_an_alias_changes_no_name(tilery_run):
    """A package may give a module's name to something else: `triton.runtime.driver` is an object, `tilelang.jit` a function."""
    tilery_run(
        """
import sys, types
import triton.runtime, tilelang, ninetoothed, tileon
before = triton.runtime.driver, tilelang.jit, ninetoothed.make, triton.jit
from triton.runtime.driver import driver
from triton.runtime.jit import JITFunction
from tilelang.jit import jit
from tilelang.jit.kernel import JITKernel
import ninetoothed.make
import triton.runtime.driver, tilelang.jit.kernel, triton.language.core, triton.compiler.errors
assert before == (triton.runtime.driver, tilelang.jit, ninetoothed.make, triton.jit)
assert triton.runtime.driver.active and not isinstance(tilelang.jit, types.ModuleType)
assert driver is triton.runtime.driver and jit is tilelang.jit and JITKernel is tilelang.JITKernel
assert JITFunction is triton.JITFunction is tileon.runtime.JITFunction
assert sys.modules["triton.runtime.driver"] is sys.modules["tileon.runtime.driver"] is sys.modules["tilery.tileon.runtime.driver"]
assert triton.language.core.tensor is triton.language.tensor and triton.language.core.load is triton.language.load
"""
    )


def test_what_upstream_has_and_we_have_not(tilery_run):
    tilery_run(
        """
for statement, name in {
    "import tilelang.tileop": "tilelang.tileop",
    "from ninetoothed.torchifier import Torchifier": "ninetoothed.torchifier",
}.items():
    try:
        exec(statement)
    except ModuleNotFoundError as error:
        assert error.name == name and f"No module named '{name}'" in str(error), str(error)
    else:
        raise SystemExit("no error")
for statement in ("import triton.experimental.gluon", "from triton.experimental.gluon import language"):
    try:
        exec(statement)
    except ModuleNotFoundError as error:
        assert "Gluon's programs are not taken" in str(error), str(error)
    else:
        raise SystemExit("no error")
import importlib.util
assert importlib.util.find_spec("triton.experimental.gluon") is None  # programs that ask first go on without it
assert importlib.util.find_spec("triton.experimental") is not None
try:
    from triton.runtime.jit import Missing
except ImportError as error:
    assert "cannot import name 'Missing'" in str(error), str(error)
else:
    raise SystemExit("no error")
"""
    )


def test_versions_are_looked_up(tilery_run):
    tilery_run(
        """
import importlib.metadata
import sys
names = [d.name for d in importlib.metadata.distributions()]
assert {"triton", "tilelang"} <= set(names) and "tilery.tilelang" not in sys.modules  # listing imports nothing
import triton
assert importlib.metadata.version("triton") == triton.__version__
assert importlib.metadata.metadata("tilelang")["Name"] == "tilelang"
assert importlib.metadata.distribution("triton").locate_file("triton").name == "triton"
assert "triton" in importlib.metadata.packages_distributions()["triton"]
try:
    importlib.metadata.version("no-such-package")
except importlib.metadata.PackageNotFoundError:
    pass
else:
    raise SystemExit("no error")
"""
    )
