"""C programs that call what was compiled ahead of time, and link the runtime library alone."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = [Path(os.environ.get("TILERY_BUILD_DIR", ROOT / "build")), ROOT / "build"]  # the second: of an unpacked archive
RUNTIME = next((f / "libtilery_rt.a" for f in FOLDERS if (f / "libtilery_rt.a").exists()), None)
COMPILER = next(filter(None, map(shutil.which, ("clang-22", "cc"))), None)
LINKER = next(filter(None, map(shutil.which, ("clang++-22", "c++"))), None)
MISSING = "needs a C compiler and the runtime library"
IS_HERE = bool(COMPILER and LINKER and RUNTIME)
needs_compiler = pytest.mark.skipif(not IS_HERE, reason=MISSING)


def run_c(folder, names, main, **environment):
    """Compiles the C files NAME.c of the folder and this main program, runs it, and returns what it prints."""
    (folder / "main.c").write_text(main)
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT / "include"), "-I", str(folder), "-c"]
    objects = []
    for name in (*names, "main"):
        subprocess.run([COMPILER, *flags, f"{name}.c", "-o", f"{name}.o"], cwd=folder, check=True)
        objects.append(f"{name}.o")
    subprocess.run([LINKER, *objects, str(RUNTIME), "-lpthread", "-ldl", "-o", "program"], cwd=folder, check=True)
    environment = {**os.environ, **environment}
    done = subprocess.run(["./program"], cwd=folder, capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
