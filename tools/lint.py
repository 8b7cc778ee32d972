"""Checks form: ruff and mypy on Python, clang-format on C++, lengths of files. `--fix` rewrites what a tool can mend."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 600  # lines: a longer file probably does two jobs


def sources(*suffixes):
    """Paths of sources, relative to ROOT: what git knows or would add; without git, all but what is built."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode == 0:
        names = [Path(name) for name in listed.stdout.splitlines()]
    else:
        tops = [top for top in ROOT.iterdir() if not top.name.startswith((".", "build", "dist"))]
        names = [path.relative_to(ROOT) for top in tops for path in (top.rglob("*") if top.is_dir() else [top])]
    return sorted(name for name in names if name.suffix in suffixes and (ROOT / name).is_file())


def runs(*command):
    return subprocess.run(command, cwd=ROOT).returncode == 0


def ruff(fix):
    return runs(sys.executable, "-m", "ruff", "check", "--quiet", *(["--fix"] if fix else []), ".")


def mypy(fix):
    return runs(sys.executable, "-m", "mypy", "--no-error-summary")


def clang_format(fix):
    mode = ["-i"] if fix else ["--dry-run", "-Werror", "--ferror-limit=1"]
    return runs("clang-format-22", *mode, *sources(".cpp", ".h"))


def lengths(fix):
    good = True
    for name in [*sources(".cpp", ".h", ".td", ".py", ".cmake"), Path("run")]:
        lines = len((ROOT / name).read_text().splitlines())
        if lines > LONGEST:
            good = False
            print(f"{name}: {lines} lines, at most {LONGEST}")
    return good


CHECKS = {"ruff": ruff, "mypy": mypy, "clang-format": clang_format, "lengths": lengths}


def main(argv):
    bad = [name for name, check in CHECKS.items() if not check("--fix" in argv)]
    print(f"lint: see above ({', '.join(bad)})" if bad else "lint: clean", flush=True)
    return len(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
