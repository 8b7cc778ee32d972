"""Packs a finished build for a machine with a GPU that has Python and torch, but no compiler: one .tar.xz.

usage: ./run pack [--python INTERPRETER] [--out FILE]
There: tar xf FILE && tilery/check (tools/check_gpu.sh).
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ["TILERY_BUILD_DIR"])
OF_THE_SOURCES = (
    "tests/test_structure.py",
    "tests/test_pass_order.py",
    "tests/tools",
    "tests/install",
    "tests/docs",
)  # tests that read what is not packed
LIMIT = 20 << 20  # bytes
CONTENTS = ("python/tilery", "include", "examples", "benchmarks", "tests", "docs", "pyproject.toml", "README.md", "LICENSE")


def arguments():
    parser = argparse.ArgumentParser(prog="./run pack", description="packs a finished build for a machine with a GPU")
    parser.add_argument("--python", default=sys.executable, metavar="INTERPRETER", help="of the version there, with headers")
    parser.add_argument("--out", type=Path, default=ROOT / "dist" / "tilery-gpu.tar.xz", metavar="FILE")
    return parser.parse_args()


def cached(name):
    """A variable of the finished build's configuration."""
    for line in (BUILD / "CMakeCache.txt").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return line.partition("=")[2]
    sys.exit(f"run pack: {BUILD} is no finished build: it has no {name}")


def binding(python):
    """The module for this interpreter; only the binding is compiled, over the finished library."""
    version = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True)
    if version.returncode:
        sys.exit(f"run pack: {python} does not run: {version.stderr.strip()}")
    folder = BUILD / f"binding-{version.stdout.strip()}"
    names = ("CMAKE_C_COMPILER", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_MAKE_PROGRAM", "nanobind_DIR")
    settings = [f"-D{name}={cached(name)}" for name in names if f"\n{name}:" in (BUILD / "CMakeCache.txt").read_text()]
    settings += [f"-DTILERY_BUILT={BUILD}", f"-DPython_EXECUTABLE={python}"]
    cmake = cached("CMAKE_COMMAND")
    subprocess.run([cmake, "-S", ROOT, "-B", folder, "-G", "Ninja", *settings], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([cmake, "--build", folder], check=True, stdout=subprocess.DEVNULL)
    module, *left = sorted((folder / "python" / "tilery").glob("_native*.so"), key=lambda file: -file.stat().st_mtime)
    for former in left:  # of another name, from before the module kept to the stable ABI: it would be found first
        former.unlink()
    return module


def stage(folder, module):
    """What is packed, as it will lie there."""
    for name in CONTENTS:
        source, target = ROOT / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.cpp", "CMakeLists.txt"))
        else:
            shutil.copy(source, target)
    for name in OF_THE_SOURCES:
        subprocess.run(["rm", "-r", folder / name], check=True)
    shutil.copy(module, folder / "python" / "tilery")
    subprocess.run(["strip", folder / "python" / "tilery" / module.name], check=True)
    (folder / "build").mkdir()
    shutil.copy(BUILD / "libtilery_rt.a", folder / "build")
    for script in ("check", "sanitize"):
        shutil.copy(ROOT / "tools" / f"{script}_gpu.sh", folder / script)


def main():
    options = arguments()
    module = binding(options.python)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        stage(Path(scratch) / "tilery", module)
        command = ["tar", "--sort=name", "-C", scratch, "-cf", "-", "tilery"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as tar, options.out.open("wb") as out:
            subprocess.run(["xz", "-6", "-T0"], stdin=tar.stdout, stdout=out, check=True)
    size = options.out.stat().st_size
    print(f"{options.out}: {size / (1 << 20):.1f} MiB, for {module.name}")
    if size > LIMIT:
        sys.exit(f"run pack: that is more than {LIMIT >> 20} MiB")


main()
