"""A build of another commit, to compare this tree with."""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def build_base(commit, folder, target, options):
    """Builds `target` of the commit once, with these options for CMake: its tree below `folder`, with `build` in it."""
    name = subprocess.run(["git", "rev-parse", "--short=12", commit + "^{commit}"], cwd=ROOT, capture_output=True, text=True)
    if name.returncode:
        sys.exit(f"there is no commit {commit}")
    tree = folder / name.stdout.strip()
    done = tree / f"{target}.built"
    if done.exists():
        return tree
    print(f"building {commit} in {tree}", file=sys.stderr)
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    archive = subprocess.Popen(["git", "archive", commit], cwd=ROOT, stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", tree], stdin=archive.stdout, check=True)
    parts = ["-DTILERY_EXAMPLES=OFF", "-DTILERY_TESTS=OFF", "-DCMAKE_C_COMPILER=clang-22", "-DCMAKE_CXX_COMPILER=clang++-22"]
    for command in (
        ["/usr/bin/cmake", "-S", tree, "-B", tree / "build", "-G", "Ninja", *parts, *options],
        ["/usr/bin/cmake", "--build", tree / "build", "--target", target],
    ):
        run = subprocess.run(command, capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{commit} does not build\n{run.stdout[-4000:]}{run.stderr}")
    done.touch()
    return tree
