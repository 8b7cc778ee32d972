"""What a wheel promises: its content, its size, what its module exports and asks of the system, and that it works where nothing
else of this project is."""

import os
import re
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import installed

ROOT = Path(__file__).resolve().parent.parent
GLIBC = "2.28"  # and all later ones; cmake/OldGlibc.cmake says what makes it so
LIMIT = 20_000_000  # bytes
NEEDED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-x86-64.so.2", "libgcc_s.so.1"}
CONTENT = [
    *(f"tilery/{name}/__init__.py" for name in ("tileon", "ninetoothed", "tilelang", "aot", "compat")),
    *("tilery/py.typed", "tilery/tileon/language/__init__.pyi", "tilery/ninetoothed/language/__init__.pyi"),
    *("tilery/tilelang/language/__init__.pyi", "tilery/include/tilery/aot.h", "tilery/lib/libtilery_rt.a"),
    *("tilery/lib/cmake/tilery/tilery-config.cmake", "tilery/lib/pkgconfig/tilery_rt.pc"),
]
LICENSES = ["LICENSE", *(f"licenses/{path.name}" for path in (ROOT / "licenses").iterdir())]
# Tests that NumPy is enough for, and those that need torch, too, which is there for the interpreter of .venv only.
TESTS = ["frontend/test_control_flow.py", "core/test_apart.py", "runtime/test_cache.py"]
TORCH_TESTS = ["tileon/test_matmul.py", "tilelang/test_packed_stores.py", "ninetoothed/test_algebra.py"]


def fail(wheel, text):
    sys.exit(f"{wheel.name}: {text}")


def check_content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (about,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
        metadata = archive.read(f"{about}/METADATA").decode()
    wanted = [*CONTENT, f"{about}/entry_points.txt", *(f"{about}/licenses/{name}" for name in LICENSES)]
    if missing := sorted(set(wanted) - names):
        fail(wheel, f"lacks {', '.join(missing)}")
    expected = re.compile(rf"tilery/.*(\.py|\.pyi|\.so|\.a|\.h|\.pc|\.cmake|py\.typed)|{re.escape(about)}/.*")
    if strange := sorted(name for name in names if not expected.fullmatch(name) and not name.endswith("/")):
        fail(wheel, f"holds {', '.join(strange)}")
    for field in ("License-Expression: Apache-2.0 AND ", "Classifier: ", "Requires-Python: >=3.11", "Description-Content-Type: "):
        if field not in metadata:
            fail(wheel, f"its metadata has no {field!r}")
    if wheel.stat().st_size > LIMIT:
        fail(wheel, f"has {wheel.stat().st_size:,} bytes, at most {LIMIT:,}")


def number(version):
    return tuple(map(int, version.split(".")))


def check_module(wheel, module):
    """What the module exports and asks for, by name and version."""
    read = lambda *command: installed.run(*command, module)
    if (exported := read("nm", "-D", "--defined-only", "--format=just-symbols").split()) != ["PyInit__native"]:
        fail(wheel, f"its module exports {', '.join(exported)}")
    if strange := set(re.findall(r"\(NEEDED\).*\[(.*)\]", read("readelf", "-d"))) - NEEDED:
        fail(wheel, f"its module needs {', '.join(strange)}")
    wanted = re.findall(r"^ +U (\S+)$", read("nm", "-D", "--undefined-only"), re.M)
    if unknown := [name for name in wanted if "@" not in name and not re.match("_?Py", name)]:
        fail(wheel, f"its module asks for {', '.join(unknown)}, which glibc {GLIBC} lacks")
    if new := [name for name in wanted if (found := re.search(r"@GLIBC_([\d.]+)", name)) and number(found[1]) > number(GLIBC)]:
        fail(wheel, f"its module asks for {', '.join(new)}")


def check_use(wheel, scratch, python, with_tests):
    """In an empty environment with NumPy, from another folder: the demo, a C program, and tests of this tree."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TILERY_", "VIRTUAL_ENV"))}
    run = lambda *command: installed.run(*command, cwd=scratch, env=environment)
    run(python, "-m", "venv", "env")
    mine = scratch / "env" / "bin" / "python"
    pip = [mine, "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    pinned = ["-c", ROOT / "tools" / "requirements.txt"]
    run(*pip, *pinned, "numpy")
    run(*pip, "--no-index", "--find-links", wheel.parent, f"tilery=={wheel.name.split('-')[1]}")
    print(run(mine, "-m", "tilery", "demo"), end="", flush=True)
    prefix = run(mine.parent / "tilery", "--prefix").strip()
    installed.check_runtime(prefix, mine, scratch, environment)
    if not with_tests:
        return
    tests = [f"tests/{name}" for name in TESTS]
    packages = run(mine, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    if run(python, "--version") == run(sys.executable, "--version"):
        (Path(packages) / "torch.pth").write_text(sysconfig.get_path("purelib"))
        tests += [f"tests/language/{name}" for name in TORCH_TESTS]
    else:
        run(*pip, *pinned, "pytest")
    print(installed.run(mine, "-m", "pytest", "-q", *tests, cwd=ROOT, env=environment).splitlines()[-1], flush=True)


def check(wheel, python, tools, with_tests=True):
    """Ends the program with a message if something is wrong. tools: the folder of the programs that wheels are made with."""
    check_content(wheel)
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        with zipfile.ZipFile(wheel) as archive:
            (module,) = (name for name in archive.namelist() if re.match(r"tilery/_native.*\.so$", name))
            check_module(wheel, Path(archive.extract(module, scratch)))
            if ".abi3." in module:
                installed.run(tools / "abi3audit", "--strict", "--assume-minimum-abi3", "3.12", scratch / module)
        check_use(wheel, scratch, python, with_tests)
    print(f"{wheel.name}: checked", flush=True)
