"""Builds wheels over the finished build, and checks each as somebody who installs it would find it (tools/check_wheel.py).

usage: ./run wheel [--python INTERPRETER ...] [--without-tests]
One wheel for each interpreter: that of .venv, if none is named. A 3.11's is for 3.11, a later one's for 3.12 and all versions
after it. They lie in dist/. What they were built with stays in build/wheel, so that the next time is quicker.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

import installed
from check_wheel import GLIBC, check

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ["TILERY_BUILD_DIR"])
PLATFORM = f"manylinux_{GLIBC.replace('.', '_')}_x86_64"


def arguments():
    parser = argparse.ArgumentParser(prog="./run wheel", description="builds and checks wheels over the finished build")
    parser.add_argument("--python", action="append", metavar="INTERPRETER", help="with headers; may be given several times")
    parser.add_argument("--without-tests", action="store_true", help="checks, but none of the tests of this tree")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="FOLDER")
    return parser.parse_args()


def interpreter(name):
    """(its path, its version)"""
    python = shutil.which(name) or sys.exit(f"run wheel: there is no {name}")
    python = os.path.abspath(python)
    done = subprocess.run([python, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"run wheel: {python} does not run: {done.stderr.strip()}")
    return python, done.stdout.strip()


def tools_of(python, folder):
    """The `bin` of an environment of this interpreter that holds what wheels are made with."""
    wanted = (ROOT / "tools" / "wheel_requirements.txt").read_text() + (ROOT / "tools" / "requirements.txt").read_text()
    binaries, stamp = folder / "env" / "bin", folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        subprocess.run([python, "-m", "venv", folder / "env"], check=True)
        install = [binaries / "python", "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        files = ["-c", ROOT / "tools" / "requirements.txt", "-r", ROOT / "tools" / "wheel_requirements.txt"]
        subprocess.run([*install, *files], check=True)
        stamp.write_text(wanted)
    return binaries


def build(python, version, out):
    """(the wheel for this interpreter, the folder of the programs that it was made with). Only the binding is compiled, over the
    finished library."""
    folder = BUILD / "wheel" / version
    folder.mkdir(parents=True, exist_ok=True)
    binaries, raw = tools_of(python, folder), folder / "raw"
    shutil.rmtree(raw, ignore_errors=True)
    # As in ./run: Debian's cmake and ninja, which configured the library.
    environment = {**os.environ, "PATH": os.pathsep.join([str(binaries), "/usr/bin", os.environ["PATH"]])}
    settings = [f"--config-settings=build-dir={folder / 'cmake'}", f"--config-settings=cmake.define.TILERY_BUILT={BUILD}"]
    pip = ["pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([binaries / "python", "-m", *pip, *settings, "-w", raw, ROOT], check=True, env=environment)
    (wheel,) = raw.glob("*.whl")
    repair = ["auditwheel", "repair", "--plat", PLATFORM, "--only-plat", "--zip-compression-level", "9", "-w", raw / "repaired"]
    installed.run(binaries / "python", "-m", *repair, wheel, env=environment)
    (repaired,) = (raw / "repaired").glob("*.whl")
    out.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(repaired, out)), binaries


def main():
    options = arguments()
    for python, version in map(interpreter, options.python or [sys.executable]):
        wheel, binaries = build(python, version, options.out)
        print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)
        check(wheel, python, binaries, not options.without_tests)


main()
