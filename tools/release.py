"""Makes a release of this tree. See ./run release --help."""

import argparse
import datetime
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNRELEASED = "## Unreleased"
HELP = """VERSION (1.2.3): CMakeLists.txt gets it, what CHANGELOG.md has under "Unreleased" becomes its, both are committed and
tagged. Nothing is pushed; pushing the tag has .github/workflows/release.yml test the tree, build the wheels and publish them.
--notes TAG: prints what CHANGELOG.md says of that version; an error where the tag is not the version of the tree."""


def git(*args):
    return subprocess.run(["git", *args], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def sections(text):
    """{heading without its marks: lines below it} of CHANGELOG.md's versions."""
    _, *parts = re.split(r"^## (.*)$\n", text, flags=re.M)
    return {heading.split(" ")[0]: body.strip() for heading, body in zip(parts[::2], parts[1::2])}


def with_version(cmake, version):
    changed, found = re.subn(r"(?<=^project\(tilery VERSION )[0-9.]+", version, cmake, flags=re.M)
    assert found == 1, "CMakeLists.txt has the version in one place"
    return changed


def version_of(cmake):
    return re.search(r"^project\(tilery VERSION ([0-9.]+)", cmake, re.M)[1]


def later(version, other):
    return tuple(map(int, version.split("."))) > tuple(map(int, other.split(".")))


def notes(tag):
    """What CHANGELOG.md says of the version that the tag names."""
    version = version_of((ROOT / "CMakeLists.txt").read_text())
    if tag != f"v{version}":
        sys.exit(f"run release: the tag is {tag}, the version in CMakeLists.txt {version}")
    found = sections((ROOT / "CHANGELOG.md").read_text()).get(version)
    return found or sys.exit(f"run release: CHANGELOG.md has nothing under {version}")


def release(version):
    changes, cmake = ROOT / "CHANGELOG.md", ROOT / "CMakeLists.txt"
    text, last = changes.read_text(), version_of(cmake.read_text())
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        sys.exit(f"run release: {version} is no MAJOR.MINOR.PATCH")
    if version in sections(text) or later(last, version):
        sys.exit(f"run release: {version} is not later than what there is")
    if not sections(text).get("Unreleased"):
        sys.exit("run release: CHANGELOG.md has nothing under Unreleased")
    if git("status", "--porcelain"):
        sys.exit("run release: there are changes that are not committed")
    changes.write_text(text.replace(UNRELEASED, f"## {version} ({datetime.date.today()})", 1))
    cmake.write_text(with_version(cmake.read_text(), version))
    git("commit", "-qam", f"Release {version}")
    git("tag", "-a", f"v{version}", "-m", f"Release {version}")
    print(f"tagged v{version}; git push origin HEAD v{version} publishes it")


def main(argv):
    parser = argparse.ArgumentParser(prog="./run release", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("version", nargs="?", metavar="VERSION")
    what.add_argument("--notes", metavar="TAG")
    options = parser.parse_args(argv)
    print(notes(options.notes)) if options.notes else release(options.version)


if __name__ == "__main__":
    main(sys.argv[1:])
