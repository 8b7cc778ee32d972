"""Checks form: ruff on Python, clang-format on C++, file lengths. `--fix` rewrites what a tool can mend."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 600  # lines: a longer file probably does two jobs


def tracked(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    return [name for name in names if name and (ROOT / name).exists()]


def main(argv):
    fix = "--fix" in argv
    bad = 0
    ruff = [sys.executable, "-m", "ruff", "check", "--quiet", *(["--fix"] if fix else []), "."]
    bad += subprocess.run(ruff, cwd=ROOT).returncode != 0
    cpp = tracked("*.cpp", "*.h")
    mode = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]
    bad += subprocess.run(["clang-format-22", *mode, *cpp], cwd=ROOT).returncode != 0
    for name in tracked("*.cpp", "*.h", "*.td", "*.py", "*.cmake", "run"):
        lines = len((ROOT / name).read_text().splitlines())
        if lines > LONGEST:
            bad += 1
            print(f"{name}: {lines} lines, at most {LONGEST}")
    print("lint: clean" if not bad else "lint: see above")
    sys.exit(bad > 0)


main(sys.argv[1:])
