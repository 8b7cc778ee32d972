"""The workflows for GitHub call commands that `./run` has, and a tag that `./run release` made becomes a release by its lines."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import release

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = {path.stem: path.read_text() for path in sorted((ROOT / ".github" / "workflows").glob("*.yml"))}
CHANGES = """# Changes

## Unreleased

- New `things`.

## 0.0.1 (2026-01-01)

- Old ones.
"""


def lines(name):
    return re.findall(r"^ +- run: (.+)$", WORKFLOWS[name], re.MULTILINE)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_it_is_regular_yaml(name):
    for line in WORKFLOWS[name].splitlines():
        assert "\t" not in line and (len(line) - len(line.lstrip())) % 2 == 0
        assert re.fullmatch(r'\s*(#.*|- .+|[\w-]+:.*|[\w*./]+)?', line), line


@pytest.mark.parametrize(
    "name, expected",
    [("ci", [["test", "ci"], ["wheel"], ["docs"]]), ("release", [["release", "--notes"], ["test", "ci"], ["wheel", "--python"]])],
)
def test_it_calls_what_run_has(name, expected):
    commands = [line.split()[1:3] for line in lines(name) if line.startswith("./run ")]
    assert commands == expected
    usage = subprocess.run([ROOT / "run", "help"], capture_output=True, text=True)
    known = re.findall(r"^  (\w+(?: ci)?) ", usage.stdout + usage.stderr, re.MULTILINE)
    assert {" ".join(word for word in command if word[0] != "-") for command in commands} <= set(known)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_its_lines_are_shell(name):
    for line in lines(name):
        subprocess.run(["bash", "-n", "-c", line], check=True)


def test_one_place_has_the_version():
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text()


# ---- a release


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """A repository with what a release is made of."""
    for name in ("run", "CMakeLists.txt", "tools/release.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES)
    for variable in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(variable, "somebody@somewhere")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    run(tmp_path, "git init -q && git add -A && git commit -qm begin")
    return tmp_path


def run(tree, line, **environment):
    done = subprocess.run(
        ["bash", "-ec", line], cwd=tree, env={**os.environ, **environment}, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def test_a_tag_becomes_a_release_by_the_workflows_lines(tree, tmp_path_factory):
    status, said = run(tree, "./run release 9.8.7")
    assert status == 0, said
    assert run(tree, "git describe --exact-match && git status --porcelain") == (0, "v9.8.7\n")
    assert "project(tilery VERSION 9.8.7 " in (tree / "CMakeLists.txt").read_text()
    folder = tmp_path_factory.mktemp("bin")  # a `gh` that says what it is asked
    (folder / "gh").write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    (folder / "gh").chmod(0o755)
    (tree / "dist").mkdir()
    (tree / "dist" / "tilery-9.8.7.whl").touch()
    for line in lines("release"):
        if line.startswith(("./run release", "gh ")):
            status, said = run(tree, line, GITHUB_REF_NAME="v9.8.7", PATH=f"{folder}:{os.environ['PATH']}")
            assert status == 0, said
    assert said == "release|create|v9.8.7|dist/tilery-9.8.7.whl|--title|Tilery 9.8.7|--notes-file|notes.md|"
    assert (tree / "notes.md").read_text() == "- New `things`.\n"


def test_a_tag_that_is_not_the_trees_version_becomes_none(tree):
    for tag in ("v9.8.7", f"v{release.version_of((ROOT / 'CMakeLists.txt').read_text())}"):
        status, said = run(tree, f"./run release --notes {tag}")
        assert status == 1 and said.startswith("run release: "), said


@pytest.mark.parametrize(
    "version, before, reason",
    [
        ("1.2", "true", "1.2 is no MAJOR.MINOR.PATCH"),
        ("0.0.1", "true", "0.0.1 is not later than what there is"),
        ("9.8.7", "echo >>run", "there are changes that are not committed"),
        ("9.8.7", "sed -i /things/d CHANGELOG.md && git commit -qam none", "CHANGELOG.md has nothing under Unreleased"),
    ],
)
def test_what_is_no_release_is_refused(tree, version, before, reason):
    status, said = run(tree, f"{before} && ./run release {version}")
    assert (status, said) == (1, f"run release: {reason}\n")
    assert run(tree, "git tag") == (0, "")


def test_the_first_version_of_the_changes_is_the_next_one_or_the_trees():
    first = next(iter(release.sections((ROOT / "CHANGELOG.md").read_text())))
    assert first in ("Unreleased", release.version_of((ROOT / "CMakeLists.txt").read_text()))
