"""Builds and runs the programs of tests/install, which know nothing of this tree, against what is installed under a prefix."""

import os
import shutil
import subprocess
from pathlib import Path

PROGRAMS = Path(__file__).resolve().parent.parent / "tests" / "install"
COMPILER = ["-ltilery"]
RUNTIME = ["-ltilery_rt", "-lstdc++", "-lm", "-ldl", "-lpthread"]


def run(*command, **options):
    """What the command prints; an error with all that it said, if it fails."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def by_cmake(program, prefix, scratch, *settings):
    """Of the program's CMakeLists.txt; what it prints."""
    folder = scratch / f"{program}-cmake"
    environment = {**os.environ, "PATH": f"/usr/bin:{os.environ['PATH']}"}  # as in ./run
    run("cmake", "-S", PROGRAMS / program, "-B", folder, f"-DCMAKE_PREFIX_PATH={prefix}", *settings, env=environment)
    run("cmake", "--build", folder, env=environment)
    return run(folder / "program")


def by_compiler(command, sources, scratch, includes, libraries):
    """By one call of a compiler; what the program prints."""
    program = scratch / f"program-{command[0]}"
    run(*command, *sources, *includes, *libraries, "-o", program)
    return run(program)


def flags(prefix, package, fallback):
    """(options of compiling, of linking), by pkg-config where it is there."""
    if not shutil.which("pkg-config"):
        return [f"-I{prefix}/include"], [f"-L{prefix}/lib", *fallback]
    environment = {**os.environ, "PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig"}
    return [run("pkg-config", option, package, env=environment).split() for option in ("--cflags", "--libs")]


def check_runtime(prefix, python, scratch, environment=None):
    """A C program with the runtime alone, its kernel compiled ahead of time by this Python."""
    kernel = scratch / "kernel"
    kernel.mkdir()
    run(python, PROGRAMS / "runtime" / "kernel.py", kernel, cwd=scratch, env=environment)
    compiling, linking = flags(prefix, "tilery_rt", RUNTIME)
    sources = [PROGRAMS / "runtime" / "main.c", kernel / "scaled.c"]
    assert by_compiler(["gcc"], sources, scratch, [*compiling, f"-I{kernel}"], linking) == "0 wrong\n"
    assert by_cmake("runtime", prefix, scratch, f"-DKERNEL={kernel}") == "0 wrong\n"


def check_compiler(prefix, scratch):
    """A C++ program that compiles."""
    compiling, linking = flags(prefix, "tilery", COMPILER)
    command, sources = ["g++", "-std=c++20", f"-Wl,-rpath,{prefix}/lib"], [PROGRAMS / "compiler" / "main.cpp"]
    assert by_compiler(command, sources, scratch, compiling, linking) == "0 wrong\nrefused\n"
    assert by_cmake("compiler", prefix, scratch) == "0 wrong\nrefused\n"
