"""The workflow for GitHub calls commands that `./run` has; CITATION.cff holds no second version."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text()


def lines():
    return re.findall(r"^ +- run: (.+)$", WORKFLOW, re.MULTILINE)


def test_it_is_regular_yaml():
    for line in WORKFLOW.splitlines():
        assert "\t" not in line and (len(line) - len(line.lstrip())) % 2 == 0
        assert re.fullmatch(r"\s*(#.*|- .+|[\w-]+:.*|[\w*./]+)?", line), line


def test_it_calls_what_run_has():
    commands = [line.split()[1:] for line in lines() if line.startswith("./run ")]
    assert commands == [["test", "ci"], ["wheel"], ["docs"]]
    usage = subprocess.run([ROOT / "run", "help"], capture_output=True, text=True)
    known = re.findall(r"^  (\w+(?: ci)?) ", usage.stdout + usage.stderr, re.MULTILINE)
    assert {" ".join(command) for command in commands} <= set(known)


def test_its_lines_are_shell():
    for line in lines():
        subprocess.run(["bash", "-n", "-c", line], check=True)


def test_one_place_has_the_version():
    assert "\nversion:" not in (ROOT / "CITATION.cff").read_text()
